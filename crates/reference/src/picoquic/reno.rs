//! picoquic's NewReno of 2026-08-16 (picoquic-controllers.md section 2).
//!
//! It differs from RFC 9002 by pacing from the window, a delay test and a bandwidth floor in the initial
//! slow start, a window that collapses at the first probe timeout, no persistent congestion, and an undo.
//! A probe timeout here is the peer's loss of kind "timeout".

use crate::picoquic::window::{bandwidth_floor, data_limited, long_rtt_floor, minimum_window};
use crate::picoquic::window_pacing::WindowPacing;
use thalweg_control::delay_hystart::DelayHystart;
use thalweg_control::event::{Ack, EcnCounts, Lost, RttSample, SpuriousLoss, Timeout};
use thalweg_control::phase::{CONGESTION_AVOIDANCE, SLOW_START};
use thalweg_control::{Context, Control, Controller, Init, Observer, PathState};
use thalweg_units::{Bytes, Ecn, Instant};

/// The controller.
#[derive(Debug)]
pub(crate) struct Reno {
    initial_window: Bytes,
    window: Bytes,
    /// [`Bytes::MAX`] during the initial slow start.
    ssthresh: Bytes,
    slow_start: bool,
    /// Remainder of growth, in bytes times packet size.
    residual: u128,
    recovery_start: Instant,
    /// Losses of packets before this number are ignored.
    recovery_sequence: u64,
    hystart: DelayHystart,
    pacing: WindowPacing,
}

impl Reno {
    pub(crate) fn new(init: &Init) -> Self {
        Reno {
            initial_window: init.initial_window,
            window: init.initial_window,
            ssthresh: Bytes::MAX,
            slow_start: true,
            residual: 0,
            recovery_start: init.now,
            recovery_sequence: 0,
            hystart: DelayHystart::default(),
            pacing: WindowPacing::initial(init),
        }
    }

    fn in_initial_slow_start(&self) -> bool {
        self.slow_start && self.ssthresh == Bytes::MAX
    }

    fn pace(&mut self, path: &PathState) {
        let initial = self.in_initial_slow_start();
        self.pacing = WindowPacing::of(self.window, path, initial);
    }

    fn congestion(&mut self, packet: u64, timeout: bool, cx: &Context<'_>) {
        if packet >= self.recovery_sequence {
            let minimum = minimum_window(cx.path);
            self.ssthresh = (self.window / 2).max(minimum);
            self.slow_start = timeout;
            self.window = if timeout { minimum } else { self.ssthresh };
            self.recovery_start = cx.now;
            self.recovery_sequence = cx.path.next_packet;
            self.residual = 0;
        }
        self.pace(cx.path);
    }

    fn avoid_congestion(&mut self, acked: Bytes, mtu: Bytes) {
        let window = u128::from(self.window.as_u64().max(1));
        let credit =
            u128::from(acked.as_u64()).saturating_mul(u128::from(mtu.as_u64())) + self.residual;
        self.residual = credit % window;
        self.window += Bytes::new(u64::try_from(credit / window).unwrap_or(u64::MAX));
    }
}

