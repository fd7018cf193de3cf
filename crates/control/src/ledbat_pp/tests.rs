//! LEDBAT++, clause by clause. Against others: crates/sim/tests/senders/ledbat_pp.rs.

use crate::fake_transport::{Flow, MTU};
use thalweg_units::Duration;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// A flow whose slow start over a base RTT has grown until the queue was over 45 ms; its window then, in packets.
fn started(base: u64) -> (Flow, f64) {
    let mut flow = Flow::new("ledbat-pp");
    for _ in 0..12 {
        flow.round(MS(base));
    }
    let window = flow.packets();
    flow.round(MS(base + 50));
    assert_eq!(flow.state(), "congestion avoidance");
    (flow, window)
}

#[test]
fn it_starts_with_two_packets_and_grows_by_the_gain() {
    // Sections 4.1 and 4.2: GAIN = 1 / min(16, ceil(120 / base)).
    for (base, divisor) in [
        (5, 16.0),
        (20, 6.0),
        (40, 3.0),
        (50, 3.0),
        (60, 2.0),
        (120, 1.0),
        (500, 1.0),
    ] {
        let mut flow = Flow::new("ledbat-pp");
        assert_eq!((flow.packets(), flow.state()), (2.0, "slow start"));
        flow.round(MS(base));
        let grown = flow.packets();
        assert!(
            (grown - 2.0 * (1.0 + 1.0 / divisor)).abs() < 0.01,
            "{base}: {grown}"
        );
    }
}

#[test]
fn the_first_slow_start_ends_at_three_quarters_of_the_target() {
    let mut flow = Flow::new("ledbat-pp");
    for _ in 0..8 {
        flow.round(MS(40));
    }
    flow.round(MS(84));
    assert_eq!(flow.state(), "slow start", "44 ms of queue");
    flow.round(MS(87));
    assert_eq!(flow.state(), "congestion avoidance", "47 ms of queue");
    assert!(flow.control().startup_done);
}

#[test]
fn the_window_grows_by_the_gain_below_the_target_and_shrinks_with_the_excess_above() {
    let per_round = |queue: u64| {
        let mut flow = Flow::new("ledbat-pp:slowdowns=off");
        for _ in 0..12 {
            flow.round(MS(40));
        }
        // Four samples fill the filter, and end slow start.
        flow.round(MS(40 + 50));
        // One round so that the filter holds only this queue, one to measure.
        flow.round(MS(40 + queue));
        let before = flow.packets();
        flow.round(MS(40 + queue));
        (before, flow.packets() - before)
    };
    for queue in [10, 30, 59] {
        let (_, growth) = per_round(queue);
        assert!((growth - 1.0 / 3.0).abs() < 0.02, "{queue} ms: {growth}");
    }
    // Section 4.3: GAIN - W (66 / 60 - 1) for a window of W. Each ACK takes its share of a window that shrinks meanwhile.
    let (window, change) = per_round(66);
    let expected = 1.0 / 3.0 - window * 0.1;
    assert!((change / expected - 1.0).abs() < 0.1, "{window}: {change}");
    // At most half of the window: 1 - 1/e^(1/2) of it, in shares of a window that shrinks.
    let (window, change) = per_round(600);
    assert!(
        (-0.51 * window..-0.35 * window).contains(&change),
        "{window}: {change}"
    );
}

#[test]
fn slowdowns_come_two_round_trips_after_slow_start_and_then_take_a_tenth_of_the_time() {
    // Section 4.4. ACKs come within a round trip, here all at its end.
    let (mut flow, _) = started(40);
    let before = flow.packets();
    let mut rounds = 0;
    while flow.state() == "congestion avoidance" {
        flow.round(MS(40));
        rounds += 1;
    }
    assert_eq!(flow.state(), "slowdown");
    assert!((2..=4).contains(&rounds), "{rounds}");
    assert_eq!(flow.packets(), 2.0);
    assert!(flow.variable("ssthresh").unwrap() >= (before * MTU.as_u64() as f64).floor());
    let began = flow.now;
    while flow.state() == "slowdown" {
        assert_eq!(flow.packets(), 2.0);
        flow.round(MS(40));
    }
    let rest = flow.now - began;
    assert!((MS(80)..=MS(160)).contains(&rest), "{rest}");
    while flow.state() == "slow start" {
        flow.round(MS(40));
    }
    assert_eq!(flow.state(), "congestion avoidance");
    let length = flow.now - began;
    let ended = flow.now;
    while flow.state() == "congestion avoidance" {
        flow.round(MS(40));
    }
    let pause = flow.now - ended;
    assert!(
        pause >= length * 9 && pause <= length * 9 + MS(80),
        "{length} {pause}"
    );
}

#[test]
fn a_loss_or_a_mark_halves_the_window_once_in_a_round_trip() {
    for loses in [true, false] {
        let (mut flow, _) = started(40);
        flow.fill_window();
        let (before, sent) = (flow.packets(), flow.in_flight());
        match loses {
            true => flow.lose(sent[0]),
            false => flow.mark_ce(sent[0]),
        }
        assert!((flow.packets() - before / 2.0).abs() < 0.01);
        flow.lose(sent[1]);
        flow.mark_ce(sent[2]);
        assert!(
            (flow.packets() - before / 2.0).abs() < 0.01,
            "the same round trip"
        );
        assert_eq!(flow.state(), "recovery");
    }
}

#[test]
fn a_loss_during_a_slowdown_halves_the_window_to_which_it_returns() {
    let (mut flow, _) = started(40);
    while flow.state() == "congestion avoidance" {
        flow.round(MS(40));
    }
    let ssthresh = flow.variable("ssthresh").unwrap();
    flow.fill_window();
    flow.lose(flow.in_flight()[0]);
    assert_eq!(flow.variable("ssthresh"), Some(ssthresh / 2.0));
    assert_eq!((flow.packets(), flow.state()), (2.0, "slowdown"));
}
