//! Fallback to the response of a Classic controller behind a queue with classic ECN marking,
//! for the option `classic_fallback`.
//!
//! RFC 9331 section 4.3 requires senders to detect a shared queue that marks ECT(1) as classic ECN, to which a
//! Classic sender would respond far more strongly than Prague. The queue distinguishes the two: one
//! for L4S marks at about a millisecond. The Linux implementation scores the depth and the variation of
//! the queue (references of 2 ms and 0.75 ms) over many round trips, and then keeps alpha at 0.6 or more;
//! it is off by default, as here.
//!
//! Here only the depth decides, at each mark: smoothed RTT above minimum RTT by more than 2 ms. The mark
//! then reduces at least as much as a loss (RFC 3168 section 5).
//!
//! # Limits
//! Jitter and a longer route look like a queue, and make Prague a Classic controller. A fair queue with a
//! classic AQM triggers the fallback without needing it.

use crate::PathState;
use thalweg_units::Duration;

/// Largest delay of a queue for L4S: D0 of the Linux implementation.
const DEPTH: Duration = Duration::from_millis(2);

/// The fallback, if enabled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Classic {
    /// With this alpha a mark reduces as much as a loss.
    least_alpha: Option<f64>,
}

impl Classic {
    /// A loss leaves `loss_factor` of the window, a mark `1 - alpha / 2`.
    pub(super) fn new(wanted: bool, loss_factor: f64) -> Self {
        Classic {
            least_alpha: wanted.then_some(2.0 * (1.0 - loss_factor)),
        }
    }

    /// The alpha of a mark.
    pub(super) fn alpha(&self, alpha: f64, path: &PathState) -> f64 {
        match self.least_alpha {
            Some(least) if path.smoothed_rtt > path.min_rtt + DEPTH => alpha.max(least),
            _ => alpha,
        }
    }
}