impl Controller for Reno {
    fn on_handshake_rtt(&mut self, cx: &mut Context<'_>) {
        self.pacing = WindowPacing::of_first_flight(self.initial_window, cx.path);
    }

    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        if self.in_initial_slow_start() {
            self.window = self.window.max(bandwidth_floor(cx.path));
        }
        if data_limited(cx.path) {
            if self.slow_start {
                self.window += event.newly_acked;
                self.slow_start = self.window < self.ssthresh;
            } else {
                self.avoid_congestion(event.newly_acked, cx.path.mtu);
            }
        }
        self.window = self.window.max(minimum_window(cx.path));
        self.pace(cx.path);
    }

    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        self.congestion(event.packet, false, cx);
    }

    fn on_timeout(&mut self, event: &Timeout, cx: &mut Context<'_>) {
        self.congestion(event.packet, true, cx);
    }

    fn on_ecn(&mut self, event: &EcnCounts, cx: &mut Context<'_>) {
        self.congestion(event.largest_acked, false, cx);
    }

    fn on_spurious_loss(&mut self, _event: &SpuriousLoss, cx: &mut Context<'_>) {
        let in_recovery = cx.now - self.recovery_start < cx.path.smoothed_rtt
            && Some(self.recovery_sequence) > cx.path.largest_acked;
        if in_recovery && self.ssthresh != Bytes::MAX && self.window < self.ssthresh * 2 {
            self.window = self.ssthresh * 2;
            self.slow_start = false;
        }
        self.pace(cx.path);
    }

    fn on_rtt(&mut self, event: &RttSample, cx: &mut Context<'_>) {
        if self.in_initial_slow_start() {
            self.window = self
                .window
                .max(long_rtt_floor(self.initial_window, cx.path));
            let packet_time = self.pacing.packet_time(cx.path.mtu);
            if self.hystart.on_rtt(event.rtt, packet_time, cx.now) {
                self.ssthresh = self.window;
                self.slow_start = false;
            }
        }
        self.pace(cx.path);
    }

    fn on_seed(&mut self, window: Bytes, cx: &mut Context<'_>) {
        if self.in_initial_slow_start() && window > self.window {
            self.window = window;
            self.ssthresh = window;
            self.slow_start = false;
        }
        self.pace(cx.path);
    }

    fn control(&self) -> Control {
        Control {
            window: self.window,
            pacing: Some(self.pacing.rate),
            quantum: self.pacing.quantum,
            startup_done: !self.slow_start,
        }
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn observe(&self, out: &mut dyn Observer) {
        out.state(if self.slow_start {
            SLOW_START
        } else {
            CONGESTION_AVOIDANCE
        });
        if self.ssthresh != Bytes::MAX {
            out.variable("ssthresh", self.ssthresh.as_u64() as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::flow;
    use thalweg_units::{Duration, Rate};

    const RTT: Duration = Duration::from_millis(40);

    #[test]
    fn a_single_loss_halves_the_window() {
        let mut flow = flow("reno:variant=picoquic");
        flow.round(RTT);
        flow.fill_window();
        flow.lose(flow.in_flight()[0]);
        assert_eq!(flow.packets(), 10.0);
        flow.lose(flow.in_flight()[0]);
        assert_eq!(flow.packets(), 10.0, "once in a round trip");
    }

    #[test]
    fn the_first_timeout_collapses_the_window_and_its_spurious_repeat_repairs_it() {
        let mut flow = flow("reno:variant=picoquic");
        flow.round(RTT);
        flow.fill_window();
        let first = flow.in_flight()[0];
        flow.timeout();
        assert_eq!(flow.window().as_u64(), 3_072);
        flow.spurious(first);
        assert_eq!(flow.packets(), 20.0, "twice the threshold of 10");
    }

    #[test]
    fn a_repair_that_comes_after_a_round_trip_is_refused() {
        let mut flow = flow("reno:variant=picoquic");
        flow.round(RTT);
        flow.fill_window();
        let first = flow.in_flight()[0];
        flow.timeout();
        flow.advance(RTT);
        flow.spurious(first);
        assert_eq!(flow.window().as_u64(), 3_072);
    }

    #[test]
    fn a_long_rtt_raises_the_initial_window_in_proportion_up_to_610_ms() {
        // 10 000 * 300/100 = 30 000; the ACK itself adds one packet. 10 000 * 610/100 = 61 000.
        for (rtt, window) in [(100, 11_000), (300, 31_000), (900, 62_000)] {
            let mut flow = flow("reno:variant=picoquic");
            flow.fill_window();
            flow.advance(Duration::from_millis(rtt));
            flow.ack_next();
            assert_eq!(flow.window().as_u64(), window, "{rtt} ms");
        }
    }

    #[test]
    fn slow_start_holds_at_least_half_of_the_peak_rate_times_the_rtt() {
        let mut flow = flow("reno:variant=picoquic");
        flow.path.peak_rate = Rate::from_bytes_per_sec(2_000_000);
        flow.fill_window();
        flow.advance(RTT);
        flow.ack_next();
        // 2 MB/s * 40 ms / 2 = 40 000, and one packet for the ACK
        assert_eq!(flow.window().as_u64(), 41_000);
    }

    #[test]
    fn avoidance_carries_the_remainder_of_its_division() {
        let mut flow = flow("reno:variant=picoquic");
        flow.fill_window();
        flow.lose(flow.in_flight()[0]);
        assert_eq!(flow.packets(), 5.0);
        flow.advance(RTT);
        // 1000*1000/5000 = 200 for the first, 1000*1000/5200 = 192.3, 1000*1000/5392 = 185.5, ...
        flow.ack_next();
        assert_eq!(flow.window().as_u64(), 5_200);
        flow.ack_next();
        assert_eq!(flow.window().as_u64(), 5_392);
    }
}
