//! The monotonic clock, as time since a chosen start.
#![allow(unsafe_code)]

use thalweg_units::{Duration, Instant};

/// `CLOCK_MONOTONIC`, counted from the creation of the clock. It is never set; processes that share
/// the start agree on the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: u64,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Clock { start: monotonic() }
    }

    /// The clock that was started at this value of `CLOCK_MONOTONIC`.
    pub(crate) fn started_at(start: Duration) -> Self {
        Clock {
            start: start.as_nanos(),
        }
    }

    /// Time since the start.
    pub(crate) fn now(&self) -> Instant {
        Instant::from_nanos(monotonic().saturating_sub(self.start))
    }

    /// The value of `CLOCK_MONOTONIC` at a time of this clock, for timers.
    pub(crate) fn absolute(&self, at: Instant) -> Duration {
        Duration::from_nanos(self.start.saturating_add(at.as_nanos()))
    }
}

fn monotonic() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid output. The clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
