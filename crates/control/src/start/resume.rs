//! Careful Resume (draft-ietf-tsvwg-careful-resume-22, published since as RFC 9959) over a classic slow start.
//!
//! The window of an earlier connection, saved_cwnd, is offered by the transport when the RTT of the path has been
//! confirmed ([`Controller::on_seed`](crate::Controller::on_seed)). Section 3 gives the phases:
//! - *Reconnaissance* (3.2): a normal slow start. A loss or mark ends the use of saved_cwnd.
//! - *Unvalidated* (3.3): when the first flight is acknowledged and the flow has more data than its window takes, the
//!   window jumps to half of saved_cwnd, paced over an RTT, for at most one RTT.
//! - *Validating* (3.4): until the last packet of the phase before is acknowledged, the window grows from what is in
//!   flight.
//! - *Safe Retreat* (3.5): a loss or mark in the last two phases leaves half of PipeSize, which is what the path has
//!   delivered. When the last unvalidated packet is acknowledged, the threshold becomes PipeSize times beta.
//!
//! Where the document leaves a choice:
//! - The first flight is what was sent before the first ACK.
//! - A window that is larger than half of saved_cwnd does not jump.
//! - Beta of section 3.5 is the beta of the controller, 0.5 or 0.7, and never less than 0.5.
//!
//! # Limits
//! The transport confirms the RTT once, within a quarter of the remembered one, where section 3.2 accepts more than
//! half and less than ten times; there is no configured max_jump, and nothing is saved: scenarios give saved_cwnd.

use super::{Pacing, Recovery, SlowStart, Verdict};
use crate::event::Ack;
use crate::phase::{RECONNAISSANCE, RECOVERY, SLOW_START, UNVALIDATED, VALIDATING};
use crate::{Context, Init, PathState};
use thalweg_units::{Bytes, Instant, Rate};

/// Beta is a scaling factor between 0.5 and 1 (section 3.5).
const LEAST_BETA: f64 = 0.5;
/// Packets of a burst of unvalidated packets: the least that the transport sends at once.
const BURST: u64 = 2;

/// The method and its phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resume {
    initial_window: Bytes,
    beta: f64,
    phase: Phase,
    /// saved_cwnd, once offered.
    saved: Option<Bytes>,
    /// First packet after the first flight.
    flight_end: Option<u64>,
    pipe_size: Bytes,
    pacing: Option<Pacing>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Reconnaissance,
    /// Packets from `first` on are unvalidated.
    Unvalidated {
        first: u64,
        entered: Instant,
    },
    /// Packets before `end` were unvalidated.
    Validating {
        end: u64,
    },
    SafeRetreat {
        end: u64,
    },
    /// A classic slow start, with nothing left to resume.
    Normal,
}

impl Resume {
    pub(super) fn new(init: &Init, beta: f64) -> Self {
        Resume {
            initial_window: init.initial_window,
            beta: beta.max(LEAST_BETA),
            phase: Phase::Reconnaissance,
            saved: None,
            flight_end: None,
            pipe_size: Bytes::ZERO,
            pacing: None,
        }
    }

    fn observe(&mut self, ack: &Ack, window: Bytes, growth: Bytes, cx: &Context<'_>) -> Verdict {
        match self.phase {
            // Section 3.2, "Path confirmed".
            Phase::Reconnaissance => {
                let end = *self.flight_end.get_or_insert(cx.path.next_packet);
                let has_first_flight = ack.largest + 1 >= end;
                match self.saved {
                    Some(saved) if has_first_flight && !growth.is_zero() => {
                        self.jump(saved / 2, window + growth, cx)
                    }
                    _ => Verdict::Grow(growth),
                }
            }
            Phase::Unvalidated { first, entered } => {
                self.pipe_size += ack.newly_acked;
                let is_sent = ack.prior_in_flight + cx.path.mtu > window;
                let is_late = cx.now - entered > cx.path.smoothed_rtt;
                match ack.largest >= first || is_sent || is_late {
                    true => self.validate(cx.path),
                    false => Verdict::Grow(Bytes::ZERO),
                }
            }
            // Section 3.4.
            Phase::Validating { end } => {
                self.pipe_size += ack.newly_acked;
                if ack.largest + 1 >= end {
                    self.phase = Phase::Normal;
                }
                Verdict::Grow(growth)
            }
            Phase::SafeRetreat { .. } | Phase::Normal => Verdict::Grow(growth),
        }
    }

