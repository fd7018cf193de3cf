//! Pacing derived from the congestion window, as the transport of the reference does it for controllers
//! that decide a window only ("window mode", transport.md section 7).

use thalweg_units::{Bytes, Duration, Rate};

/// A pacing rate and the most that may leave in one burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pacing {
    /// Rate at which the allowance refills.
    pub(super) rate: Rate,
    /// Size of the allowance.
    pub(super) quantum: Bytes,
}

/// RTT above which the start-up phase gets longer bursts.
const LONG_RTT: Duration = Duration::from_millis(60);
/// Least burst of the start-up phase over such a path.
const LONG_RTT_QUANTUM: Bytes = Bytes::new(32_768);
/// Time that a burst of the start-up phase over such a path may take to leave.
const LONG_RTT_BURST: Duration = Duration::from_millis(15);

impl Pacing {
    /// No pacing: packets follow each other after a nanosecond, so that the window alone decides. The
    /// rate never binds; it is a rate only because the transport would otherwise choose one.
    pub(super) fn unpaced(window: Bytes, mtu: Bytes, smoothed_rtt: Duration) -> Self {
        let rate = Rate::over(mtu.max(Bytes::new(1)), Duration::from_nanos(1));
        Pacing {
            rate,
            quantum: rate.bytes_in(smoothed_rtt).max(window),
        }
    }

    /// The pacing of window mode. `startup` is the slow-start phase, here the Initial state.
    pub(super) fn of_window(
        window: Bytes,
        mtu: Bytes,
        smoothed_rtt: Duration,
        startup: bool,
    ) -> Self {
        if window < mtu * 8 || smoothed_rtt <= Duration::from_micros(1) {
            return Pacing::unpaced(window, mtu, smoothed_rtt);
        }
        let rate = Rate::over(window, smoothed_rtt);
        let quarter = (window / 4).max(mtu * 2);
        let quantum = match startup && smoothed_rtt > LONG_RTT {
            true if quarter < LONG_RTT_QUANTUM => LONG_RTT_QUANTUM,
            true => quarter.max(rate.bytes_in(LONG_RTT_BURST)),
            false => quarter.min(mtu * 16),
        };
        let rate = if startup { rate.mul_div(5, 4) } else { rate };
        Pacing { rate, quantum }.at_least_a_packet_per_rtt(mtu, smoothed_rtt)
    }

    /// The transport spaces packets by no more than the smoothed RTT, whatever the rate.
    pub(super) fn at_least_a_packet_per_rtt(self, mtu: Bytes, smoothed_rtt: Duration) -> Self {
        let floor = Rate::over(mtu, smoothed_rtt).max(Rate::from_bytes_per_sec(1));
        Pacing {
            rate: self.rate.max(floor),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: Bytes = Bytes::new(1440);

    fn pacing(window: u64, rtt_ms: u64, startup: bool) -> (u64, u64) {
        let pacing = Pacing::of_window(
            Bytes::new(window),
            MTU,
            Duration::from_millis(rtt_ms),
            startup,
        );
        (pacing.rate.as_bytes_per_sec(), pacing.quantum.as_u64())
    }

    #[test]
    fn below_eight_packets_nothing_is_paced() {
        assert_eq!(pacing(11_519, 80, false).0, 1_440_000_000_000); // 1440 bytes per nanosecond
        assert_eq!(pacing(11_520, 80, false).0, 144_000); // 11 520 / 0.08 s
    }

    #[test]
    fn outside_startup_a_burst_is_a_quarter_window_up_to_16_packets() {
        assert_eq!(pacing(80_000, 80, false), (1_000_000, 20_000));
        assert_eq!(pacing(200_000, 80, false), (2_500_000, 16 * 1440));
    }

    #[test]
    fn startup_paces_a_quarter_faster_and_bursts_longer_over_long_paths() {
        assert_eq!(pacing(80_000, 80, true), (1_250_000, 32_768)); // 20 000 < 32 768
        assert_eq!(pacing(200_000, 80, true), (3_125_000, 50_000)); // 15 ms of 2.5 MB/s = 37 500
        assert_eq!(pacing(200_000, 60, true), (4_166_666, 16 * 1440)); // 60 ms is not long
    }
}
