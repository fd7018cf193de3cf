//! Small rules that picoquic's algorithms share (picoquic-controllers.md section 1).

use thalweg_control::PathState;
use thalweg_units::{Bytes, Duration};

/// CWND_MINIMUM of the peer: two of its largest packets of 1536 bytes.
const CWND_MINIMUM: Bytes = Bytes::new(3_072);
/// RTT at which the initial window is meant to suffice.
pub(crate) const TARGET_RENO_RTT: Duration = Duration::from_millis(100);
/// Longest RTT that is compensated for: a geostationary satellite.
pub(crate) const TARGET_SATELLITE_RTT: Duration = Duration::from_millis(610);

/// The smallest window: 3072 bytes, or two packets where packets are larger than the peer's can be.
pub(crate) fn minimum_window(path: &PathState) -> Bytes {
    CWND_MINIMUM.max(path.mtu * 2)
}

/// Half of what the highest observed rate delivers in a smoothed RTT ("bandwidth floor").
pub(crate) fn bandwidth_floor(path: &PathState) -> Bytes {
    path.peak_rate.bytes_in(path.smoothed_rtt) / 2
}

/// Initial window scaled to the path ("long-RTT floor"): unchanged up to 100 ms, then in proportion to
/// the minimum RTT up to 610 ms.
pub(crate) fn long_rtt_floor(initial_window: Bytes, path: &PathState) -> Bytes {
    if path.min_rtt <= TARGET_RENO_RTT {
        return Bytes::ZERO;
    }
    let rtt = path.min_rtt.min(TARGET_SATELLITE_RTT);
    initial_window.mul_div(rtt.as_nanos(), TARGET_RENO_RTT.as_nanos())
}

/// Growth of slow start: only while the last attempt to send was stopped by the window ("slow-start
/// increase").
pub(crate) fn slow_start_increase(acked: Bytes, path: &PathState) -> Bytes {
    if path.window_limited {
        acked
    } else {
        Bytes::ZERO
    }
}

/// The peer's "data-limited": the newest acknowledged data left after the sender was last idle.
pub(crate) fn data_limited(path: &PathState) -> bool {
    path.newest_acked_data_sent > path.last_idle
}