    /// Entry to the Unvalidated Phase (section 3.3), unless normal growth has come as far.
    fn jump(&mut self, jump: Bytes, normal: Bytes, cx: &Context<'_>) -> Verdict {
        if jump <= normal {
            self.phase = Phase::Normal;
            return Verdict::Jump(normal);
        }
        self.pipe_size = cx.path.bytes_in_flight;
        self.phase = Phase::Unvalidated {
            first: cx.path.next_packet,
            entered: cx.now,
        };
        // Section 4.3.2: an inter-packet time of current RTT * packet size / jump_cwnd.
        self.pacing = Some(Pacing {
            rate: Rate::over(jump, cx.path.smoothed_rtt).max(Rate::from_bits_per_sec(1)),
            quantum: cx.path.mtu * BURST,
        });
        Verdict::Jump(jump)
    }

    /// Exit from the Unvalidated Phase without congestion (section 3.3, "Check flight_size").
    fn validate(&mut self, path: &PathState) -> Verdict {
        self.pacing = None;
        let flight = path.bytes_in_flight;
        if flight < self.initial_window || flight <= self.pipe_size {
            self.phase = Phase::Normal;
            return Verdict::Jump(self.pipe_size.max(self.initial_window));
        }
        self.phase = Phase::Validating {
            end: path.next_packet,
        };
        Verdict::Jump(flight)
    }
}

impl SlowStart for Resume {
    fn state(&self) -> &'static str {
        match self.phase {
            Phase::Reconnaissance if self.saved.is_some() => RECONNAISSANCE,
            Phase::Unvalidated { .. } => UNVALIDATED,
            Phase::Validating { .. } => VALIDATING,
            Phase::SafeRetreat { .. } => RECOVERY,
            Phase::Reconnaissance | Phase::Normal => SLOW_START,
        }
    }

    fn on_seed(&mut self, saved: Bytes) {
        self.saved = Some(saved);
    }

    fn on_ack(&mut self, ack: &Ack, window: Bytes, cx: &Context<'_>) -> Verdict {
        self.observe(ack, window, ack.newly_acked, cx)
    }

    fn on_underused(&mut self, ack: &Ack, window: Bytes, cx: &Context<'_>) -> Verdict {
        self.observe(ack, window, Bytes::ZERO, cx)
    }

    fn on_congestion(&mut self, window: Bytes, cx: &Context<'_>) -> Option<Bytes> {
        let end = match self.phase {
            Phase::Unvalidated { .. } => cx.path.next_packet,
            Phase::Validating { end } => end,
            Phase::Reconnaissance | Phase::SafeRetreat { .. } | Phase::Normal => return None,
        };
        self.pacing = None;
        self.phase = Phase::SafeRetreat { end };
        Some(window.min(self.pipe_size / 2))
    }

    fn recover(&mut self, ack: &Ack, window: Bytes, is_open: bool) -> Option<Recovery> {
        let Phase::SafeRetreat { end } = self.phase else {
            return None;
        };
        self.pipe_size += ack.newly_acked;
        if is_open && ack.largest + 1 < end {
            return Some(Recovery::Window(window));
        }
        Some(Recovery::Done {
            ssthresh: self.pipe_size.scale(self.beta),
            full: self.pipe_size,
        })
    }

    fn pacing(&self) -> Option<Pacing> {
        self.pacing
    }

    fn copied(&self) -> Box<dyn SlowStart> {
        Box::new(*self)
    }
}

#[cfg(test)]
mod tests {
    use crate::fake_transport::{Flow, MTU};
    use thalweg_units::{Duration, Rate};

    const RTT: Duration = Duration::from_millis(100);

    /// A flow that remembers 200 packets, after its first flight of 10: normal growth has come to 20.
    fn resumed(name: &str) -> Flow {
        let mut flow = Flow::new(name);
        flow.fill_window();
        flow.advance(RTT);
        let sent = flow.in_flight();
        flow.ack(sent[0]);
        flow.report_seed(MTU * 200);
        for packet in &sent[1..9] {
            flow.ack(*packet);
        }
        assert_eq!((flow.packets(), flow.state()), (19.0, "reconnaissance"));
        flow.ack(sent[9]);
        flow
    }

    #[test]
    fn the_window_jumps_to_half_of_what_was_saved_paced_over_a_round_trip() {
        for name in ["reno:start=resume", "cubic:start=resume"] {
            let flow = resumed(name);
            assert_eq!((flow.packets(), flow.state()), (100.0, "unvalidated"));
            assert_eq!(flow.control().pacing, Some(Rate::over(MTU * 100, RTT)));
            assert_eq!(flow.control().quantum, MTU * 2);
        }
    }

    #[test]
    fn without_a_remembered_window_it_is_a_classic_slow_start() {
        let mut flow = Flow::new("reno:start=resume");
        for packets in [20.0, 40.0, 80.0] {
            flow.round(RTT);
            assert_eq!((flow.packets(), flow.state()), (packets, "slow start"));
        }
        let mut flow = Flow::new("reno");
        flow.report_seed(MTU * 200);
        assert_eq!(flow.packets(), 10.0, "other starts do not use it");
    }

