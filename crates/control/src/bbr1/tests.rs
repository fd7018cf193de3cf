//! BBRv1 over a bottleneck of 20 Mbit/s and 80 ms (BDP 200 kB).

use crate::fake_transport::{Bottleneck, PICOQUIC};
use thalweg_units::{Bytes, Duration, Instant, Rate};

const MTU: Bytes = PICOQUIC.mtu;

fn path(buffer_kb: u64) -> Bottleneck {
    Bottleneck::new("bbr1", 20, 80, Bytes::new(buffer_kb * 1_000))
}

#[test]
fn startup_ends_on_a_plateau_and_drain_empties_the_queue() {
    // Sections 4.3.2.2 and 4.3.3
    let mut path = path(1_000);
    path.run_to("Drain");
    let btl_bw = path.variable("btl_bw");
    assert!((19.6e6..=20.4e6).contains(&btl_bw), "{btl_bw}");
    assert!(path.queue() > path.bdp());
    assert_eq!(path.variable("pacing_gain"), 0.347);
    path.run_to("ProbeBW");
    // Three quanta of two packets each are allowed on top of the BDP.
    assert!(path.queue() < MTU * 10, "{}", path.queue());
}

#[test]
fn the_gains_follow_each_other_and_each_lasts_about_one_round_trip() {
    // Section 4.3.4.2: 1.25, 0.75, then six times 1.
    let mut path = path(1_000);
    path.run_to("ProbeBW");
    let mut phases: Vec<(f64, Instant)> = Vec::new();
    let end = path.flow.now + Duration::from_secs(8);
    while path.flow.now < end {
        let gain = path.variable("pacing_gain");
        if phases.last().is_none_or(|(last, _)| *last != gain) {
            phases.push((gain, path.flow.now));
        }
        path.run_for(Duration::from_millis(1));
    }
    assert!(phases.len() > 20, "{phases:?}");
    for window in phases[1..].windows(2) {
        let rounds = (window[1].1 - window[0].1).as_secs_f64() / 0.080;
        let (next, bounds) = match window[0].0 {
            1.25 => (0.75, 0.9..=2.5),
            0.75 => (1.0, 0.0..=1.2),
            _ => (1.25, 5.9..=6.5),
        };
        assert_eq!(window[1].0, next);
        assert!(
            bounds.contains(&rounds),
            "{} for {rounds} round trips",
            window[0].0
        );
    }
}

#[test]
fn the_variant_of_linux_paces_a_hundredth_below_the_bandwidth() {
    for (name, share) in [("bbr1", 1.0), ("bbr1:variant=linux", 0.99)] {
        let mut path = Bottleneck::new(name, 20, 80, Bytes::new(1_000_000));
        path.run_to("ProbeBW");
        while path.variable("pacing_gain") != 1.0 {
            path.run_for(Duration::from_millis(1));
        }
        let paced = path.flow.control().pacing.unwrap().as_bits_per_sec() as f64;
        let found = paced / path.variable("btl_bw");
        assert!((found - share).abs() < 1e-4, "{name}: {found}");
    }
}

#[test]
fn the_variant_of_linux_ends_a_probe_a_quantum_earlier() {
    // 1.25 of the BDP and three quanta, of which the pacer holds one.
    let most = |name: &str| {
        let mut path = Bottleneck::new(name, 20, 80, Bytes::new(1_000_000));
        path.run_to("ProbeBW");
        let end = path.flow.now + Duration::from_secs(8);
        let mut most = 0;
        while path.flow.now < end {
            path.run_for(Duration::from_millis(1));
            most = most.max(path.flow.path.bytes_in_flight.as_u64());
        }
        most
    };
    let (draft, linux) = (most("bbr1"), most("bbr1:variant=linux"));
    let quanta = (draft as f64 - linux as f64) / (MTU * 2).as_u64() as f64;
    assert!((0.5..=2.5).contains(&quanta), "{draft} {linux}");
}

#[test]
fn probe_rtt_holds_four_packets_for_200_ms_every_ten_seconds() {
    // Section 4.3.5
    let mut path = path(1_000);
    path.run_to("ProbeRTT");
    let began = path.flow.now;
    path.run_for(Duration::from_millis(150));
    assert_eq!(path.flow.control().window, MTU * 4);
    path.run_to("ProbeBW");
    let length = (path.flow.now - began).as_secs_f64();
    assert!((0.2..=0.45).contains(&length), "{length}");
    let left = path.flow.now;
    path.run_to("ProbeRTT");
    let interval = (path.flow.now - left).as_secs_f64();
    assert!((10.0..=20.0).contains(&interval), "{interval}");
}

#[test]
fn the_link_is_full_and_the_queue_stays_within_a_bdp() {
    let mut path = path(1_000);
    path.run_for(Duration::from_secs(3));
    path.reset_extremes();
    let before = path.flow.path.delivered;
    path.run_for(Duration::from_secs(20));
    let utilisation = (path.flow.path.delivered - before).as_u64() as f64 / (20.0 * 2.5e6);
    assert!((0.95..=1.0).contains(&utilisation), "{utilisation}");
    assert!(path.max_queue < path.bdp() + MTU * 10, "{}", path.max_queue);
}

#[test]
fn loss_does_not_change_the_rate() {
    // Section 4.2.3.4: 5 % of random loss; the model is untouched.
    let mut path = path(1_000);
    path.run_for(Duration::from_secs(3));
    path.loss_permille = 50;
    let before = path.flow.path.delivered;
    path.run_for(Duration::from_secs(9));
    let utilisation = (path.flow.path.delivered - before).as_u64() as f64 / (9.0 * 2.5e6);
    assert!((0.80..=1.0).contains(&utilisation), "{utilisation}");
}

#[test]
fn more_capacity_is_found_and_less_is_believed_after_ten_rounds() {
    let mut path = path(1_000);
    path.run_for(Duration::from_secs(3));
    path.rate = Rate::from_bits_per_sec(40_000_000);
    path.run_for(Duration::from_secs(4));
    assert!(
        path.variable("btl_bw") > 38e6,
        "{}",
        path.variable("btl_bw")
    );
    path.rate = Rate::from_bits_per_sec(20_000_000);
    // Ten rounds of up to 80 ms and a queue of two BDP of the old rate.
    path.run_for(Duration::from_secs(5));
    assert!(
        path.variable("btl_bw") < 20.5e6,
        "{}",
        path.variable("btl_bw")
    );
}
