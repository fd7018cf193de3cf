//! Window and pacing from the state and the nominal window.
//!
//! v1 writes the window where the state changes and keeps it in between; the transport's window pacing
//! follows it. v2 and v3 compute the window after each ACK, and under chaotic jitter take their peaks
//! into it and pace by rate. Source: c4-history.md section 2.4 (v1), section 4 (`apply`).
//!
//! The author's paper describes the window of v2 as `high * alpha`, also in a pig war; the code takes the
//! larger of `alpha * nominal` and `high`, under chaotic jitter only, and that is what runs here.

use super::constants::QUANTUM_MAX;
use super::initial::half_peak_window;
use super::{EarlyC4, State, Version};
use thalweg_control::Context;
use thalweg_control::coefficient::Coefficient;
use thalweg_reference::WindowPacing;
use thalweg_units::{Bytes, Rate};

/// The largest values that v2 and v3 have seen. Neither Initial nor a new minimum RTT resets them; only
/// losses outside a push lower them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Peaks {
    /// Most that was delivered in the round trip of one packet, uncorrected (`high`).
    pub(super) delivered: Bytes,
    /// Highest rate (`nominal_rate`).
    pub(super) rate: Rate,
}

impl Peaks {
    pub(super) fn reduce(&mut self, beta: Coefficient) {
        self.delivered -= beta.of_size(self.delivered);
        self.rate = self.rate - beta.of_rate(self.rate);
    }
}

impl EarlyC4 {
    /// Takes the delivery of an ACK into the peaks.
    ///
    /// Slip: the delivery is divided by the newest RTT. When a burst was delayed by jitter and is
    /// acknowledged with a small last RTT, the quotient exceeds the capacity of the link many times over,
    /// so pacing by it is ineffective and `high` limits the flow.
    pub(super) fn raise_peaks(&mut self, delivered: Bytes, cx: &Context<'_>) {
        self.peaks.delivered = self.peaks.delivered.max(delivered);
        if !cx.path.latest_rtt.is_zero() {
            self.peaks.rate = self.peaks.rate.max(Rate::over(delivered, Self::sample(cx)));
        }
    }

    /// A state of v1 writes the window; v2 and v3 leave that to [`update_output`](Self::update_output).
    pub(super) fn write_window(&mut self, window: Bytes) {
        if self.version.writes_window_on_change() {
            self.window = window;
        }
    }

    /// The least nominal window is two packets of 1536 bytes, which a slowdown halves and larger packets exceed: the
    /// window itself is never below two packets (RFC 9002 section 7.2).
    pub(super) fn keep_minimum(&mut self, cx: &Context<'_>) {
        self.window = self.window.max(cx.path.mtu * 2);
    }

    /// Updates window and pacing.
    pub(super) fn update_output(&mut self, cx: &Context<'_>) {
        if !self.version.writes_window_on_change() {
            self.window = self.computed_window(cx);
        }
        self.keep_minimum(cx);
        self.pacing = if self.paces_by_rate() {
            let quantum = (self.window / 4).min(QUANTUM_MAX).max(cx.path.mtu * 2);
            WindowPacing {
                rate: self.alpha.of_rate(self.peaks.rate),
                quantum,
            }
            .at_least_a_packet_per_rtt(cx.path)
        } else {
            let initial = self.state == State::Initial;
            WindowPacing::of(self.window, cx.path, initial)
        };
    }

    /// v2 and v3 under chaotic jitter, outside Initial.
    fn paces_by_rate(&self) -> bool {
        !self.version.writes_window_on_change() && self.chaotic.on && self.state != State::Initial
    }

    /// The window of v2 and v3.
    fn computed_window(&self, cx: &Context<'_>) -> Bytes {
        let mut window = self.alpha.of_size(self.nominal);
        if self.state == State::Initial {
            if self.startup.events > 0 {
                window = window.max(half_peak_window(cx));
            }
            if let Some(seed) = self.startup.seed.filter(|seed| *seed > window) {
                window = (seed + window) / 2;
            }
        }
        if self.state == State::Pushing {
            window = window.max(self.nominal + cx.path.mtu);
        }
        if self.paces_by_rate() {
            self.widened(window)
        } else {
            window
        }
    }

