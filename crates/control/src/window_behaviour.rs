//! What the controllers of a window have in common: a table of them, and each behaviour for all.
//!
//! What only one of them does is tested next to it: growth, the curve of CUBIC, the alpha of Prague.

use crate::fake_transport::Flow;
use thalweg_units::{Duration, Ecn};

const RTT: Duration = Duration::from_millis(40);

/// A controller, and how it answers congestion.
struct Row {
    name: &'static str,
    /// Share of the window that a loss leaves: RFC 9002 section 7.3.2, RFC 9438 section 4.6.
    after_loss: f64,
    /// Whether a reduction whose losses all arrive is undone.
    undoes: bool,
    /// Whether HyStart++ ends slow start.
    hystart: bool,
}

const fn row(name: &'static str, after_loss: f64, undoes: bool, hystart: bool) -> Row {
    Row {
        name,
        after_loss,
        undoes,
        hystart,
    }
}

const CONTROLLERS: [Row; 8] = [
    row("reno", 0.5, false, false),
    row("reno:start=hystart", 0.5, false, true),
    row("cubic", 0.7, true, true),
    row("cubic:fast_convergence=off", 0.7, true, true),
    row("prague", 0.5, false, false),
    row("prague:loss=cubic", 0.7, false, false),
    row("prague:undo=on", 0.5, true, false),
    row("prague:hystart=on", 0.5, false, true),
];

impl Row {
    /// Prague paces by itself, and answers marks by alpha.
    fn is_prague(&self) -> bool {
        self.name.starts_with("prague")
    }

    fn flow(&self) -> Flow {
        Flow::new(self.name)
    }

    /// A flow with 20 packets in flight, in slow start.
    fn flying_20(&self) -> (Flow, Vec<u64>) {
        let mut flow = self.flow();
        flow.round(RTT);
        flow.fill_window();
        let sent = flow.in_flight();
        self.assert(&flow, 20.0, "slow start");
        (flow, sent)
    }

    /// A flow in congestion avoidance, after a reduction.
    fn avoiding(&self, reduce: fn(&mut Flow, u64)) -> Flow {
        let (mut flow, sent) = self.flying_20();
        reduce(&mut flow, sent[0]);
        flow.advance(RTT);
        flow.ack_all(&sent);
        flow.round(RTT);
        assert_eq!(flow.state(), "congestion avoidance", "{}", self.name);
        flow
    }

    /// The window is so many packets, but for a fraction of a byte.
    #[track_caller]
    fn assert(&self, flow: &Flow, packets: f64, state: &str) {
        let (name, window) = (self.name, flow.packets());
        assert!((window - packets).abs() < 0.001_001, "{name}: {window}");
        assert_eq!(flow.state(), state, "{name}");
    }
}

#[test]
fn packets_carry_ect0_or_ect1_for_prague_unless_ecn_is_off() {
    for (name, expected) in [
        ("reno", Ecn::Ect0),
        ("reno:ecn=off", Ecn::NotEct),
        ("cubic", Ecn::Ect0),
        ("cubic:ecn=off", Ecn::NotEct),
        ("prague", Ecn::Ect1),
    ] {
        assert_eq!(Flow::new(name).controller.ecn(), expected, "{name}");
    }
}

#[test]
fn slow_start_doubles_the_window_each_round_trip() {
    for row in &CONTROLLERS {
        let mut flow = row.flow();
        assert_eq!(flow.control().pacing, None, "no RTT yet");
        for packets in [20.0, 40.0, 80.0, 160.0] {
            flow.round(RTT);
            row.assert(&flow, packets, "slow start");
        }
        let control = flow.control();
        assert_eq!(control.pacing.is_some(), row.is_prague(), "{}", row.name);
        assert!(!control.startup_done);
    }
}

#[test]
fn a_loss_reduces_the_window_once_in_a_round_trip() {
    for row in &CONTROLLERS {
        let (mut flow, sent) = row.flying_20();
        flow.lose(sent[0]);
        let packets = 20.0 * row.after_loss;
        row.assert(&flow, packets, "recovery");
        // In the same round trip nothing more is taken, and nothing grows.
        flow.lose(sent[1]);
        flow.lose(sent[5]);
        flow.mark_ce(sent[7]);
        flow.ack_marked(&sent[8..10], 1);
        flow.advance(RTT);
        flow.ack(sent[10]);
        row.assert(&flow, packets, "recovery");
        let next = flow.send();
        flow.lose(next);
        row.assert(&flow, packets * row.after_loss, "recovery");
    }
}

