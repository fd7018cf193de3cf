//! All that a trial shows: its outcome and its trace.

use std::fmt::Debug;
use thalweg_sim::{Outcome, Trace};
use thalweg_units::{Duration, Instant, Rate};

/// A trial as it is seen from outside, without the count of events, which is the engine's own affair.
#[derive(Clone)]
pub(crate) struct Portrait {
    pub(crate) outcome: Outcome,
    pub(crate) trace: Trace,
}

impl Portrait {
    pub(crate) fn of(outcome: Outcome, trace: Trace) -> Portrait {
        let outcome = Outcome {
            events: 0,
            series: None,
            ..outcome
        };
        Portrait { outcome, trace }
    }

    /// Moves all times on.
    pub(crate) fn shift(&mut self, by: Duration) {
        let Portrait { outcome, trace } = self;
        let before = outcome.end;
        outcome.end += by;
        for flow in &mut outcome.flows {
            for time in [&mut flow.start, &mut flow.completion, &mut flow.closed] {
                time.iter_mut().for_each(|time| *time += by);
            }
            flow.tripped.iter_mut().for_each(|(time, _)| *time += by);
        }
        for request in &mut outcome.requests {
            request.start += by;
            request.completion.iter_mut().for_each(|time| *time += by);
        }
        for link in &mut outcome.links {
            // The trial is longer, and the link is busy for as long. `shift` leaves shares of a medium out.
            let share = before.as_secs_f64() / outcome.end.as_secs_f64();
            link.utilisation *= share;
        }
        let senders = &mut trace.senders;
        senders.samples.iter_mut().for_each(|row| row.time += by);
        senders.variables.iter_mut().for_each(|row| row.time += by);
        (senders.packets.iter_mut()).for_each(|(_, event)| event.time += by);
        trace.links.iter_mut().for_each(|row| row.time += by);
        trace.drops.iter_mut().for_each(|row| row.time += by);
        trace.held.iter_mut().for_each(|row| row.time += by);
        for frame in &mut trace.frames {
            frame.nominal += by;
            frame.received.iter_mut().for_each(|time| *time += by);
        }
    }

    /// Leaves out the utilisation, of a medium too: its rounding, and that a link which is busy at the end is at most 100 % busy.
    pub(crate) fn without_utilisation(&mut self) {
        for link in &mut self.outcome.links {
            (link.utilisation, link.medium) = (0.0, None);
        }
        for flow in &mut self.outcome.flows {
            flow.utilisation = None;
            // What criteria on links say of it.
            let is_share = |name: &str| {
                name.starts_with("link-utilisation") || name.starts_with("link-airtime")
            };
            flow.watched.retain(|(name, _)| !is_share(name));
        }
    }

    /// Leaves out samples of links, of which there are more where a link is called more often. Noise that takes all of the
    /// capacity is looked at stretch by stretch.
    pub(crate) fn without_link_samples(&mut self) {
        self.trace.links.clear();
    }

    /// Leaves out what links say of a packet that they are sending when the trial ends. They know what becomes of it, and count
    /// it already.
    pub(crate) fn without_last_transmission(&mut self) {
        self.without_utilisation();
        let Portrait { outcome, trace } = self;
        let end = Instant::START + outcome.end;
        trace.drops.retain(|row| row.time <= end);
        let links = outcome.links.iter_mut();
        links.for_each(|link| link.drawn_jitter = Duration::ZERO);
    }

    /// Leaves out how long calls take to recover from changes of the path, which depends on how many changes there are.
    pub(crate) fn without_recovery(&mut self) {
        let flows = self.outcome.flows.iter_mut();
        (flows.flat_map(|flow| &mut flow.media)).for_each(|media| media.recovery = None);
    }

    /// Leaves out the name of a flow that sends nothing. The names of senders of calls stand behind the names of flows.
    pub(crate) fn without_name(&mut self, name: &str) {
        let trace = &mut self.trace;
        let Some(place) = trace.flow_names.iter().position(|of| of == name) else {
            return;
        };
        trace.flow_names.remove(place);
        let senders = &mut trace.senders;
        let samples = senders.samples.iter_mut().map(|row| &mut row.flow);
        let variables = senders.variables.iter_mut().map(|row| &mut row.flow);
        let packets = senders.packets.iter_mut().map(|(flow, _)| flow);
        samples
            .chain(variables)
            .chain(packets)
            .filter(|flow| **flow > place)
            .for_each(|flow| *flow -= 1);
    }

    /// Leaves out what depends on who else takes part.
    pub(crate) fn without_sharing(&mut self) {
        let outcome = &mut self.outcome;
        outcome.overlap = Duration::ZERO;
        outcome.jain = None;
        for flow in &mut outcome.flows {
            flow.shared_bytes = thalweg_units::Bytes::ZERO;
            flow.shared_rate = Rate::ZERO;
            flow.share = None;
            flow.load = None; // while all flows were active
        }
    }

    /// Leaves out what the auditor-like eye on links sees, and keeps what the ends of connections see.
    pub(crate) fn without_links(&mut self) {
        self.outcome.trace_hash = None;
        self.outcome.links.clear();
        self.trace.links.clear();
        self.trace.drops.clear();
        self.trace.held.clear();
        self.trace.link_names.clear();
        for flow in &mut self.outcome.flows {
            flow.packets_dropped = 0;
            flow.packets_policed = 0;
            flow.packets_lost_at_random = 0;
            flow.packets_marked = 0;
            flow.mean_queue_delay = None;
            flow.p95_queue_delay = None;
            flow.p99_queue_delay = None;
            flow.mean_jitter = None;
            flow.utilisation = None;
        }
    }
}

/// The first difference, if there is one.
pub(crate) fn difference(expected: &Portrait, found: &Portrait) -> Option<String> {
    let (a, b) = (&expected.trace, &found.trace);
    let traced = first("sample", &a.senders.samples, &b.senders.samples)
        .or_else(|| first("variable", &a.senders.variables, &b.senders.variables))
        .or_else(|| first("packet", &a.senders.packets, &b.senders.packets))
        .or_else(|| first("link", &a.links, &b.links))
        .or_else(|| first("drop", &a.drops, &b.drops))
        .or_else(|| first("held", &a.held, &b.held))
        .or_else(|| first("frame", &a.frames, &b.frames))
        .or_else(|| first("flow", &a.flow_names, &b.flow_names))
        .or_else(|| first("link", &a.link_names, &b.link_names));
    let (a, b) = (&expected.outcome, &found.outcome);
    traced
        .or_else(|| first("outcome of flow", &a.flows, &b.flows))
        .or_else(|| first("outcome of link", &a.links, &b.links))
        .or_else(|| first("request", &a.requests, &b.requests))
        .or_else(|| {
            let rest = |outcome: &Outcome| Outcome {
                flows: Vec::new(),
                links: Vec::new(),
                requests: Vec::new(),
                ..outcome.clone()
            };
            first("outcome", &[rest(a)], &[rest(b)])
        })
}

/// The first row that differs. Rows are compared as they are written: no number is a number that equals itself.
fn first<T: PartialEq + Debug>(what: &str, expected: &[T], found: &[T]) -> Option<String> {
    let length = expected.len().max(found.len());
    (0..length).find_map(|index| {
        let (a, b) = (expected.get(index), found.get(index));
        let is_same = a == b || format!("{a:?}") == format!("{b:?}");
        (!is_same).then(|| format!("{what} {index} of {length}: expected {a:?}, found {b:?}"))
    })
}