    /// v2: no less than the most ever delivered. v3: half of its distance to the nominal window more.
    fn widened(&self, window: Bytes) -> Bytes {
        match self.version {
            Version::V3 => window + (self.peaks.delivered - self.nominal) / 2,
            _ => window.max(self.peaks.delivered),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Flow, VERSIONS};
    use super::*;
    use thalweg_units::Duration;

    /// Nominal 60 000, high 100 000, rate 1 MB/s, chaotic, cruising.
    fn chaotic(version: Version) -> Flow {
        let mut flow = Flow::cruising(version, 60_000, 80);
        flow.controller.chaotic.on = true;
        flow.controller.peaks.delivered = Bytes::new(100_000);
        flow.controller.peaks.rate = Rate::from_bytes_per_sec(1_000_000);
        flow.call(|c4, cx| c4.update_output(cx));
        flow
    }

    #[test]
    fn chaotic_jitter_widens_v2_to_the_peak_and_v3_half_way() {
        let window = |version| chaotic(version).control().window.as_u64();
        assert_eq!(window(Version::V1), 60_000);
        assert_eq!(window(Version::V2), 100_000);
        assert_eq!(window(Version::V3), 80_000); // 60 000 + (100 000 - 60 000)/2
    }

    #[test]
    fn a_push_of_v2_beyond_the_peak_exceeds_it_and_v3_adds_to_the_push() {
        for (version, window) in [(Version::V2, 120_000), (Version::V3, 122_000)] {
            let mut flow = chaotic(version);
            flow.controller.nominal = Bytes::new(96_000);
            flow.controller.growth.good_pushes = 1;
            flow.call(|c4, cx| c4.enter_push(cx));
            flow.call(|c4, cx| c4.update_output(cx));
            assert_eq!(flow.controller.window, Bytes::new(window)); // 96 000*1.25 (+ 4000/2)
        }
    }

    #[test]
    fn chaotic_jitter_paces_v2_and_v3_by_the_peak_rate() {
        for version in [Version::V2, Version::V3] {
            let control = chaotic(version).control();
            assert_eq!(control.pacing, Some(Rate::from_bytes_per_sec(1_000_000)));
            assert_eq!(control.quantum, control.window / 4);
        }
    }

    #[test]
    fn the_burst_of_rate_pacing_is_a_quarter_window_between_two_packets_and_64_kib() {
        for (nominal, quantum) in [(6000, 2880), (80_000, 20_000), (400_000, 65_536)] {
            let mut flow = chaotic(Version::V2);
            flow.controller.nominal = Bytes::new(nominal);
            flow.controller.peaks.delivered = Bytes::ZERO;
            flow.call(|c4, cx| c4.update_output(cx));
            assert_eq!(flow.control().quantum, Bytes::new(quantum));
        }
    }

    #[test]
    fn without_jitter_all_versions_pace_the_window_over_the_smoothed_rtt() {
        for version in VERSIONS {
            let mut flow = Flow::cruising(version, 80_000, 80);
            flow.call(|c4, cx| c4.update_output(cx));
            let control = flow.control();
            assert_eq!(control.window, Bytes::new(80_000));
            assert_eq!(control.pacing, Some(Rate::from_bytes_per_sec(1_000_000)));
            assert_eq!(control.quantum, Bytes::new(20_000));
        }
    }

    #[test]
    fn in_initial_even_chaotic_jitter_leaves_the_window_in_charge() {
        let mut flow = chaotic(Version::V2);
        flow.call(|c4, cx| c4.enter_initial(cx));
        flow.call(|c4, cx| c4.update_output(cx));
        let control = flow.control();
        assert_eq!(control.window, Bytes::new(120_000)); // 2 * nominal, above high
        // 120 000 B / 80 ms * 1.25
        assert_eq!(control.pacing, Some(Rate::from_bytes_per_sec(1_875_000)));
    }

    #[test]
    fn the_peaks_take_deliveries_uncorrected_and_divide_them_by_the_newest_rtt() {
        let mut flow = Flow::cruising(Version::V2, 60_000, 80);
        flow.deliver(90_000, 200);
        assert_eq!(flow.controller.peaks.delivered, Bytes::new(90_000));
        flow.deliver(80_000, 10); // 80 000 bytes "in 10 ms": 8 MB/s
        assert_eq!(
            flow.controller.peaks.rate,
            Rate::from_bytes_per_sec(8_000_000)
        );
        assert_eq!(flow.controller.peaks.delivered, Bytes::new(90_000));
    }

    #[test]
    fn the_window_of_v1_persists_between_changes_of_state() {
        let mut flow = Flow::cruising(Version::V1, 60_000, 80);
        flow.controller.window = Bytes::new(77_777);
        flow.path.smoothed_rtt = Duration::from_millis(100);
        flow.call(|c4, cx| c4.update_output(cx));
        assert_eq!(flow.control().window, Bytes::new(77_777));
    }
}
