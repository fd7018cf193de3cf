//! Samples of the links at regular times, and their drops: the link part of a trace.

use super::frame::Frame;
use thalweg_path::Link;
use thalweg_sim::Trace;
use thalweg_units::{Duration, Instant};

/// Samples and drops so far.
#[derive(Debug)]
pub(crate) struct Samples {
    every: Duration,
    /// When to sample next.
    pub(crate) next: Instant,
    pub(crate) trace: Trace,
}

impl Samples {
    /// No samples yet; a period of zero counts as a nanosecond.
    pub(crate) fn every(every: Duration) -> Self {
        Samples {
            every: every.max(Duration::from_nanos(1)),
            next: Instant::START,
            trace: Trace::default(),
        }
    }

    /// Samples both links.
    pub(crate) fn take(&mut self, now: Instant, links: [&mut Link<Frame>; 2]) {
        for (index, link) in links.into_iter().enumerate() {
            self.trace.sample_link(now, index, link);
        }
        // A late sample does not shift later ones, and missed samples are skipped.
        let missed = (now - self.next).as_nanos() / self.every.as_nanos();
        self.next += self.every * (missed + 1);
    }
}
