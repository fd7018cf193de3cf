//! DCTCP over a queue that marks by a step, against the analysis of Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010,
//! "the paper" below.
//!
//! N flows in step, windows in packets: each grows until W* = (C RTT + K) / N packets fill the path and the queue up to K,
//! sends W* + 1 for one more round trip, which are marked, and takes D = (W* + 1) alpha / 2 off. So
//!
//! - the share of marks is alpha: alpha^2 (1 - alpha / 4) = (2 W* + 1) / (W* + 1)^2, alpha near sqrt(2 / W*);
//! - the queue swings by A = N D, near sqrt(2 N (C RTT + K)) / 2, below its maximum of K + N;
//! - it does not empty, whatever N is, if K > C RTT / 7.
//!
//! Ours differs in three ways: the window rests for a round trip after a reduction, which makes alpha smaller where D is a few
//! round trips; flows are only roughly in step; and by default every second packet is acknowledged, where the model has an
//! acknowledgement of each.

use super::audited::run_trial;
use thalweg_sim::Scenario;
use thalweg_units::{Duration, Instant};

/// 100 Mbps and 10 ms are 100 packets of 1250 bytes.
const BDP: f64 = 100.0;

/// What 5 s of long flows show, after 5 s to settle.
#[derive(Debug)]
struct Seen {
    /// Packets that wait, at least and at most.
    low: f64,
    high: f64,
    /// The mean of the first flow's.
    alpha: f64,
    utilisation: f64,
}

/// The paper acknowledges every packet of 1.5 kB, which have no headers here.
fn sawtooth(flows: usize, threshold: usize) -> Seen {
    acknowledged_every(1, flows, threshold)
}

/// The same with an acknowledgement of so many packets.
fn acknowledged_every(packets: usize, flows: usize, threshold: usize) -> Seen {
    let mut text = format!(
        "title = \"DCTCP\"\ntime_limit = \"10 s\"\noverhead = \"0 B\"\n[transport]\nack_every = {packets}\ninitial_mtu = \"1250 B\"\n\
         [path]\nrate = \"100 Mbps\"\nrtt = \"10 ms\"\nbuffer = \"1000 packets\"\n\
         queue = {{ model = \"step\", threshold = \"{threshold} packets\" }}\n",
    );
    for index in 0..flows {
        text += &format!(
            "[[flow]]\nname = \"f{index}\"\ncontroller = \"dctcp\"\ndownload = \"10 GB\"\nbackground = true\n"
        );
    }
    let scenario = Scenario::from_toml(text.as_bytes(), "dctcp.toml", &[], &[]);
    let (outcome, trace) = run_trial(&scenario.expect("a right scenario"), 1, true);
    let trace = trace.expect("asked for");
    let settled = Instant::START + Duration::from_secs(5);
    let queue = || {
        let rows = trace
            .links
            .iter()
            .filter(|row| row.link == 0 && row.time > settled);
        rows.map(|row| f64::from(row.queue_packets))
    };
    let alphas: Vec<f64> = (trace.senders.variables.iter())
        .filter(|row| (row.flow, row.name) == (0, "alpha") && row.time > settled)
        .map(|row| row.value)
        .collect();
    Seen {
        low: queue().fold(f64::INFINITY, f64::min),
        high: queue().fold(0.0, f64::max),
        alpha: alphas.iter().sum::<f64>() / alphas.len() as f64,
        utilisation: outcome.links[0].utilisation,
    }
}

#[test]
fn the_queue_swings_as_the_paper_computes() {
    for (flows, threshold) in [(1, 40), (2, 40), (10, 40), (1, 100)] {
        let (n, k) = (flows as f64, threshold as f64);
        let seen = sawtooth(flows, threshold);
        // A = 8.4, 11.8, 26.5 and 10 packets. The one in transmission is not among those that wait.
        let amplitude = (2.0 * n * (BDP + k)).sqrt() / 2.0;
        assert!(
            (k - 1.0..=k + n + 3.0).contains(&seen.high),
            "{flows} {threshold}: {seen:?}"
        );
        let ratio = (seen.high - seen.low) / amplitude;
        assert!(
            (0.75..1.35).contains(&ratio),
            "{flows} {threshold}: {ratio} {seen:?}"
        );
    }
}

#[test]
fn alpha_is_the_square_root_of_two_windows_inverse() {
    for (flows, threshold) in [(1, 40), (2, 40), (1, 100)] {
        let window = (BDP + threshold as f64) / flows as f64;
        let seen = sawtooth(flows, threshold);
        // 0.120, 0.169 and 0.1.
        let ratio = seen.alpha / (2.0 / window).sqrt();
        assert!((0.8..1.2).contains(&ratio), "{flows} {threshold}: {ratio}");
    }
}

#[test]
fn alpha_is_a_third_smaller_where_one_of_each_pair_is_marked() {
    // An ACK of two packets lets two leave, and the queue is one longer for the second: the round of marks that ends a
    // cycle begins when only the second is above the threshold, with a share m of 1/2. A cycle takes W* alpha / 2 rounds,
    // so alpha = m / (W* alpha / 2), the square root of 2 m / W*: 0.71 of the paper's.
    for (flows, threshold) in [(1, 40), (2, 40), (1, 100), (10, 40)] {
        let window = (BDP + threshold as f64) / flows as f64;
        let seen = acknowledged_every(2, flows, threshold);
        let ratio = seen.alpha / (2.0 / window).sqrt();
        assert!(
            (0.62..0.73).contains(&ratio),
            "{flows} {threshold}: {ratio}"
        );
    }
}

#[test]
fn a_threshold_of_a_seventh_of_the_bandwidth_delay_product_keeps_the_link_busy() {
    for flows in [1, 2, 14] {
        let seen = sawtooth(flows, 15);
        assert!(seen.utilisation > 0.98, "{flows}: {seen:?}");
    }
    // The least for one flow is K + 1 > sqrt(2 (C RTT + K)) / 2: seven packets.
    let (enough, little) = (sawtooth(1, 10), sawtooth(1, 4));
    assert!(
        enough.low > 0.0 && little.low == 0.0,
        "{enough:?} {little:?}"
    );
    assert!(
        little.utilisation < enough.utilisation,
        "{enough:?} {little:?}"
    );
}

#[test]
fn packets_that_cannot_be_marked_wait_above_the_threshold_or_are_dropped_there() {
    let drops = |queue: &str| {
        let text = format!(
            "title = \"Step\"\ntime_limit = \"3 s\"\n[path]\nrate = \"10 Mbps\"\nrtt = \"20 ms\"\nbuffer = \"400 packets\"\nqueue = {queue}\n\
             [[flow]]\nname = \"main\"\ncontroller = \"cubic:ecn=off,start=delay\"\ndownload = \"100 MB\"\nbackground = true\n"
        );
        let scenario = Scenario::from_toml(text.as_bytes(), "step.toml", &[], &[]);
        let link = &run_trial(&scenario.expect("a right scenario"), 1, false)
            .0
            .links[0];
        (link.marked_packets, link.dropped_packets > 0)
    };
    assert_eq!(
        drops("{ model = \"step\", threshold = \"20 packets\" }"),
        (0, false)
    );
    assert_eq!(
        drops("{ model = \"step\", threshold = \"20 packets\", drop = true }"),
        (0, true)
    );
}
