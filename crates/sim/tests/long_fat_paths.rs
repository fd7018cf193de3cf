//! Paths on which many packets arrive between two acknowledgements, or the round trip is longer than the first
//! timers.

use audited::run_trial;
use thalweg_sim::{Outcome, Scenario};

mod audited;

/// One download alone on a path with a buffer of one bandwidth-delay product.
fn alone(controller: &str, rate: &str, rtt: &str, size: &str, stack: &str) -> Outcome {
    let text = format!(
        r#"
        title = "Alone"
        [path]
        rate = "{rate}"
        rtt = "{rtt}"
        buffer = "1 bdp"
        [[flow]]
        name = "main"
        controller = "{controller}"
        download = "{size}"
        stack = "{stack}"
        "#
    );
    let scenario = Scenario::from_toml(text.as_bytes(), "alone.toml", &[], &[]).unwrap();
    run_trial(&scenario, 1, false).0
}

#[test]
fn on_a_path_without_reordering_a_packet_is_declared_lost_only_if_it_was_dropped() {
    // 300 Mbps over 80 ms: 260 packets arrive within the 10 ms of an ACK delay, 2 080 in a round trip.
    for controller in ["cubic", "reno", "bbr", "c4"] {
        let outcome = alone(controller, "300 Mbps", "80 ms", "60 MB", "model");
        let flow = &outcome.flows[0];
        assert_eq!(flow.packets_lost, flow.packets_dropped, "{controller}");
        assert_eq!(flow.spurious_losses, 0, "{controller}");
    }
}

#[test]
fn cubic_fills_a_gigabit_over_80_ms_as_it_does_over_the_real_stack() {
    // 200 MB take 1.6 s at line rate; slow start and its overshoot cost less than 1.2 s more.
    let outcome = alone("cubic", "1 Gbps", "80 ms", "200 MB", "model");
    let seconds = outcome.flows[0].completion.unwrap().as_secs_f64();
    assert!((1.7..2.8).contains(&seconds), "{seconds} s");
}

#[test]
fn the_round_trip_of_a_handshake_is_that_of_the_packet_that_was_answered() {
    // RFC 9002 section 5.1. The Initial goes out again after 999 ms, before its answer can be there.
    for stack in ["model", "quic"] {
        let outcome = alone("cubic", "20 Mbps", "1.2 s", "200 kB", stack);
        let least = outcome.flows[0].min_rtt.unwrap().as_secs_f64();
        assert!((1.2..1.21).contains(&least), "{stack}: {least} s");
    }
}
