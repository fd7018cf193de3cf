//! The period with which a schedule or a trace repeats.

use thalweg_units::Duration;

/// What repeats, as a whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Period {
    pub(super) length: Duration,
    /// Nanobits that can be sent in one period.
    pub(super) work: u128,
    /// Time in one period with a rate above zero.
    pub(super) active: Duration,
}
