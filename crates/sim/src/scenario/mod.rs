//! Scenarios: their parts (`flow`, `media`, `hop`, `criterion`), their keys (`schema`), reading (`read`) and
//! checking (`check`) them, and what physics allows on them (`floor`).

pub(crate) mod breaker;
mod check;
mod clock;
pub(crate) mod command;
pub(crate) mod criterion;
mod document;
pub(crate) mod error;
pub(crate) mod floor;
pub(crate) mod flow;
mod guesses;
pub(crate) mod hop;
mod known_keys;
pub(crate) mod library;
mod limits;
pub(crate) mod media;
mod overrides;
pub(crate) mod profile;
mod read;
mod refusal;
pub(crate) mod supply;
mod trace_files;
pub(crate) mod traffic;

pub use clock::{Clock, Host};
pub use command::{CommandSpec, ReadyWhen};
pub use criterion::{Amount, Better, Bound, Criterion, Metric, Unit};
pub use document::Value;
pub use error::ScenarioError;
pub(crate) use flow::Workload;
pub use flow::{FlowController, FlowSpec};
pub use known_keys::smallest_tables;

use crate::StackLibrary;
use crate::outcome::sharing::BIN;
use breaker::BreakerSpec;
use hop::{Direction, Hop, LinkId};
use std::sync::Arc;
use thalweg_random::Tape;
pub(crate) use thalweg_schema as schema;
use thalweg_units::{Bytes, Duration, Instant};
use traffic::TrafficSpec;

/// A scenario: path, flows and pass criteria.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name in tables.
    pub title: String,
    /// The document that it comes from.
    pub source: Option<String>,
    /// Where it differs from its source.
    pub note: Option<String>,
    /// Its flows; the first is the main flow.
    pub flows: Vec<FlowSpec>,
    /// Its pass criteria.
    pub criteria: Vec<Criterion>,
    pub(crate) overhead: u32,
    pub(crate) time_limit: Duration,
    pub(crate) start_noise: StartNoise,
    /// Replaces the trial's seed in the links.
    pub(crate) jitter_seed: Option<u64>,
    /// Seeds of the blocks of trials.
    pub(crate) tape: Option<Arc<Tape>>,
    /// Bins of the recorded series.
    pub(crate) sample: Option<Duration>,
    pub(crate) hops: Vec<Hop>,
    /// Sources of cross traffic.
    pub(crate) traffic: Vec<TrafficSpec>,
    /// Circuit breakers of tunnels, with the names of these.
    pub(crate) tunnels: Vec<(String, BreakerSpec)>,
    pub(crate) toml: String,
}

/// Largest draws at the start of connections.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StartNoise {
    /// How late a flow starts.
    pub(crate) flow: Duration,
    /// How much later all flows start together.
    pub(crate) phase: Duration,
    /// How many bytes more a handshake has.
    pub(crate) handshake: Bytes,
}

impl Scenario {
    /// The scenario as it runs, overrides included; [`Scenario::read`] reads it back under the same clock.
    pub fn toml(&self) -> &str {
        &self.toml
    }

    /// All that a trial depends on in addition to its seed, with defaults filled in and units read: two scenarios with the same
    /// text have the same trials in this version of the simulator, however their files are written. Titles are not part
    /// of it, nor are criteria, but for the flows that a trial waits for and what they have it measure. Controllers of a caller's own registry are in
    /// it only by their names.
    ///
    /// ```
    /// use thalweg_sim::Scenario;
    ///
    /// let file = |title: &str, path: &str| format!(
    ///     "title = \"{title}\"\n[path]\n{path}\n[[flow]]\nname = \"main\"\ncontroller = \"c4\"\ndownload = \"1 MB\"\n"
    /// );
    /// let read = |text: String| Scenario::from_toml(text.as_bytes(), "one.toml", &[], &[]).unwrap().resolved();
    /// let one = read(file("one", "rate = \"20 Mbps\"\nrtt = \"40 ms\""));
    /// assert_eq!(one, read(file("other", "rtt = \"0.04 s\"\nrate = \"20000 kbps\"")));
    /// assert_ne!(one, read(file("one", "rate = \"20 Mbps\"\nrtt = \"41 ms\"")));
    /// ```
    pub fn resolved(&self) -> String {
        let flows = 0..self.flows.len();
        let awaited: Vec<bool> = flows.map(|flow| self.is_awaited(flow)).collect();
        let bins = (self.sample, self.is_over_time());
        let times = (self.time_limit, self.start_noise, bins);
        let watches: Vec<_> = self.watches().collect();
        let seeds = (self.jitter_seed, &self.tape);
        let rest = (awaited, self.overhead, times, seeds, watches);
        let links = self.looks_at_links();
        let links: String = links
            .map(|(criterion, _)| format!(" {} {}", criterion.flow, criterion.title()))
            .collect();
        format!(
            "{:?} {:?} {:?} {:?} {rest:?}{links}",
            self.flows, self.hops, self.traffic, self.tunnels
        )
    }

