//! The pacing of a window in the early C4: the shared [`WindowPacing`], but with a deep bucket while it
//! does not pace.
//!
//! Below eight packets the peer charges a nanosecond for each packet and keeps an allowance of one smoothed
//! RTT. Here that is a rate of one packet each nanosecond, and the allowance is still there when pacing
//! begins. The shared form, [`UNPACED`](crate::window_pacing::UNPACED), begins to pace with next to none.

use crate::PathState;
use crate::window_pacing::WindowPacing;
use thalweg_units::{Bytes, Duration, Rate};

/// Pacing for `window` on the path as it is. `startup` is the slow-start phase, here the Initial state.
pub(super) fn of_window(window: Bytes, path: &PathState, startup: bool) -> WindowPacing {
    match WindowPacing::applies_to(window, path) {
        true => WindowPacing::of(window, path, startup),
        false => unpaced(window, path.mtu, path.smoothed_rtt),
    }
}

/// No pacing: the window alone decides.
pub(super) fn unpaced(window: Bytes, mtu: Bytes, smoothed_rtt: Duration) -> WindowPacing {
    let rate = Rate::over(mtu.max(Bytes::new(1)), Duration::from_nanos(1));
    WindowPacing {
        rate,
        quantum: rate.bytes_in(smoothed_rtt).max(window),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: Bytes = Bytes::new(1440);

    #[test]
    fn below_eight_packets_an_rtt_of_allowance_waits_for_pacing_to_begin() {
        let mut path = PathState::new(MTU);
        path.smoothed_rtt = Duration::from_millis(80);
        let small = of_window(Bytes::new(11_519), &path, false);
        // 1440 bytes each nanosecond; 80 000 000 packets, one for each nanosecond of the RTT
        assert_eq!(small.rate.as_bytes_per_sec(), 1_440_000_000_000);
        assert_eq!(small.quantum, MTU * 80_000_000);
        let paced = of_window(Bytes::new(11_520), &path, false);
        assert_eq!(paced.rate.as_bytes_per_sec(), 144_000); // 11 520 / 0.08 s
        assert_eq!(paced, WindowPacing::of(Bytes::new(11_520), &path, false));
    }

    #[test]
    fn without_an_rtt_the_window_may_leave_at_once() {
        let pacing = unpaced(Bytes::new(15_360), MTU, Duration::ZERO);
        assert_eq!(pacing.quantum, Bytes::new(15_360));
    }
}
