//! What is left of a trial at its end.

use super::Network;
use crate::outcome::Outcome;
use crate::outcome::summary::Summary;
use crate::outcome::trace::{Recorder, Trace};
use crate::scenario::Scenario;
use std::sync::atomic::{AtomicBool, Ordering};
use thalweg_path::Link;
use thalweg_units::Instant;

impl Network {
    /// The first entry of a controller into a state that a change of the path follows, with the place of the change.
    pub(crate) fn first_entry(&self) -> Option<(usize, Instant)> {
        let watching = self.recorder.as_deref().and_then(Recorder::watching);
        watching.and_then(|watching| watching.first_entry())
    }

    /// The outcome; `None` if it was stopped.
    pub(crate) fn finish(
        mut self,
        scenario: &Scenario,
        stop: &AtomicBool,
    ) -> Option<(Outcome, Option<Trace>)> {
        for link in &mut self.links {
            link.advance(self.now);
        }
        let mut series = self.series.take();
        if let Some(series) = &mut series {
            let bins = series.lengthen(self.now);
            let goes_on = || !stop.load(Ordering::Relaxed);
            let capacity = |link: &Link<_>| link.capacity_in_bins(series.every, bins, goes_on);
            series.capacity = self.links.iter().map(capacity).collect::<Option<_>>()?;
        }
        let flows = self.progress.iter().map(|flow| flow.connections.clone());
        let summary = Summary {
            scenario,
            seed: self.seed,
            events: self.events,
            hash: self.hash,
            now: self.now,
            links: &self.links,
            connections: &self.connections,
            flows: flows.collect(),
            overlap: [&self.overlap_start, &self.overlap_end],
            begun: self.begun.take(),
        };
        let mut outcome = summary.outcome(series);
        if let Some(recorder) = &mut self.recorder {
            recorder.conclude(self.now, &mut self.links, &mut outcome);
        }
        let (links, end) = (&mut self.links, self.now);
        let trace =
            (self.recorder).and_then(|recorder| recorder.finish(&self.connections, links, end));
        Some((outcome, trace))
    }
}
