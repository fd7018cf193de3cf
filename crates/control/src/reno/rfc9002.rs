//! NewReno as RFC 9002 section 7 specifies it.
//!
//! Windows are whole bytes. Pacing is left to the transport (RFC 9002 section 7.7). Probe timeouts
//! (section 6.2) and spurious losses change nothing: RFC 9002 has no undo. The initial slow start is one of
//! [`crate::start`]; later ones are classic.
//!
//! Options replace parts of it: the reduction that ends a slow start, in which the window may have doubled beyond the path,
//! may keep another share than later ones; ABE keeps more of the window at a CE mark than at a loss (RFC 8511 section 3), in slow
//! start too, and with [Rate-Limited Increase](crate::rate_limited) an application-limited window may grow.
//!
//! # Limits
//! Only the start `resume` uses a window remembered from an earlier connection.

use crate::event::{Ack, EcnCounts, Lost};
use crate::phase::{CONGESTION_AVOIDANCE, RECOVERY};
use crate::rate_limited::LargestFlight;
use crate::recovery_period::RecoveryPeriod;
use crate::start::{self, Classic, Recovery, SlowStart, Verdict};
use crate::{Context, Control, Controller, Init, Observer};
use thalweg_units::{Bytes, Ecn};

/// kMinimumWindow of RFC 9002 section 7.2, in packets.
const MINIMUM_WINDOW: u64 = 2;

/// What the options say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Packets of growth for each window acknowledged.
    pub(crate) increase: f64,
    /// Share of the window that a reduction keeps.
    pub(crate) decrease: f64,
    /// The same for the one that ends a slow start.
    pub(crate) start_decrease: f64,
    /// The same for a mark, if it is another one (beta_ecn of RFC 8511 section 3.1).
    pub(crate) decrease_ecn: Option<f64>,
    /// Codepoint of packets: ECT(0), or Not-ECT.
    pub(crate) ecn: Ecn,
    /// Whether an application-limited window grows by the rules of [`crate::rate_limited`].
    pub(crate) rate_limited: bool,
}

/// The controller.
#[derive(Debug)]
pub(crate) struct Reno {
    mtu: Bytes,
    initial_window: Bytes,
    settings: Settings,
    /// Present if the rules of rate-limited senders apply.
    flight: Option<LargestFlight>,
    window: Bytes,
    /// Slow start threshold; [`Bytes::MAX`] before the first congestion event.
    ssthresh: Bytes,
    /// Bytes acknowledged in congestion avoidance since the last growth.
    acked: Bytes,
    recovery: RecoveryPeriod,
    /// How the window grows below the threshold: the chosen start, until it is over.
    start: Box<dyn SlowStart>,
}

impl Reno {
    pub(crate) fn new(init: &Init, settings: Settings, start: &str) -> Self {
        Reno {
            mtu: init.mtu,
            initial_window: init.initial_window,
            settings,
            flight: (settings.rate_limited).then(|| LargestFlight::new(init.initial_window)),
            window: init.initial_window.max(init.mtu * MINIMUM_WINDOW),
            ssthresh: Bytes::MAX,
            acked: Bytes::ZERO,
            recovery: RecoveryPeriod::default(),
            start: start::of(start, init, settings.start_decrease),
        }
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }

    /// The share of the window that a reduction keeps now.
    fn kept(&self) -> f64 {
        match self.in_slow_start() {
            true => self.settings.start_decrease,
            false => self.settings.decrease,
        }
    }

    fn minimum_window(&self) -> Bytes {
        self.mtu * MINIMUM_WINDOW
    }

    /// RFC 9002 section 7.3.1, and what the start does of its own.
    fn slow_start(&mut self, ack: &Ack, is_underused: bool, cx: &Context<'_>) {
        let verdict = match is_underused {
            true => self.start.on_underused(ack, self.window, cx),
            false => self.start.on_ack(ack, self.window, cx),
        };
        match verdict {
            Verdict::Grow(growth) => self.window += growth,
            Verdict::Jump(window) => self.window = window.max(self.minimum_window()),
            Verdict::Leave => self.leave_slow_start(self.window),
            Verdict::LeaveAt(window) => self.leave_slow_start(window),
        }
    }

    fn leave_slow_start(&mut self, window: Bytes) {
        self.window = window.max(self.minimum_window());
        self.ssthresh = self.window;
        self.start = Box::new(Classic);
    }

    /// A recovery period of the start.
    fn follow(&mut self, recovery: Recovery) {
        match recovery {
            Recovery::Window(window) => self.window = window.max(self.minimum_window()),
            Recovery::Done { ssthresh, .. } => {
                self.ssthresh = ssthresh.max(self.minimum_window());
                self.start = Box::new(Classic);
            }
        }
    }

    /// RFC 9002 section 7.3.3: one packet for each window acknowledged.
    fn avoid_congestion(&mut self, ack: &Ack) {
        self.acked += ack.newly_acked;
        if self.acked >= self.window {
            self.acked -= self.window;
            self.window += self.mtu.scale(self.settings.increase);
        }
    }

    fn forget_flight(&mut self) {
        if let Some(flight) = &mut self.flight {
            flight.on_reduction();
        }
    }

