//! How far each flow has come, and when all flows were active.

use super::Network;
use super::rounds::Rounds;
use crate::outcome::summary::Moment;
use crate::scenario::Scenario;
use crate::trial::connection::Connection;
use std::ops::Range;
use thalweg_units::Instant;

/// Progress of a flow.
pub(super) struct FlowProgress {
    /// Indices of its connections.
    pub(super) connections: Range<usize>,
    pub(super) started: bool,
    /// Connections that are not complete, and those that are not closed.
    pub(super) incomplete: usize,
    pub(super) open: usize,
    /// Whether the end of the trial waits for it.
    pub(super) awaited: bool,
    /// Its rounds, if each waits for the end of the one before.
    pub(super) rounds: Option<Box<Rounds>>,
}

/// The progress of all flows, at the start of a trial.
pub(super) fn of_flows(
    scenario: &Scenario,
    trial: u64,
    connections: &[Connection],
) -> Vec<FlowProgress> {
    let mut progress = Vec::with_capacity(scenario.flows.len());
    let mut first = 0;
    for (flow, spec) in scenario.flows.iter().enumerate() {
        let count = connections[first..]
            .iter()
            .take_while(|connection| connection.flow == flow)
            .count();
        progress.push(FlowProgress {
            connections: first..first + count,
            started: false,
            incomplete: count,
            open: count,
            awaited: scenario.is_awaited(flow),
            rounds: Rounds::new(spec, trial).map(Box::new),
        });
        first += count;
    }
    progress
}

impl Network {
    /// The flow of a connection has started; when the last flow does, all are active.
    pub(super) fn note_start(&mut self, index: usize) {
        let flow = &mut self.progress[self.connections[index].flow];
        if flow.started {
            return;
        }
        flow.started = true;
        self.unstarted -= 1;
        if self.begun.is_none() {
            let now = self.now;
            let mut done = Vec::with_capacity(self.links.len());
            for (index, link) in self.links.iter_mut().enumerate() {
                link.advance(now);
                done.push(link.work_done());
                // A link with noise that waits for capacity knows more now: it may be due later.
                let next = link.next().unwrap_or(Instant::NEVER);
                self.queue.set(index, next);
            }
            self.begun = Some((now, done));
        }
        if self.unstarted == 0 {
            self.overlap_start = Some(self.moment());
        }
    }

    /// What each flow has sent and got so far.
    fn moment(&self) -> Moment {
        Moment::new(self.now, self.progress.len(), &self.connections)
    }

    /// Notes what a connection that was running, or open, has completed or closed; tells whether it has completed.
    pub(super) fn note_end(&mut self, index: usize, running: bool, open: bool) -> bool {
        let connection = &self.connections[index];
        let completed = running && connection.completion.is_some();
        let closed = open && connection.closed.is_some();
        let flow = &mut self.progress[connection.flow];
        if closed {
            flow.open -= 1;
            if flow.open == 0 && flow.awaited {
                self.waiting = self.waiting.map(|waiting| waiting - 1);
            }
        }
        if completed {
            flow.incomplete -= 1;
            if flow.incomplete == 0 && self.unstarted == 0 && self.overlap_end.is_none() {
                self.overlap_end = Some(self.moment());
            }
            if self.progress[connection.flow].rounds.is_some() {
                self.end_of_round(index);
            }
        }
        completed
    }
}