#[test]
fn the_reduction_that_ends_a_slow_start_may_keep_another_share_than_later_ones() {
    for (name, first, later) in [
        ("reno:start_decrease=0.8", 0.8, 0.5),
        ("reno:decrease=0.6", 0.6, 0.6),
        ("cubic:start_beta=0.5", 0.5, 0.7),
        ("cubic:beta=0.9", 0.9, 0.9),
        ("cubic:beta=0.9,start_beta=beta", 0.9, 0.9),
        ("cubic:variant=cuback,start_beta=0.5", 0.5, 0.7),
    ] {
        for congestion in [Flow::lose, Flow::mark_ce] {
            let row = row(name, first, false, false);
            let (mut flow, sent) = row.flying_20();
            congestion(&mut flow, sent[0]);
            row.assert(&flow, 20.0 * first, "recovery");
            let next = flow.send();
            congestion(&mut flow, next);
            row.assert(&flow, 20.0 * first * later, "recovery");
        }
    }
    // ABE has a share of its own for marks, in slow start too (RFC 8511 section 3.1).
    let abe = row("cubic:abe=on,start_beta=0.5", 0.85, false, false);
    let (mut flow, sent) = abe.flying_20();
    flow.mark_ce(sent[0]);
    abe.assert(&flow, 17.0, "recovery");
}

#[test]
fn a_mark_counts_as_a_loss_and_the_first_of_prague_halves_the_window() {
    for row in &CONTROLLERS {
        let (mut flow, sent) = row.flying_20();
        flow.mark_ce(sent[3]);
        assert!(flow.control().startup_done);
        if row.is_prague() {
            row.assert(&flow, 10.0, "congestion window reduced");
            continue;
        }
        row.assert(&flow, 20.0 * row.after_loss, "recovery");
        let next = flow.send();
        flow.mark_ce(next);
        row.assert(&flow, 20.0 * row.after_loss.powi(2), "recovery");
    }
}

#[test]
fn persistent_congestion_leaves_two_packets_and_slow_start_up_to_what_a_loss_leaves() {
    for row in &CONTROLLERS {
        let (mut flow, sent) = row.flying_20();
        flow.lose(sent[0]);
        flow.lose_persistently(sent[1]);
        flow.lose(sent[2]);
        row.assert(&flow, 2.0, "slow start");
        let threshold = 20.0 * row.after_loss;
        assert_eq!(flow.variable("ssthresh"), Some(threshold * 1_000.0));
        // Growth starts with the next ACK, though its packet left before the collapse.
        flow.advance(RTT);
        flow.ack(sent[3]);
        row.assert(&flow, 3.0, "slow start");
        for packet in &sent[4..1 + threshold as usize] {
            flow.ack(*packet);
        }
        row.assert(&flow, threshold, "congestion avoidance");
    }
}

#[test]
fn the_window_does_not_grow_while_the_application_does_not_fill_it() {
    for row in &CONTROLLERS {
        let flows = [
            row.flow(),
            row.avoiding(Flow::lose),
            row.avoiding(Flow::mark_ce),
        ];
        for mut flow in flows {
            let before = flow.window();
            flow.app_limited = true;
            for _ in 0..100 {
                let packet = flow.send();
                flow.advance(RTT);
                flow.ack(packet);
            }
            assert_eq!(flow.window(), before, "{}", row.name);
        }
    }
}

#[test]
fn a_probe_timeout_changes_nothing() {
    for row in &CONTROLLERS {
        let (mut flow, _) = row.flying_20();
        flow.timeout();
        row.assert(&flow, 20.0, "slow start");
    }
}

#[test]
fn a_reduction_whose_losses_all_arrive_is_undone_or_stays() {
    for row in &CONTROLLERS {
        let (mut flow, sent) = row.flying_20();
        let reduced = 20.0 * row.after_loss;
        flow.lose(sent[0]);
        flow.lose(sent[1]);
        flow.spurious(sent[1]);
        row.assert(&flow, reduced, "recovery"); // one is still missing
        flow.spurious(sent[0]);
        if row.undoes {
            row.assert(&flow, 20.0, "slow start");
            flow.lose(sent[2]); // a new event, though in the same flight
        }
        row.assert(&flow, reduced, "recovery");
    }
}

#[test]
fn nothing_is_undone_after_a_mark_or_for_a_mere_timeout() {
    for row in &CONTROLLERS {
        let (mut flow, sent) = row.flying_20();
        flow.lose(sent[0]);
        flow.spurious(sent[3]); // never declared lost
        row.assert(&flow, 20.0 * row.after_loss, "recovery");
        flow.mark_ce(sent[1]);
        flow.spurious(sent[0]);
        row.assert(&flow, 20.0 * row.after_loss, "recovery");
    }
}

#[test]
fn hystart_ends_slow_start_without_a_reduction() {
    for row in CONTROLLERS.iter().filter(|row| row.hystart) {
        let mut flow = row.flow();
        for rtt in [40, 40, 60, 60, 60, 60, 60] {
            flow.round(Duration::from_millis(rtt));
        }
        let (name, before) = (row.name, flow.packets());
        row.assert(&flow, before, "conservative slow start");
        flow.round(Duration::from_millis(60));
        assert_eq!(flow.state(), "congestion avoidance", "{name}");
        // RFC 9406 section 4.2: ssthresh = cwnd
        assert_eq!(flow.variable("ssthresh"), Some(before * 1_000.0), "{name}");
        assert!((before..=before + 1.0).contains(&flow.packets()), "{name}");
    }
}
