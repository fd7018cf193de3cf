//! Virtual time as the instants of the stack.
//!
//! The stack takes `std::time::Instant`, of which only differences matter. An epoch read once is
//! the start of the trial; every other instant is that plus virtual nanoseconds, so nothing depends on when a
//! trial runs. If the system's instants are coarser than a nanosecond, times are rounded to them.

use std::time;
use thalweg_units::Instant;

/// Turns virtual instants into the instants of the standard library and back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    epoch: time::Instant,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Clock {
            epoch: time::Instant::now(),
        }
    }

    pub(crate) fn real(self, instant: Instant) -> time::Instant {
        self.epoch + time::Duration::from_nanos(instant.as_nanos())
    }

    pub(crate) fn virtual_time(self, instant: time::Instant) -> Instant {
        Instant::START + instant.saturating_duration_since(self.epoch).into()
    }
}
