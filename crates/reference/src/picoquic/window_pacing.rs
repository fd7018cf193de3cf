//! Pacing derived from the window, as picoquic does it for window-based algorithms (picoquic-transport.md
//! section 7: "window mode").
//!
//! Below eight packets the peer does not pace: packets are ACK-clocked. Its bucket
//! then charges one nanosecond per packet and holds one smoothed RTT, which remains when pacing
//! resumes. The controller interface cannot express "unpaced", so this reports a rate of one
//! packet per nanosecond, and a quantum of as many packets as the smoothed RTT has nanoseconds.

use thalweg_control::{Init, PathState};
use thalweg_units::{Bytes, Duration, Rate};

/// Windows below this many packets are clocked by acknowledgements.
const PACED_PACKETS: u64 = 8;
/// Largest burst, in packets, outside the slow start of a long path.
const BURST_PACKETS: u64 = 16;
/// RTT above which slow start sends longer bursts.
const LONG_RTT: Duration = Duration::from_millis(60);
/// Smallest burst of slow start on such a path.
const LONG_RTT_BURST: Bytes = Bytes::new(32_768);
/// Time that a longer burst of slow start may take at the pacing rate.
const LONG_RTT_BURST_TIME: Duration = Duration::from_millis(15);

/// Pacing rate and quantum of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowPacing {
    /// Pacing rate, never zero.
    pub rate: Rate,
    /// The largest burst.
    pub quantum: Bytes,
}

impl WindowPacing {
    /// Before the first event of the controller: no pacing, with credit of at most a window.
    pub fn initial(init: &Init) -> Self {
        WindowPacing {
            quantum: init.initial_window.max(init.mtu),
            ..WindowPacing::unpaced(init.mtu, Duration::ZERO)
        }
    }

    /// Pacing of the first flight: the peer's server runs its default algorithm, NewReno, until the first
    /// request arrives, and the algorithm that replaces it then sets no pacing before its first event
    /// (picoquic-transport.md section 2).
    pub fn of_first_flight(initial_window: Bytes, path: &PathState) -> Self {
        WindowPacing::of(initial_window, path, true)
    }

    /// Pacing for `window` on the path as it is. `slow_start` paces a quarter faster.
    pub fn of(window: Bytes, path: &PathState, slow_start: bool) -> Self {
        let (mtu, srtt) = (path.mtu, path.smoothed_rtt);
        if window < mtu * PACED_PACKETS || srtt <= Duration::from_micros(1) {
            return WindowPacing::unpaced(mtu, srtt);
        }
        let mut rate = Rate::over(window, srtt);
        // The window is at least eight packets, so a quarter of it is at least the peer's floor of two.
        let mut quantum = window / 4;
        if slow_start && srtt > LONG_RTT {
            quantum = match quantum < LONG_RTT_BURST {
                true => LONG_RTT_BURST,
                false => quantum.max(rate.bytes_in(LONG_RTT_BURST_TIME)),
            };
        } else {
            quantum = quantum.min(mtu * BURST_PACKETS);
        }
        if slow_start {
            rate = rate.mul_div(5, 4);
        }
        WindowPacing { rate, quantum }.at_least_a_packet_per_rtt(path)
    }

    /// The peer spaces packets by no more than the smoothed RTT, whatever the rate.
    pub fn at_least_a_packet_per_rtt(self, path: &PathState) -> Self {
        let least = Rate::over(path.mtu, path.smoothed_rtt).max(Rate::from_bits_per_sec(1));
        WindowPacing {
            rate: self.rate.max(least),
            ..self
        }
    }

    /// Time that the pacer charges for a full packet: the peer's `packet_time`.
    pub fn packet_time(&self, mtu: Bytes) -> Duration {
        self.rate.time_for(mtu).max(Duration::from_nanos(1))
    }

    fn unpaced(mtu: Bytes, srtt: Duration) -> Self {
        WindowPacing {
            rate: Rate::over(mtu.max(Bytes::new(1)), Duration::from_nanos(1)),
            quantum: mtu * srtt.as_nanos().max(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Instant;

    fn path(srtt_ms: u64) -> PathState {
        let mut path = PathState::new(Bytes::new(1440), Instant::START);
        path.smoothed_rtt = Duration::from_millis(srtt_ms);
        path
    }

    #[test]
    fn windows_below_eight_packets_are_not_paced() {
        let small = WindowPacing::of(Bytes::new(8 * 1440 - 1), &path(40), true);
        // 1440 bytes each nanosecond
        assert_eq!(small.rate, Rate::from_bytes_per_sec(1_440_000_000_000));
        // 40 ms = 40 000 000 ns, one packet each
        assert_eq!(small.quantum, Bytes::new(1440 * 40_000_000));
        let enough = WindowPacing::of(Bytes::new(8 * 1440), &path(40), false);
        // 11 520 bytes in 40 ms = 288 000 bytes/s; a quarter of the window leaves at once
        assert_eq!(enough.rate, Rate::from_bytes_per_sec(288_000));
        assert_eq!(enough.quantum, Bytes::new(2 * 1440));
    }

    #[test]
    fn slow_start_paces_a_quarter_faster_in_bursts_of_up_to_sixteen_packets() {
        let pacing = WindowPacing::of(Bytes::new(100_000), &path(50), true);
        // 100 000 bytes in 50 ms = 2 MB/s, times 1.25; a quarter is 25 000 > 16 * 1440 = 23 040
        assert_eq!(pacing.rate, Rate::from_bytes_per_sec(2_500_000));
        assert_eq!(pacing.quantum, Bytes::new(23_040));
        // 1440 bytes at 2.5 MB/s = 576 us
        assert_eq!(
            pacing.packet_time(Bytes::new(1440)),
            Duration::from_micros(576)
        );
    }

    #[test]
    fn slow_start_on_a_long_path_sends_longer_bursts() {
        let burst = |window, slow| WindowPacing::of(Bytes::new(window), &path(100), slow).quantum;
        assert_eq!(burst(40_000, true), Bytes::new(32_768));
        assert_eq!(burst(40_000, false), Bytes::new(10_000));
        // A quarter of 400 000 is 100 000; 15 ms at 4 MB/s are 60 000: the quarter is larger.
        assert_eq!(burst(400_000, true), Bytes::new(100_000));
        assert_eq!(burst(400_000, false), Bytes::new(23_040));
    }

    #[test]
    fn the_rate_is_never_zero() {
        let mut endless = path(1);
        endless.smoothed_rtt = Duration::MAX;
        assert!(
            !WindowPacing::of(Bytes::new(20_000), &endless, false)
                .rate
                .is_zero()
        );
        endless.smoothed_rtt = Duration::ZERO;
        let unpaced = WindowPacing::of(Bytes::new(20_000), &endless, false);
        assert_eq!(
            unpaced.packet_time(Bytes::new(1440)),
            Duration::from_nanos(1)
        );
    }

    #[test]
    fn at_first_one_window_may_leave_at_once() {
        let pacing = WindowPacing::initial(&Init {
            now: thalweg_units::Instant::START,
            mtu: Bytes::new(1440),
            initial_window: Bytes::new(15_360),
            media: None,
        });
        assert_eq!(pacing.quantum, Bytes::new(15_360));
        assert_eq!(
            pacing.packet_time(Bytes::new(1440)),
            Duration::from_nanos(1)
        );
    }
}