    fn advance(&mut self, event: &Ack, cx: &Context<'_>) {
        let is_open = self.recovery.is_open();
        if let Some(recovery) = self.start.recover(event, self.window, is_open) {
            self.follow(recovery);
            return;
        }
        if is_open {
            return;
        }
        let rests = self.flight.is_none() && event.window_was_underused(cx.path);
        if self.in_slow_start() {
            self.slow_start(event, rests, cx);
        } else if !rests {
            self.avoid_congestion(event);
        }
    }

    /// Keeps the window within what its largest flight would earn, if less than the window was in flight.
    fn limit(&mut self, ack: &Ack, was_starting: bool, cx: &Context<'_>) {
        let window = self.window;
        let flight = (self.flight.as_mut()).and_then(|flight| flight.on_ack(ack, cx.path, window));
        if let Some(flight) = flight {
            let earned = match was_starting {
                true => flight,
                false => self.mtu.scale(self.settings.increase),
            };
            self.window = window.min((flight + earned).max(self.minimum_window()));
        }
    }

    /// RFC 9002 section 7.3.2 and appendix B.6: a packet that left after the last reduction was lost or
    /// marked.
    fn congestion(&mut self, packet: u64, kept: f64, cx: &Context<'_>) {
        if self.recovery.covers(packet) {
            return;
        }
        self.forget_flight();
        self.recovery.begin(cx.path.next_packet);
        self.acked = Bytes::ZERO;
        if let Some(window) = self.start.on_congestion(self.window, cx) {
            self.window = window.max(self.minimum_window());
            return;
        }
        // The default is kLossReductionFactor of RFC 9002 appendix B.1, a half.
        self.ssthresh = self.window.scale(kept).max(self.minimum_window());
        self.window = self.ssthresh;
        self.start = Box::new(Classic);
    }
}

impl Controller for Reno {
    fn on_handshake_rtt(&mut self, cx: &mut Context<'_>) {
        if let Some(window) = self.start.on_handshake_rtt(self.window, cx) {
            self.window = window;
        }
    }

    fn on_seed(&mut self, window: Bytes, _cx: &mut Context<'_>) {
        self.start.on_seed(window);
    }

    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        self.mtu = cx.path.mtu;
        self.window = self.window.max(self.minimum_window());
        self.recovery.on_ack(event.largest);
        let was_starting = self.in_slow_start();
        self.advance(event, cx);
        self.limit(event, was_starting, cx);
    }

    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        self.congestion(event.packet, self.kept(), cx);
        if event.persistent_congestion {
            // RFC 9002 section 7.6.2.
            self.window = self.minimum_window();
            self.forget_flight();
            self.start = Box::new(Classic);
            self.recovery.close();
        }
    }

    /// RFC 9002 section 7.1: a CE mark is a congestion event.
    fn on_ecn(&mut self, event: &EcnCounts, cx: &mut Context<'_>) {
        let kept = self.settings.decrease_ecn.unwrap_or_else(|| self.kept());
        self.congestion(event.largest_acked, kept, cx);
    }

    fn control(&self) -> Control {
        let pacing = self.start.pacing();
        Control {
            window: self.window,
            pacing: pacing.map(|pacing| pacing.rate),
            // RFC 9002 section 7.7: bursts no larger than the initial window.
            quantum: pacing.map_or(self.initial_window, |pacing| pacing.quantum),
            startup_done: !self.in_slow_start(),
        }
    }

    fn ecn(&self) -> Ecn {
        self.settings.ecn
    }

    fn observe(&self, out: &mut dyn Observer) {
        out.state(match self.in_slow_start() {
            _ if self.recovery.is_open() => RECOVERY,
            true => self.start.state(),
            false => CONGESTION_AVOIDANCE,
        });
        if self.ssthresh != Bytes::MAX {
            out.variable("ssthresh", self.ssthresh.as_u64() as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fake_transport::Flow;
    use thalweg_units::Duration;

    const RTT: Duration = Duration::from_millis(40);

    /// A flow of 20 packets in congestion avoidance: 10 -> 20 -> 40, halved by a loss.
    fn avoiding() -> Flow {
        let mut flow = Flow::new("reno");
        flow.round(RTT);
        flow.round(RTT);
        flow.fill_window();
        flow.lose(flow.in_flight()[0]);
        flow.advance(RTT);
        flow.ack_all(&flow.in_flight());
        flow
    }

    #[test]
    fn congestion_avoidance_grows_by_one_packet_for_each_window_acknowledged() {
        let mut flow = avoiding();
        assert_eq!(flow.packets(), 20.0);
        // The first ACK of the round ends recovery, and counts.
        for packets in [21.0, 22.0, 23.0] {
            flow.round(RTT);
            assert_eq!(flow.packets(), packets);
        }
        assert_eq!(flow.state(), "congestion avoidance");
    }

    #[test]
    fn bytes_acknowledged_beyond_a_window_count_for_the_next_packet_of_growth() {
        let mut flow = avoiding();
        // 20 + 21 + 22 = 63 packets acknowledged are three packets of growth: 21 ACKs of 3 packets.
        // If each growth dropped its remainder of one packet, the third would come with the 22nd ACK.
        for ack in 1..=21 {
            flow.fill_window();
            flow.advance(RTT);
            let acked: Vec<u64> = flow.in_flight().into_iter().take(3).collect();
            flow.ack_all(&acked);
            assert!((20 + ack / 7..=20 + ack / 6).contains(&(flow.packets() as u64)));
        }
        assert_eq!(flow.packets(), 23.0);
    }
}
