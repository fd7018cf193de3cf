//! The handovers of docs/reference/models.md, under a flow that makes no queue: an outage at the end of each period of 15 s, and another path after it.

use super::audited::run_trial;
use thalweg_sim::Scenario;
use thalweg_units::{Duration, Instant};

#[test]
fn each_period_ends_with_an_outage_and_the_next_has_another_capacity_and_delay() {
    let text = "title = \"handovers\"\ntime_limit = \"60 s\"\n[path]\nrate = \"50 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"80 ms\"\nrepeat = \"15 s\"\n\
                noise = { rate_sd = \"10 Mbps\", delay_sd = \"5 ms\", every = \"15 s\" }\n[[path.change]]\nat = \"14.9 s\"\nrate = \"0 bps\"\n\
                [[flow]]\nname = \"main\"\ncontroller = \"cbr:rate=10Mbps\"\ndownload = \"1 GB\"\nbackground = true\n";
    let scenario = Scenario::from_toml(text.as_bytes(), "handover.toml", &[], &[]);
    let (_, trace) = run_trial(&scenario.expect("a right scenario"), 1, true);
    let trace = trace.expect("asked for");
    let at = |seconds: f64| Instant::START + Duration::from_nanos((seconds * 1e9) as u64);
    // What the link down has transmitted by a time.
    let delivered = |seconds: f64| {
        let mut rows = trace
            .links
            .iter()
            .filter(|row| row.link == 0 && row.time <= at(seconds));
        rows.next_back().map_or(0, |row| row.delivered.as_u64())
    };
    let least_rtt = |from: f64, to: f64| {
        let rows = trace.senders.samples.iter();
        let within = rows.filter(|row| row.time >= at(from) && row.time < at(to));
        within
            .filter_map(|row| row.latest_rtt)
            .min()
            .expect("there were samples")
    };
    let mut rtts = Vec::new();
    for period in 0..4 {
        let end = f64::from(period + 1) * 15.0;
        // The packet that was being transmitted when the outage began may end in it.
        let (outage, before) = (
            delivered(end - 0.001) - delivered(end - 0.098),
            delivered(end - 0.1) - delivered(end - 0.2),
        );
        assert!(
            outage <= 1500 && before > 100_000,
            "{period}: {outage} {before}"
        );
        rtts.push(least_rtt(end - 14.0, end - 0.1));
    }
    rtts.sort_unstable();
    rtts.dedup();
    assert_eq!(
        rtts.len(),
        4,
        "each period has a delay of its own: {rtts:?}"
    );
    // Each direction deviates by 5 ms, by 15 ms at most.
    let bounds = Duration::from_millis(10)..=Duration::from_millis(75);
    assert!(rtts.iter().all(|rtt| bounds.contains(rtt)), "{rtts:?}");
}
