//! Behaviour in which the variant differs from the draft.

use crate::tests::{bottleneck, flow};
use thalweg_control::fake_transport::Bottleneck;
use thalweg_units::{Bytes, Duration, Instant, Rate};

fn path(delay_ms: u64) -> Bottleneck {
    bottleneck("bbr1:variant=picoquic", 20, delay_ms, Bytes::new(1_000_000))
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
    let mut flow = flow("bbr1:variant=picoquic");
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
fn losses_and_timeouts_of_packets_sent_before_a_reaction_do_not_count() {
    let mut path = path(80);
    path.run_for(Duration::from_secs(4));
    let window = path.flow.control().window;
    path.declare_lost(15);
    path.flow.advance(Duration::from_millis(200)); // more than a smoothed RTT
    path.declare_lost(15);
    path.flow.timeout();
    assert_eq!(path.flow.control().window, window / 2);
}

#[test]
fn a_timeout_ends_a_start() {
    let mut path = path(40);
    path.run_for(Duration::from_millis(100));
    assert_eq!(path.state(), "Startup");
    path.flow.timeout();
    assert_eq!(path.state(), "Drain");
}

#[test]
fn a_timeout_leaves_room_for_packets_that_have_grown() {
    let mut path = path(80);
    path.run_to("Startup_LONG_RTT");
    let flow = &mut path.flow;
    flow.timeout();
    assert_eq!(flow.window(), Bytes::new(3_072));
    flow.path.mtu = Bytes::new(9_000);
    flow.send();
    assert_eq!(flow.window(), Bytes::new(9_000));
    flow.ack_next();
    assert_eq!(flow.window(), Bytes::new(36_000)); // four packets
}

/// How long the path stays in phases of this gain, from when it is in one.
fn phases(path: &mut Bottleneck, gain: f64, begins: impl FnOnce(&mut Bottleneck)) -> f64 {
    let end = path.flow.now + Duration::from_secs(60);
    path.run_while(end, |path| path.variable("pacing_gain") != gain);
    begins(path);
    let from = path.flow.now;
    path.run_while(end, |path| path.variable("pacing_gain") == gain);
    (path.flow.now - from).as_secs_f64()
}

#[test]
fn the_phase_after_a_probe_lasts_a_round_trip_and_until_the_queue_is_drained() {
    let mut path = path(40);
    path.run_for(Duration::from_secs(2));
    let after = phases(&mut path, 0.75, |_| ());
    // RTprop is 40.6 ms. 1.25 BDP fall to one and three quanta within a round trip at 0.75, or little more.
    assert!((0.041..0.046).contains(&after), "{after}");
    let mut path = self::path(40);
    path.run_for(Duration::from_secs(2));
    phases(&mut path, 1.25, |path| path.rate = path.rate.mul_div(1, 2));
    // At three quarters of the rate of before, half of which leaves, no queue drains: that takes a lower estimate, after
    // ten rounds.
    let after = phases(&mut path, 0.75, |_| ());
    assert!(after > 10.0 * 0.040, "{after}");
}

#[test]
fn a_short_path_begins_with_three_phases_of_cruising() {
    let mut path = path(40);
    path.run_to("ProbeBW");
    let cruise = phases(&mut path, 1.0, |_| ());
    // RTprop is 40.6 ms, and an ACK comes every 0.6 ms.
    assert!((3.0 * 0.0405..3.0 * 0.0415).contains(&cruise), "{cruise}");
}

#[test]
fn sustained_loss_ends_the_phase_of_the_cycle() {
    let cruise = |count| {
        let mut path = path(40);
        path.run_for(Duration::from_secs(2));
        phases(&mut path, 0.75, |_| ());
        phases(&mut path, 1.0, |path| drop(path.declare_lost(count)))
    };
    let (with, without) = (cruise(15), cruise(0));
    let phase = without - with;
    assert!((0.036..0.042).contains(&phase), "{with} {without}");
}
