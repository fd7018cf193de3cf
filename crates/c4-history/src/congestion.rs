//! Congestion: reaction to a delay event, enough losses or a CE mark outside Initial.
//!
//! Source: c4-history.md section 2.3 (`congestion`, `on_loss`, `on_ce`) for v1, section 4 for v2 and v3.

use super::constants::{BETA, BETA_DELAY_DEFAULT, BETA_DELAY_MAX, LOSS_THRESHOLD, WINDOW_MINIMUM};
use super::{EarlyC4, State};
use thalweg_control::Context;
use thalweg_control::coefficient::Coefficient;
use thalweg_units::Duration;

/// A congestion signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// The filtered RTT is too high; the newest RTT.
    Delay(Duration),
    /// The loss rate is too high, or packets were marked CE.
    Loss,
}

impl Signal {
    pub(super) fn is_delay(self) -> bool {
        matches!(self, Signal::Delay(_))
    }
}

impl EarlyC4 {
    /// Reacts to a signal. The growth test always records it, even if nothing else happens: in a
    /// recovery only a delay that follows losses counts once more.
    pub(super) fn congestion(&mut self, signal: Signal, cx: &Context<'_>) {
        self.growth.congested = true;
        self.growth.congested_by_delay |= signal.is_delay();
        let again = signal.is_delay() && self.recovering_from_loss;
        if self.state == State::Recovery && !again {
            return;
        }
        let beta = self.decrease(signal);
        self.delay_excess = Duration::ZERO;
        if self.state == State::Pushing {
            self.growth.good_pushes = 0;
        } else {
            self.nominal = (self.nominal - beta.of_size(self.nominal)).max(WINDOW_MINIMUM);
            self.peaks.reduce(beta);
        }
        self.enter_recovery(Some(signal), cx);
        self.startup_done = true;
        self.update_output(cx);
    }

    fn decrease(&mut self, signal: Signal) -> Coefficient {
        match signal {
            Signal::Loss => BETA,
            Signal::Delay(rtt) if self.version.writes_window_on_change() => {
                self.decrease_by_rtt(rtt)
            }
            Signal::Delay(_) => self.decrease_by_excess(),
        }
    }

    /// v1: as much as the newest RTT exceeds the minimum, relative to it.
    fn decrease_by_rtt(&self, rtt: Duration) -> Coefficient {
        match self.min_rtt.nominal {
            Some(min) if rtt > min => Coefficient::of_spans(rtt - min, min).min(BETA_DELAY_MAX),
            _ => BETA_DELAY_DEFAULT,
        }
    }

    /// v2, v3: as much as the excess exceeds the threshold, up to a quarter (a comment of the original
    /// says an eighth).
    ///
    /// Slip: the excess is cleared first, which leaves nothing to compute the decrease from. A delay
    /// event of v2 or v3 forces a recovery and reduces nothing.
    fn decrease_by_excess(&mut self) -> Coefficient {
        if self.slips.excess_cleared_before_use {
            self.delay_excess = Duration::ZERO;
        }
        Coefficient::of_spans(self.delay_excess, self.min_rtt.threshold).min(BETA)
    }

    /// A packet was lost. Losses of packets sent before the current recovery are ignored.
    pub(super) fn loss_event(&mut self, packet: u64, cx: &Context<'_>) {
        if self.state == State::Recovery && packet < self.era.first {
            return;
        }
        if self.losses.record_exceeds(packet, LOSS_THRESHOLD) {
            self.loss_or_mark(cx);
        }
    }

    /// More CE marks were reported: as losses above the threshold.
    pub(super) fn ce_event(&mut self, cx: &Context<'_>) {
        self.loss_or_mark(cx);
    }

