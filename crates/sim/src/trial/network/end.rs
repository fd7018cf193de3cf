//! What is left of a trial at its end.

use super::{Ended, Network, medium};
use crate::audit::{AuditError, completion};
use crate::outcome::Outcome;
use crate::outcome::summary::Summary;
use crate::outcome::trace::{Recorder, Trace};
use crate::scenario::{Criterion, Metric, Scenario};
use crate::trial::connection::Connection;
use std::sync::atomic::{AtomicBool, Ordering};
use thalweg_path::Link;
use thalweg_units::Instant;

impl Network {
    /// The first entry of a controller into a state that a change of the path follows, with the place of the change.
    pub(crate) fn first_entry(&self) -> Option<(usize, Instant)> {
        let watching = self.recorder.as_deref().and_then(Recorder::watching);
        watching.and_then(|watching| watching.first_entry())
    }

    /// In a trial without an auditor, which looks at all connections: refuses one that ended before physics allows it.
    /// Looks at connections of libraries, since one may report what its datagrams have not brought, and at connections of flows
    /// with a criterion that are done before its floor.
    pub(super) fn check_floors(&self, scenario: &Scenario) -> Result<(), Ended> {
        let has_floor =
            |criterion: &&Criterion| criterion.floor.is_some() && criterion.metric.is_end();
        let floors: Vec<_> = scenario.criteria.iter().filter(has_floor).collect();
        for connection in &self.connections {
            let real = connection.client.real();
            let of_library = real.filter(|end| end.is_of_library());
            if of_library.is_none()
                && !floors
                    .iter()
                    .any(|one| is_before(scenario, one, connection))
            {
                continue;
            }
            let Err(problem) = completion::check(scenario, connection) else {
                continue;
            };
            if let Some(end) = of_library {
                end.blame(self.now, &problem);
            }
            let name = &scenario.flows[connection.flow].name;
            return Err(Ended::Audit(AuditError {
                seed: self.seed,
                time: self.now,
                element: format!("flow {name}"),
                problem,
            }));
        }
        Ok(())
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
        let media = medium::uses(&mut self.media, &mut self.links, self.now);
        let flows = self.progress.iter().map(|flow| flow.connections.clone());
        let summary = Summary {
            scenario,
            seed: self.seed,
            events: self.events,
            hash: self.hash,
            now: self.now,
            links: &self.links,
            media: &media,
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

/// Whether a connection is done before the floor of a criterion, which counts from the planned start.
fn is_before(scenario: &Scenario, criterion: &Criterion, connection: &Connection) -> bool {
    if criterion.flow != connection.flow {
        return false;
    }
    let end = match criterion.metric {
        Metric::Closed => connection.closed,
        _ => connection.completion,
    };
    let planned = Instant::START + scenario.flows[connection.flow].start;
    let late = connection.start.since(planned);
    criterion
        .floor
        .zip(end)
        .is_some_and(|(floor, end)| end < Instant::START + floor + late)
}
