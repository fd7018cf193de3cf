//! Connection flow control (RFC 9000 section 4) with windows that are auto-tuned, or stay as they are.

use std::num::NonZero;
use thalweg_control::PathState;
use thalweg_units::Duration;

/// Windows grow in proportion to paths longer than this.
const NOMINAL_RTT: Duration = Duration::from_millis(100);
/// ... up to the RTT of a geostationary satellite.
const LONGEST_RTT: Duration = Duration::from_millis(610);

/// The limit that replaces `limit` once half of it is used: three times as much on ordinary
/// paths, `1 + rtt / 100 ms` times as much on longer ones (reference behaviour).
pub(crate) fn grown(limit: u64, min_rtt: Duration) -> u64 {
    if min_rtt <= NOMINAL_RTT {
        return limit.saturating_mul(3);
    }
    let more = min_rtt
        .min(LONGEST_RTT)
        .mul_div(limit, NOMINAL_RTT.as_nanos());
    limit.saturating_add(more.as_nanos())
}

/// Parts of a fixed window after which a receiver renews it. With two, a packet too many before an update leaves the sender
/// without credit for the next, and it gets half a window in each round trip; with more, all but one part.
const PARTS: u64 = 16;

/// The peer's limit on what a connection may send.
#[derive(Debug)]
pub(crate) struct Credit {
    /// New stream bytes sent.
    pub(crate) sent: u64,
    /// The peer's limit.
    pub(crate) limit: u64,
}

impl Credit {
    pub(crate) fn new(window: u64) -> Self {
        Credit {
            sent: 0,
            limit: window,
        }
    }

    /// How many new bytes may be sent.
    #[inline]
    pub(crate) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.sent)
    }
}

/// The limit of a connection on what its peer may send.
#[derive(Debug)]
pub(crate) struct Granted {
    /// Stream bytes received, and how many are allowed.
    received: u64,
    limit: u64,
    /// With how many received bytes the limit is renewed.
    renewed_at: u64,
    /// The window, if it does not grow.
    fixed: Option<NonZero<u64>>,
    /// A MAX_DATA frame is due.
    pub(crate) pending: bool,
}

impl Granted {
    /// A window that grows, or a `fixed` one.
    pub(crate) fn new(window: u64, fixed: Option<u64>) -> Self {
        let window = fixed.unwrap_or(window);
        Granted {
            received: 0,
            limit: window,
            renewed_at: window / if fixed.is_some() { PARTS } else { 2 },
            fixed: fixed.and_then(NonZero::new),
            pending: false,
        }
    }

    /// New bytes have arrived.
    pub(crate) fn on_received(&mut self, bytes: u64, path: &PathState) {
        self.received += bytes;
        if self.received >= self.renewed_at {
            self.renew(path);
        }
    }

    /// Opens the window again, for what the receiver has been given, it has read: one that grows once half of it is used.
    #[cold]
    fn renew(&mut self, path: &PathState) {
        self.limit = match self.fixed {
            Some(window) => self.received + window.get(),
            None => grown(self.limit, path.min_rtt),
        };
        self.renewed_at = match self.fixed {
            Some(window) => self.received + window.get() / PARTS,
            None => self.limit / 2,
        };
        self.pending = true;
    }

    /// Whether this many new bytes leave the limit unchanged.
    #[inline]
    pub(crate) fn covers(&self, bytes: u64) -> bool {
        !self.pending && self.received + bytes < self.renewed_at
    }

    /// New bytes have arrived that the limit covers.
    #[inline]
    pub(crate) fn append(&mut self, bytes: u64) {
        self.received += bytes;
    }

    /// The limit for a MAX_DATA frame; clears the pending flag.
    pub(crate) fn take_update(&mut self) -> u64 {
        self.pending = false;
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Bytes, Instant};

    #[test]
    fn windows_triple_and_grow_faster_on_satellite_paths() {
        assert_eq!(grown(1 << 20, Duration::from_millis(80)), 3 << 20);
        assert_eq!(grown(1000, Duration::from_millis(600)), 7000);
        assert_eq!(grown(1000, Duration::from_secs(5)), 7100);
    }

    #[test]
    fn half_of_the_window_opens_the_next() {
        let path = PathState::new(Bytes::new(1252), Instant::START);
        let mut granted = Granted::new(1000, None);
        granted.on_received(499, &path);
        assert!(!granted.pending);
        granted.on_received(1, &path);
        assert!(granted.pending);
        assert_eq!((granted.take_update(), granted.pending), (3000, false));
    }

    #[test]
    fn a_fixed_window_moves_and_does_not_grow() {
        let path = PathState::new(Bytes::new(1252), Instant::START);
        let mut granted = Granted::new(9999, Some(1000));
        granted.on_received(61, &path);
        assert!(!granted.pending);
        granted.on_received(9, &path);
        assert_eq!((granted.pending, granted.take_update()), (true, 1070));
        // A sixteenth of 1000 is 62.
        assert!(granted.covers(61) && !granted.covers(62));
        granted.on_received(62, &path);
        assert_eq!(granted.take_update(), 1132);
    }
}
