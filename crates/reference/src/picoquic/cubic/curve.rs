//! The window function, and windows as real numbers of packets.

use super::Cubic;
use thalweg_control::PathState;
use thalweg_units::{Bytes, Instant};

pub(super) const C: f64 = 0.4;

impl Cubic {
    /// W(t) in packets.
    pub(super) fn cubic_window(&self, now: Instant) -> f64 {
        let x = now.since(self.epoch).as_secs_f64() - self.k;
        self.w_max + C * x * x * x
    }
}

pub(super) fn packets(window: Bytes, path: &PathState) -> f64 {
    window.as_u64() as f64 / path.mtu.as_u64().max(1) as f64
}

/// Negative windows, which the curve gives before its start, are zero.
pub(super) fn bytes(packets: f64, path: &PathState) -> Bytes {
    Bytes::new((packets * path.mtu.as_u64() as f64) as u64)
}

/// The peer's cube root: the next power of two and three steps of Newton's method, up to 1 % too large.
pub(super) fn cube_root(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 || x.is_infinite() {
        return 0.0;
    }
    let (mut root, mut cube) = (1.0, 1.0);
    while cube > x * 8.0 {
        root /= 2.0;
        cube /= 8.0;
    }
    while cube < x {
        root *= 2.0;
        cube *= 8.0;
    }
    for _ in 0..3 {
        root += (x - root * root * root) / (3.0 * root * root);
    }
    root
}
