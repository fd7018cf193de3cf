//! States and variables of controllers, for criteria, and the moments that changes of a path follow.
//!
//! A controller is looked at after each event of its sender that it was informed of. A state that it enters and leaves
//! within one event is not seen. Of a call whose media both ends send both controllers count.

use super::Outcome;
use super::told::{Capacity, ToldSoFar};
use crate::scenario::Scenario;
use crate::scenario::criterion::watch::{Entry, Extreme, Told, Watch, Watched};
use crate::scenario::hop::Direction;
use crate::trial::connection::Connection;
use crate::trial::stack::Endpoint;
use thalweg_control::Observer;
use thalweg_transport::Role;
use thalweg_units::Instant;

/// What criteria and changes look at, and what it has shown so far.
#[derive(Clone, Debug)]
pub(crate) struct Watching {
    /// The flow of each connection, if its controller is looked at.
    flows: Vec<Option<usize>>,
    /// By flow, of its client and of its server.
    states: Vec<[Current; 2]>,
    watches: Vec<Running>,
    entries: Vec<Awaited>,
    /// Kept for its memory.
    glance: Glance,
    /// Bytes of a packet of the links in addition to the payload of UDP.
    overhead: u32,
}

/// The state of a controller.
#[derive(Clone, Copy, Debug, Default)]
struct Current {
    state: &'static str,
    since: Instant,
}

/// A watch of a flow, and its value so far.
#[derive(Clone, Debug)]
struct Running {
    flow: usize,
    watch: Watch,
    value: Option<f64>,
    /// What the client and the server are told, if that is what it looks at.
    told: Option<[ToldSoFar; 2]>,
}

/// An entry that a change follows.
#[derive(Clone, Debug)]
struct Awaited {
    entry: Entry,
    /// Entries so far.
    count: u32,
    at: Option<Instant>,
}

impl Watching {
    /// What a scenario looks at; none if nothing.
    pub(crate) fn new(scenario: &Scenario, connections: &[Connection]) -> Option<Self> {
        let mut watches: Vec<Running> = Vec::new();
        for (flow, watch) in scenario.watches() {
            let is_known = |known: &Running| known.flow == flow && known.watch == *watch;
            if !watches.iter().any(is_known) {
                let value = matches!(watch.what, Watched::Entries { .. }).then_some(0.0);
                let told = match watch.what {
                    Watched::Told(told) => Some(told_of(scenario, flow, watch, told)),
                    _ => None,
                };
                let watch = watch.clone();
                let running = Running {
                    flow,
                    watch,
                    value,
                    told,
                };
                watches.push(running);
            }
        }
        let tied = scenario.hops.iter().flat_map(|hop| &hop.tied);
        let entries = tied.map(|tied| Awaited {
            entry: tied.entry.clone(),
            count: 0,
            at: None,
        });
        let entries: Vec<Awaited> = entries.collect();
        if watches.is_empty() && entries.is_empty() {
            return None;
        }
        let is_watched = |flow: usize| {
            watches.iter().any(|watch| watch.flow == flow)
                || entries.iter().any(|awaited| awaited.entry.flow == flow)
        };
        let flows = connections.iter();
        Some(Watching {
            flows: flows
                .map(|connection| Some(connection.flow).filter(|flow| is_watched(*flow)))
                .collect(),
            states: vec![[Current::default(); 2]; scenario.flows.len()],
            watches,
            entries,
            glance: Glance::default(),
            overhead: scenario.overhead,
        })
    }

    /// Looks at the controller at one end of a connection, which has been informed of something.
    pub(crate) fn sample(
        &mut self,
        now: Instant,
        (connection, end): (usize, Role),
        endpoint: &mut Endpoint,
    ) {
        let Some(flow) = self.flows[connection] else {
            return;
        };
        let glance = &mut self.glance;
        glance.variables.clear();
        endpoint.observe(glance);
        let path = endpoint.path();
        let variables = &mut glance.variables;
        variables.push(("window", endpoint.control().window.as_u64() as f64));
        variables.push(("in_flight", path.bytes_in_flight.as_u64() as f64));
        if path.has_rtt() {
            variables.push(("smoothed_rtt", path.smoothed_rtt.as_secs_f64()));
        }
        if let Some(rate) = endpoint.pacing_rate() {
            variables.push(("pacing_rate", rate.as_bits_per_sec() as f64));
        }
        let before = self.states[flow][end.index()];
        let enters = before.state != glance.state;
        if enters {
            let (state, since) = (glance.state, now);
            self.states[flow][end.index()] = Current { state, since };
            for awaited in self.entries.iter_mut().filter(|one| one.entry.flow == flow) {
                awaited.note(now, state);
            }
        }
        for running in self.watches.iter_mut().filter(|one| one.flow == flow) {
            if enters {
                running.on_change(now, before, glance.state);
            }
            running.on_values(now, glance);
            if let Some(told) = &mut running.told {
                told[end.index()].sample(now, endpoint, self.overhead);
            }
        }
    }

