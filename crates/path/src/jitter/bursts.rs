//! Aggregation: packets wait for the next release, and come out together.
//!
//! # Model
//! Releases are at the multiples of an interval from the start of the trial. A packet whose last bit has been sent waits for the
//! next one; one that ends at a release goes with it. So a link, or the way of acknowledgements, that aggregates is smooth
//! in its mean rate and bursty in its arrivals.
//!
//! # Limits
//! All that is ready goes with a release, however much. All links have the same releases. Nothing is random: the delay follows
//! from the time of transmission, and is uniform where that is.

use thalweg_units::{Duration, Instant};

/// The extra delay of a packet whose last bit leaves at `at`.
pub(super) fn delay(every: Duration, at: Instant) -> Duration {
    let (every, at) = (every.as_nanos().max(1), at.as_nanos());
    match at % every {
        0 => Duration::ZERO,
        since => Duration::from_nanos(every - since),
    }
}
