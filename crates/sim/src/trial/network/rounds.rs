//! Closed loops: a round of a flow of requests starts an idle time after the end of the one before.

use super::{Network, RunningTape};
use crate::scenario::flow::Pace;
use crate::scenario::{FlowSpec, Workload};
use crate::trial::element::Element;
use thalweg_transport::Role;
use thalweg_units::Duration;

/// The rounds of a flow.
pub(super) struct Rounds {
    spec: FlowSpec,
    /// Rounds of each user, and connections of each round.
    count: usize,
    parallel: usize,
    /// What each user waits before each round.
    idle: Vec<Vec<Duration>>,
    /// Connections of each user's present round that have not ended.
    left: Vec<usize>,
}

impl Rounds {
    /// The rounds of a flow whose rounds wait for each other.
    pub(super) fn new(spec: &FlowSpec, trial: u64) -> Option<Self> {
        let Workload::Requests(arrivals) = &spec.workload else {
            return None;
        };
        if !matches!(arrivals.pace, Pace::Closed { .. }) {
            return None;
        }
        let parallel = arrivals.parallel as usize;
        Some(Rounds {
            spec: spec.clone(),
            count: arrivals.count as usize,
            parallel,
            idle: (0..arrivals.users)
                .map(|user| arrivals.idle_times(trial, &spec.name, user))
                .collect(),
            left: vec![parallel; arrivals.users as usize],
        })
    }
}

impl Network {
    /// A connection of a flow with rounds is complete: the last one of a round starts the next.
    #[cold]
    pub(super) fn end_of_round(&mut self, index: usize) {
        let flow = &mut self.progress[self.connections[index].flow];
        let first = flow.connections.start;
        let Some(rounds) = &mut flow.rounds else {
            return;
        };
        let (user, round) = {
            let number = (index - first) / rounds.parallel;
            (number / rounds.count, number % rounds.count)
        };
        rounds.left[user] -= 1;
        if rounds.left[user] > 0 || round + 1 == rounds.count {
            return;
        }
        rounds.left[user] = rounds.parallel;
        let start = self.now + rounds.idle[user][round + 1];
        let next = (user * rounds.count + round + 1) * rounds.parallel;
        for number in next..next + rounds.parallel {
            let index = first + number;
            let waiting = &self.connections[index];
            let seed = self.tape.as_deref().map_or(self.seed, RunningTape::seed);
            let mut connection = waiting.starting_at(&rounds.spec, (seed, number), start);
            if self.audit.is_some() {
                connection.client.record_packets();
                connection.server.record_packets();
            } else if self.recorder.as_ref().is_some_and(|it| it.has_series()) {
                connection.server.record_packets();
            }
            if let Some(audit) = &mut self.audit {
                audit.note_start(index, start);
            }
            self.connections[index] = connection;
            let client = Element::Endpoint(index, Role::Client);
            self.queue.set(self.elements.number(client), start);
        }
    }
}