    /// The bins of the series that a trial records: the bins of `sample`, or the bins that a criterion over time needs.
    pub(crate) fn bins(&self) -> Option<Duration> {
        self.sample.or(self.is_over_time().then_some(BIN))
    }

    /// What criteria look at in controllers, with the index of the flow.
    pub(crate) fn watches(&self) -> impl Iterator<Item = (usize, &criterion::watch::Watch)> {
        let criteria = self.criteria.iter();
        criteria.filter_map(|criterion| Some((criterion.flow, criterion.watch.as_ref()?)))
    }

    /// The criteria on links, with the link of each.
    pub(crate) fn looks_at_links(&self) -> impl Iterator<Item = (&Criterion, LinkId)> {
        let criteria = self.criteria.iter();
        criteria.filter_map(|criterion| Some((criterion, criterion.link.as_ref()?.0)))
    }

    /// The name of the first hop whose links share a medium.
    pub fn shared_medium(&self) -> Option<&str> {
        let mut shared = self.hops.iter().filter(|hop| hop.medium.is_some());
        shared.next().map(|hop| hop.names.down.as_str())
    }

    /// Whether a criterion is on a metric over time.
    pub(crate) fn is_over_time(&self) -> bool {
        self.criteria
            .iter()
            .any(|criterion| criterion.metric.is_over_time())
    }

    /// The libraries that are stacks of its flows, each once.
    pub fn libraries(&self) -> Vec<&StackLibrary> {
        let mut found: Vec<&StackLibrary> = Vec::new();
        for flow in &self.flows {
            if let library::FlowStack::Library(of) = &flow.stack
                && !found.contains(&&**of)
            {
                found.push(of);
            }
        }
        found
    }

    /// Simulated time at which a trial ends in any case.
    pub fn time_limit(&self) -> Duration {
        self.time_limit
    }

    /// Whether a trial waits for the end of this flow: those that criteria name, and without criteria all but
    /// the background. A background flow is not waited for either if all its criteria are on what happened until the end.
    /// A scenario without any such flow runs until its time limit.
    pub fn is_awaited(&self, flow: usize) -> bool {
        let background = self.flows[flow].background;
        if self.criteria.is_empty() {
            return !background;
        }
        let mut own = (self.criteria.iter()).filter(|criterion| criterion.flow == flow);
        own.any(|criterion| !background || !criterion.metric.is_until_the_end())
    }

    /// Whether a criterion judges what happened until the end, if its flow has finished or not: so do some metrics, and
    /// metrics of the frames of a background call.
    pub fn judges_until_the_end(&self, criterion: &Criterion) -> bool {
        let metric = criterion.metric;
        let is_of_frames = metric.is_of_media() || metric.is_of_call();
        metric.is_until_the_end() || is_of_frames && self.flows[criterion.flow].background
    }

    /// Whether a trial in which this flow does not finish says too little: it is waited for, and is not in the background
    /// with criteria that judge what happened until the end.
    pub fn has_to_finish(&self, flow: usize) -> bool {
        let mut own = (self.criteria.iter()).filter(|criterion| criterion.flow == flow);
        let is_judged = !self.criteria.is_empty() && own.all(|one| self.judges_until_the_end(one));
        self.is_awaited(flow) && !(self.flows[flow].background && is_judged)
    }

    /// The times until `end` at which the route of a flow changes in one direction.
    pub(crate) fn changes(&self, flow: usize, direction: Direction, end: Instant) -> Vec<Instant> {
        let mut times = Vec::new();
        for hop in &self.flows[flow].route {
            let config = &self.hops[*hop].links[direction];
            let mut period = Instant::START;
            while !config.changes.is_empty() && period <= end {
                let within = config.changes.iter().map(|change| period + change.at);
                times.extend(within.filter(|at| *at <= end));
                match config.repeat {
                    Some(repeat) => period += repeat,
                    None => break,
                }
            }
        }
        times.sort_unstable();
        times
    }
}
