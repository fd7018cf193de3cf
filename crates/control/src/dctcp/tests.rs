//! DCTCP, one event at a time. Its sawtooth over a queue that marks by a step: crates/sim/tests/senders/dctcp.rs.

use crate::fake_transport::Flow;
use thalweg_units::{Duration, Ecn};

const RTT: Duration = Duration::from_millis(1);

/// Sends a window and acknowledges it in one ACK, with so many marks.
fn round(flow: &mut Flow, marked: u64) {
    flow.fill_window();
    flow.advance(RTT);
    flow.ack_marked(&flow.in_flight(), marked);
}

fn alpha(flow: &Flow) -> f64 {
    flow.variable("alpha").unwrap()
}

#[test]
fn its_packets_carry_ect0_and_it_starts_like_reno() {
    let mut flow = Flow::new("dctcp");
    assert_eq!(flow.controller.ecn(), Ecn::Ect0);
    for packets in [20.0, 40.0, 80.0] {
        round(&mut flow, 0);
        assert_eq!(flow.packets(), packets);
    }
    assert_eq!(flow.state(), "slow start");
}

#[test]
fn alpha_starts_at_one_and_moves_a_sixteenth_of_the_way_each_window() {
    // RFC 8257 section 3.3, step 6, from the first window on: 1 * (15/16)^n without marks.
    let mut flow = Flow::new("dctcp");
    assert_eq!(alpha(&flow), 1.0);
    for windows in 1..=5 {
        round(&mut flow, 0);
        let expected = (15.0f64 / 16.0).powi(windows);
        assert!((alpha(&flow) - expected).abs() < 1e-12, "{windows}");
    }
}

#[test]
fn alpha_settles_on_a_fixed_share_of_marks() {
    // The fixed point of alpha = 15/16 alpha + p/16 is p, and 15/16 of the distance is left after each window:
    // (15/16)^160 = 3.3e-5 of |1 - p| after 160 windows. With the window at its floor of two packets, one mark in every
    // second window is p = 1/4, seen one window after the other: alpha swings around p by at most
    // (1/16) / (1 + 15/16) * 1/4 = 0.81 %.
    let mut flow = Flow::new("dctcp");
    for window in 0..160 {
        round(&mut flow, window % 2);
    }
    let after = alpha(&flow);
    round(&mut flow, 0);
    let mean = (after + alpha(&flow)) / 2.0;
    assert!((0.22..0.28).contains(&mean), "{mean}");

    // p = 1 keeps it at one, p = 0 takes it to zero.
    let mut all = Flow::new("dctcp");
    for _ in 0..50 {
        all.fill_window();
        all.advance(RTT);
        let sent = all.in_flight();
        all.ack_marked(&sent, sent.len() as u64);
    }
    assert_eq!(alpha(&all), 1.0);
    let mut none = Flow::new("dctcp");
    none.app_limited = true;
    for _ in 0..160 {
        let packet = none.send();
        none.advance(RTT);
        none.ack(packet);
    }
    assert!((0.0..3.4e-5).contains(&alpha(&none)));
}

#[test]
fn marks_take_half_of_alpha_once_in_a_window() {
    let mut flow = Flow::new("dctcp");
    // Windows of 10 and 20 packets without marks leave alpha at (15/16)^2 = 0.8789.
    round(&mut flow, 0);
    round(&mut flow, 0);
    flow.fill_window();
    flow.advance(RTT);
    let sent = flow.in_flight();
    // Of 40 packets the first ten bring one mark. They end an observation window: its share is 1/10.
    flow.ack_marked(&sent[..10], 1);
    let expected = 0.878_906_25 * 15.0 / 16.0 + 0.1 / 16.0;
    assert!((alpha(&flow) - expected).abs() < 1e-9, "{}", alpha(&flow));
    let reduced = (40_000.0 * (1.0 - expected / 2.0)) as u64;
    assert_eq!(flow.window().as_u64(), reduced);
    assert_eq!(flow.state(), "congestion window reduced");
    // The rest of the window is not a new signal, and nothing grows (RFC 3168 section 6.1.2).
    flow.ack_marked(&sent[10..20], 10);
    assert_eq!(flow.window().as_u64(), reduced);
}

#[test]
fn a_loss_halves_the_window_whatever_alpha_is() {
    let mut flow = Flow::new("dctcp");
    for _ in 0..4 {
        round(&mut flow, 0);
    }
    flow.fill_window();
    let sent = flow.in_flight();
    flow.lose(sent[0]);
    assert_eq!((flow.packets(), flow.state()), (80.0, "recovery"));
    flow.lose(sent[1]);
    flow.mark_ce(sent[2]);
    assert_eq!(flow.packets(), 80.0, "the same round trip");
    flow.lose_persistently(sent[3]);
    assert_eq!(flow.packets(), 2.0);
}

#[test]
fn a_loss_after_a_mark_in_the_same_window_halves_what_the_mark_left() {
    let mut flow = Flow::new("dctcp");
    flow.fill_window();
    let sent = flow.in_flight();
    flow.mark_ce(sent[0]);
    assert_eq!(flow.packets(), 5.0, "alpha is one: a half");
    flow.lose(sent[1]);
    assert_eq!(flow.packets(), 2.5);
}

#[test]
fn it_grows_by_one_packet_for_each_window_after_a_reduction() {
    let mut flow = Flow::new("dctcp");
    round(&mut flow, 0);
    flow.fill_window();
    flow.mark_ce(flow.in_flight()[0]);
    let reduced = flow.packets();
    // This window left before the reduction; the packet of the next that ends the rest counts.
    round(&mut flow, 0);
    assert_eq!(flow.packets(), reduced);
    round(&mut flow, 0);
    round(&mut flow, 0);
    assert!(
        (flow.packets() - reduced - 1.5).abs() <= 0.5,
        "{}",
        flow.packets()
    );
}
