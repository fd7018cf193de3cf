//! Rate-Limited Increase: how far the window of a sender that lacks data may grow (draft-ietf-ccwg-ratelimited-increase-11).
//!
//! The sender remembers the largest flight since its last reduction, maxFS, the initial window at first. Whenever less than
//! a window is in flight, its window is at most what the algorithm would reach from maxFS with the acknowledgements of
//! maxFS bytes: limit(maxFS), section 3. The draft replaces the rule of RFC 9002 section 7.8, by which such a window does
//! not grow at all (section 4.3), which is more conservative. It also lowers a window that has outgrown the flights
//! since the last reduction.
//!
//! # Limits
//! The flight is measured when acknowledgements arrive: just before each, or after it if the window was reduced
//! meanwhile.

use crate::PathState;
use crate::event::Ack;
use thalweg_units::Bytes;

/// What the option of that name does, for lists.
pub(crate) const MEANING: &str = "an application-limited window may grow to what its largest flight would earn \
                                  (draft-ietf-ccwg-ratelimited-increase-11) instead of not at all (RFC 9002 section 7.8)";

/// The largest flight since the last reduction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LargestFlight {
    /// maxFS; `None` from a reduction to the next measurement.
    largest: Option<Bytes>,
}

impl LargestFlight {
    pub(crate) fn new(initial_window: Bytes) -> Self {
        LargestFlight {
            largest: Some(initial_window),
        }
    }

    /// The window was reduced.
    pub(crate) fn on_reduction(&mut self) {
        self.largest = None;
    }

    /// An ACK: the largest flight by now, if the window was not in use before.
    pub(crate) fn on_ack(&mut self, ack: &Ack, path: &PathState, window: Bytes) -> Option<Bytes> {
        let largest = match self.largest {
            Some(largest) => largest.max(ack.prior_in_flight),
            None => path.bytes_in_flight,
        };
        self.largest = Some(largest);
        (ack.prior_in_flight < window).then_some(largest)
    }
}