    fn loss_or_mark(&mut self, cx: &Context<'_>) {
        match self.state {
            State::Initial => self.initial_congestion(cx),
            _ => self.congestion(Signal::Loss, cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Version;
    use super::super::slips::Slips;
    use super::super::tests::Flow;
    use super::*;
    use thalweg_control::event::EcnCounts;
    use thalweg_units::{Bytes, Rate};

    fn micros(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    #[test]
    fn a_delay_of_v1_lowers_the_window_by_the_relative_excess_up_to_three_quarters() {
        for (rtt_us, left) in [
            (100_000, 75_000), // (100-80)/80 = 1/4
            (120_000, 50_000), // 1/2
            (200_000, 25_000), // 1.5, capped at 3/4
            (80_000, 87_500),  // not above the minimum: 1/8
        ] {
            let mut flow = Flow::cruising(Version::V1, 100_000, 80);
            flow.call(|c4, cx| c4.congestion(Signal::Delay(micros(rtt_us)), cx));
            assert_eq!(flow.controller.nominal, Bytes::new(left), "{rtt_us}");
            assert_eq!(flow.controller.state, State::Recovery);
        }
    }

    #[test]
    fn the_largest_decrease_is_that_of_the_published_runs() {
        // section 7: wifi_bad at 4643447, vs_cubic_lg at 1038521
        for (before, after) in [(102_567, 25_642), (79_525, 19_882)] {
            let mut flow = Flow::cruising(Version::V1, before, 20);
            flow.call(|c4, cx| c4.congestion(Signal::Delay(micros(200_000)), cx));
            assert_eq!(flow.controller.nominal, Bytes::new(after));
        }
    }

    #[test]
    fn a_loss_of_v2_lowers_window_rate_and_high_by_a_quarter() {
        // section 7, wifi_bad, v2, at 1131448: 92 560 -> 69 420, high 113 920 -> 85 440,
        // rate 2 514 689 -> 2 514 689 - floor(2 514 689/4) = 1 886 017
        let mut flow = Flow::cruising(Version::V2, 92_560, 80);
        flow.controller.peaks.delivered = Bytes::new(113_920);
        flow.controller.peaks.rate = Rate::from_bytes_per_sec(2_514_689);
        flow.call(|c4, cx| c4.congestion(Signal::Loss, cx));
        assert_eq!(flow.controller.nominal, Bytes::new(69_420));
        assert_eq!(flow.controller.peaks.delivered, Bytes::new(85_440));
        assert_eq!(flow.controller.peaks.rate.as_bytes_per_sec(), 1_886_016); // bits truncate later
    }

    #[test]
    fn a_delay_event_of_v2_and_v3_forces_a_recovery_and_reduces_nothing() {
        for version in [Version::V2, Version::V3] {
            let mut flow = Flow::cruising(version, 100_000, 80);
            flow.rtts(7, 200);
            assert_eq!(flow.controller.state, State::Recovery);
            assert_eq!(flow.controller.nominal, Bytes::new(100_000));
            assert!(flow.controller.growth.congested_by_delay);
        }
    }

    #[test]
    fn the_repaired_v2_reduces_by_the_excess_over_the_threshold_up_to_a_quarter() {
        // threshold 10 ms: an RTT of 91 ms exceeds it by 1 ms, 102/1024 ; 200 ms by far more
        for (rtt, left) in [(91, 90_040), (200, 75_000)] {
            let mut flow = Flow::cruising(Version::V2, 100_000, 80);
            flow.controller.slips = Slips::REPAIRED;
            flow.rtts(7, rtt);
            assert_eq!(flow.controller.nominal, Bytes::new(left), "{rtt}");
        }
    }

    #[test]
    fn congestion_in_a_push_costs_the_push_and_nothing_else() {
        let mut flow = Flow::cruising(Version::V1, 100_000, 80);
        flow.controller.growth.good_pushes = 2;
        flow.call(|c4, cx| c4.enter_push(cx));
        flow.call(|c4, cx| c4.congestion(Signal::Loss, cx));
        assert_eq!(
            (flow.controller.state, flow.controller.nominal),
            (State::Recovery, Bytes::new(100_000))
        );
        assert_eq!(flow.controller.growth.good_pushes, 0);
        assert_eq!(flow.controller.window, Bytes::new(89_941)); // 100 000*921/1024 after a strong push
    }

    #[test]
    fn a_recovery_ignores_further_signals_but_remembers_them() {
        let mut flow = Flow::cruising(Version::V1, 100_000, 80);
        flow.call(|c4, cx| c4.enter_recovery(None, cx));
        flow.call(|c4, cx| c4.congestion(Signal::Loss, cx));
        flow.call(|c4, cx| c4.congestion(Signal::Delay(micros(200_000)), cx));
        assert_eq!(flow.controller.nominal, Bytes::new(100_000));
        assert!(flow.controller.growth.congested && flow.controller.growth.congested_by_delay);
        assert!(!flow.controller.startup_done);
    }

    #[test]
    fn delay_counts_once_more_in_a_recovery_that_losses_began() {
        let mut flow = Flow::cruising(Version::V1, 100_000, 80);
        flow.call(|c4, cx| c4.congestion(Signal::Loss, cx));
        assert_eq!(flow.controller.nominal, Bytes::new(75_000));
        for _ in 0..2 {
            flow.call(|c4, cx| c4.congestion(Signal::Delay(micros(120_000)), cx));
            assert_eq!(flow.controller.nominal, Bytes::new(37_500)); // once: it is a delay recovery now
        }
    }

    #[test]
    fn losses_from_before_the_recovery_are_ignored() {
        let mut flow = Flow::cruising(Version::V1, 100_000, 80);
        flow.losses(flow.path.next_packet, 3);
        assert_eq!(flow.controller.nominal, Bytes::new(75_000));
        let rate = flow.controller.losses.rate();
        flow.controller.era.first = 1_000_000;
        flow.losses(999_999, 1);
        assert_eq!(flow.controller.losses.rate(), rate);
    }

    #[test]
    fn the_nominal_window_stays_at_the_minimum_or_above() {
        let mut flow = Flow::cruising(Version::V1, 4000, 80);
        flow.call(|c4, cx| c4.congestion(Signal::Delay(micros(900_000)), cx));
        assert_eq!(flow.controller.nominal, WINDOW_MINIMUM);
    }

    #[test]
    fn a_ce_mark_is_congestion_at_once() {
        let mut flow = Flow::cruising(Version::V1, 100_000, 80);
        flow.report_ecn(EcnCounts::default());
        assert_eq!(
            (flow.controller.state, flow.controller.nominal),
            (State::Recovery, Bytes::new(75_000))
        );
        assert!(flow.controller.startup_done);
    }
}