    /// When the first entry that a change follows happened, of those that have; with its place among all.
    pub(crate) fn first_entry(&self) -> Option<(usize, Instant)> {
        let times = self.entries.iter().map(|awaited| awaited.at).enumerate();
        let happened = times.filter_map(|(place, at)| Some((place, at?)));
        happened.min_by_key(|(_, at)| *at)
    }

    /// Adds the values at the end of a trial to its outcome.
    pub(crate) fn conclude(&self, end: Instant, outcome: &mut Outcome) {
        for running in &self.watches {
            let flow = &mut outcome.flows[running.flow];
            let closed = flow.closed.map_or(end, |closed| Instant::START + closed);
            let mut last = running.clone();
            for state in self.states[running.flow] {
                last.on_stay(state, closed.min(end));
            }
            if let Some(told) = last.told {
                last.value = worst_told(told, closed.min(end));
            }
            flow.watched.push((running.watch.column(), last.value));
        }
    }
}

/// What to keep for each end.
fn told_of(scenario: &Scenario, flow: usize, watch: &Watch, told: Told) -> [ToldSoFar; 2] {
    let until = watch
        .until
        .map_or(Instant::NEVER, |until| Instant::START + until);
    let times = (Instant::START + watch.from, until);
    let of = |end: Role| {
        let route = &scenario.flows[flow].route;
        let capacity = Capacity::new(&scenario.hops, route, Direction::from(end));
        ToldSoFar::new(told, capacity, times)
    };
    Role::BOTH.map(of)
}

/// The larger value, of the ends that have one; none if a change was not noticed.
fn worst_told(told: [ToldSoFar; 2], end: Instant) -> Option<f64> {
    let values = told.into_iter().filter_map(|told| told.value(end));
    values.reduce(f64::max).filter(|value| value.is_finite())
}

impl Awaited {
    fn note(&mut self, now: Instant, state: &str) {
        if self.at.is_none() && self.entry.state == state {
            self.count += 1;
            if self.count == self.entry.number {
                self.at = Some(now);
            }
        }
    }
}

impl Running {
    fn counts(&self, at: Instant) -> bool {
        let at = at - Instant::START;
        at >= self.watch.from && self.watch.until.is_none_or(|until| at < until)
    }

    /// The controller goes from one state to another.
    fn on_change(&mut self, now: Instant, before: Current, state: &str) {
        self.on_stay(before, now);
        let is_asked = |wanted: &str, after: &Option<String>| {
            wanted == state && after.as_deref().is_none_or(|after| after == before.state)
        };
        let counts = self.counts(now);
        match &self.watch.what {
            Watched::Entered { state, after } if counts && is_asked(state, after) => {
                let at = (now - Instant::START).as_secs_f64();
                self.value = self.value.or(Some(at));
            }
            Watched::Entries { state, after } if counts && is_asked(state, after) => {
                self.value = self.value.map(|count| count + 1.0);
            }
            _ => {}
        }
    }

    /// A stay in a state lasts until `now`, or ends then.
    fn on_stay(&mut self, current: Current, now: Instant) {
        if let Watched::Stay { state } = &self.watch.what
            && state == current.state
            && self.counts(current.since)
        {
            let stay = (now - current.since).as_secs_f64();
            self.value = Some(self.value.map_or(stay, |longest| longest.max(stay)));
        }
    }

    fn on_values(&mut self, now: Instant, glance: &Glance) {
        if let Watched::Variable {
            name,
            state,
            extreme,
        } = &self.watch.what
            && self.counts(now)
            && state.as_deref().is_none_or(|state| state == glance.state)
            && let Some((_, value)) = glance.variables.iter().find(|(known, _)| known == name)
        {
            let further = match extreme {
                Extreme::Least => f64::min,
                Extreme::Most => f64::max,
            };
            self.value = Some(self.value.map_or(*value, |before| further(before, *value)));
        }
    }
}

/// What a controller shows at one time.
#[derive(Clone, Debug, Default)]
struct Glance {
    state: &'static str,
    variables: Vec<(&'static str, f64)>,
}

impl Observer for Glance {
    fn state(&mut self, name: &'static str) {
        self.state = name;
    }
    fn variable(&mut self, name: &'static str, value: f64) {
        self.variables.push((name, value));
    }
}
