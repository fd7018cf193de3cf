//! Falling back to the response of a classic controller behind a queue that marks as classic ECN does,
//! for the option `classic_fallback`.
//!
//! RFC 9331 section 4.3 asks for a way to detect a shared queue that marks ECT(1) for congestion that a
//! classic sender would answer with far more than Prague does. What tells the two apart is the queue: one
//! for L4S marks at about a millisecond. The Linux implementation scores the depth and the variation of
//! the queue (references of 2 ms and 0.75 ms) over many round trips, and then keeps alpha at 0.6 or more;
//! its default is off, and so is this one.
//!
//! Here the depth alone decides, at each mark: smoothed RTT over minimum RTT by more than 2 ms. The mark
//! then takes at least what a loss takes (RFC 3168 section 5).
//!
//! # Limits
//! Jitter and a longer route look like a queue, and make Prague a classic controller. A fair queue with a
//! classic AQM does not need the fallback and gets it.

use crate::PathState;
use thalweg_units::Duration;

/// More than this waits in no queue for L4S: D0 of the Linux implementation.
const DEPTH: Duration = Duration::from_millis(2);

/// The fallback, if it is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Classic {
    /// With this alpha a mark takes what a loss takes.
    least_alpha: Option<f64>,
}

impl Classic {
    /// A loss leaves `loss_factor` of the window, a mark `1 - alpha / 2`.
    pub(super) fn new(wanted: bool, loss_factor: f64) -> Self {
        Classic {
            least_alpha: wanted.then_some(2.0 * (1.0 - loss_factor)),
        }
    }

    /// The alpha that a mark goes by.
    pub(super) fn alpha(&self, alpha: f64, path: &PathState) -> f64 {
        match self.least_alpha {
            Some(least) if path.smoothed_rtt > path.min_rtt + DEPTH => alpha.max(least),
            _ => alpha,
        }
    }
}
