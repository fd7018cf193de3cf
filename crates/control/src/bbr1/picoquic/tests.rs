//! Behaviour in which the variant differs from the draft.

use crate::fake_transport::Bottleneck;
use crate::fake_transport::Flow;
use thalweg_units::{Bytes, Duration, Instant, Rate};

fn path(delay_ms: u64) -> Bottleneck {
    Bottleneck::new("bbr1:variant=picoquic", 20, delay_ms, Bytes::new(1_000_000))
}

/// The states that the controller has entered, in this order.
fn names(path: &Bottleneck) -> Vec<&'static str> {
    path.flow.states.iter().map(|(_, name)| *name).collect()
}

#[test]
fn a_path_of_more_than_50_ms_starts_by_window_and_a_shorter_one_by_rate() {
    let mut long = path(80);
    long.run_to("Startup_LONG_RTT");
    let control = long.flow.control();
    let by_window = Rate::over(control.window, long.flow.path.smoothed_rtt);
    let ratio =
        control.pacing.unwrap().as_bits_per_sec() as f64 / by_window.as_bits_per_sec() as f64;
    assert!((1.2..=1.3).contains(&ratio), "{ratio}"); // 5/4
    let mut short = path(40);
    short.run_to("Drain");
    assert_eq!(names(&short), ["Startup", "Drain"]);
}

#[test]
fn the_link_is_full_in_steady_state() {
    let mut path = path(80);
    path.run_for(Duration::from_secs(4));
    let before = path.flow.path.delivered;
    path.run_for(Duration::from_secs(20));
    let utilisation = (path.flow.path.delivered - before).as_u64() as f64 / (20.0 * 2.5e6);
    // A packet more may arrive at the edges: 1440 bytes of 50 MB.
    assert!((0.95..=1.0001).contains(&utilisation), "{utilisation}");
}

#[test]
fn probe_rtt_does_not_come_while_samples_stay_within_five_percent() {
    // The phase of gain 0.75 drains the queue in every cycle, which refreshes RTprop.
    let mut path = path(80);
    path.run_for(Duration::from_secs(40));
    let states = names(&path);
    assert_eq!(states, ["Startup", "Startup_LONG_RTT", "Drain", "ProbeBW"]);
}

#[test]
fn probe_rtt_comes_when_no_sample_is_within_five_percent_any_longer() {
    let mut path = path(80);
    path.run_for(Duration::from_secs(20));
    path.delay = path.delay * 11 / 10;
    path.run_to("ProbeRTT");
    let waited = path.flow.states.last().unwrap().0 - Instant::START;
    // RTprop expires ten seconds after it was last refreshed, and the ACKs of a round trip later at most.
    assert!((29_000..=31_500).contains(&waited.as_millis()), "{waited}");
}

#[test]
fn sustained_loss_halves_the_window_and_a_single_loss_does_not() {
    let mut path = path(80);
    path.run_for(Duration::from_secs(4));
    let window = path.flow.control().window;
    path.declare_lost(3); // 1 - (15/16)^3 of the average is 17 %
    assert_eq!(path.flow.control().window, window);
    path.declare_lost(12);
    assert_eq!(path.flow.control().window, window / 2);
}

#[test]
fn losses_leave_room_for_a_packet_that_is_larger_than_the_peers_minimum() {
    let mut flow = Flow::new("bbr1:variant=picoquic");
    flow.path.mtu = Bytes::new(9_000);
    for _ in 0..20 {
        flow.send();
    }
    flow.advance(Duration::from_millis(10));
    flow.ack_next();
    flow.timeout();
    assert_eq!(flow.window(), Bytes::new(9_000));
    flow.advance(Duration::from_secs(1));
    for packet in flow.in_flight() {
        flow.lose(packet);
    }
    assert_eq!(flow.window(), Bytes::new(9_000));
}

#[test]
fn a_window_that_a_timeout_cut_grows_with_the_packets() {
    let mut path = path(80);
    path.run_to("Startup_LONG_RTT");
    let flow = &mut path.flow;
    flow.timeout();
    assert_eq!(flow.window(), Bytes::new(3_072));
    flow.path.mtu = Bytes::new(9_000);
    flow.ack_next();
    assert_eq!(flow.window(), Bytes::new(9_000 + 1_440)); // and what was acknowledged
}