    #[test]
    fn a_window_of_which_half_is_less_than_normal_growth_is_not_resumed() {
        let mut flow = Flow::new("reno:start=resume");
        flow.report_seed(MTU * 40);
        flow.round(RTT);
        assert_eq!((flow.packets(), flow.state()), (20.0, "slow start"));
    }

    #[test]
    fn congestion_in_reconnaissance_ends_it_as_in_any_slow_start() {
        let mut flow = Flow::new("reno:start=resume");
        flow.report_seed(MTU * 200);
        flow.fill_window();
        flow.advance(RTT);
        flow.lose(flow.in_flight()[0]);
        assert_eq!(flow.packets(), 5.0);
        flow.ack_all(&flow.in_flight());
        flow.round(RTT);
        assert!(flow.packets() < 8.0);
    }

    #[test]
    fn what_is_in_flight_is_validated_and_then_grows_as_in_slow_start() {
        let mut flow = resumed("reno:start=resume");
        flow.fill_window();
        flow.advance(RTT);
        let sent = flow.in_flight();
        flow.ack(sent[0]);
        // PipeSize is 0 at entry plus one packet; 99 packets are in flight (section 3.3, "Check flight_size").
        assert_eq!((flow.packets(), flow.state()), (99.0, "validating"));
        assert_eq!(flow.control().pacing, None);
        for packet in &sent[1..99] {
            flow.ack(*packet);
        }
        assert_eq!((flow.packets(), flow.state()), (197.0, "validating"));
        flow.ack(sent[99]);
        assert_eq!((flow.packets(), flow.state()), (198.0, "slow start"));
    }

    #[test]
    fn a_flow_that_sends_little_after_the_jump_falls_back_to_the_initial_window() {
        let mut flow = resumed("reno:start=resume");
        let packet = flow.send();
        flow.advance(RTT);
        flow.ack(packet);
        // One packet was in flight, less than the initial window; in the absence of congestion, not below that.
        assert_eq!((flow.packets(), flow.state()), (10.0, "slow start"));
    }

    #[test]
    fn a_loss_retreats_to_half_of_what_was_delivered_and_ends_with_a_threshold_of_it() {
        let mut flow = resumed("reno:start=resume");
        flow.fill_window();
        flow.advance(RTT);
        let sent = flow.in_flight();
        for packet in &sent[..40] {
            flow.ack(*packet);
        }
        flow.lose(sent[40]);
        // Section 3.5: PipeSize is 40 packets.
        assert_eq!((flow.packets(), flow.state()), (20.0, "recovery"));
        for packet in &sent[41..99] {
            flow.ack(*packet);
            assert_eq!(flow.packets(), 20.0, "it must not grow");
        }
        flow.ack(sent[99]);
        // PipeSize is 40 + 59 packets by now; beta is 0.5.
        assert_eq!(flow.variable("ssthresh"), Some(49_500.0));
        assert_eq!(flow.packets(), 20.0);
        flow.round(RTT);
        assert!(flow.packets() > 20.0 && !flow.control().startup_done);
    }

    #[test]
    fn cubic_retreats_with_its_own_beta() {
        let mut flow = resumed("cubic:start=resume");
        flow.fill_window();
        flow.advance(RTT);
        let sent = flow.in_flight();
        for packet in &sent[..40] {
            flow.ack(*packet);
        }
        flow.mark_ce(sent[40]);
        assert_eq!(flow.packets(), 20.0);
        for packet in &sent[40..] {
            flow.ack(*packet);
        }
        assert_eq!(flow.variable("ssthresh"), Some(70_000.0)); // 100 packets * 0.7
    }

    #[test]
    fn the_kernels_cubic_knows_its_maximum_after_a_retreat() {
        let [rfc, linux] = ["cubic:start=resume", "cubic:variant=linux,start=resume"].map(|name| {
            let mut flow = resumed(name);
            flow.fill_window();
            flow.advance(RTT);
            let sent = flow.in_flight();
            flow.mark_ce(sent[0]);
            for packet in &sent {
                flow.ack(*packet);
            }
            while flow.state() != "congestion avoidance" {
                flow.round(RTT);
            }
            let (before, w_max) = (flow.packets(), flow.variable("w_max"));
            for _ in 0..10 {
                flow.round(RTT);
            }
            (w_max, before, flow.packets())
        });
        // 100 packets were delivered, 70 of them are the threshold. K = cbrt(30 / 0.4) = 4.2 s: ten rounds of 100 ms give
        // 100 - 0.4 * (4.2 - 1)^3 = 87 packets; without a known maximum it would be 70 * 1.05^10 = 114.
        assert_eq!((linux.0, linux.1), (Some(100_000.0), rfc.1));
        assert!((80.0..92.0).contains(&linux.2), "{linux:?}");
        assert!((linux.2 / rfc.2 - 1.0).abs() < 0.05, "{rfc:?} {linux:?}");
    }
}
