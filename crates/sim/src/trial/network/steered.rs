//! How the event loop pauses where a flow is to decide, and goes on: between an event of an endpoint and what the endpoint
//! sends because of it, so that the decision is the same as one made within the event.

use super::Network;
use crate::scenario::hop::LinkId;
use thalweg_control::PathState;
use thalweg_transport::Role;
use thalweg_units::Instant;

/// Where the event loop has paused.
pub(crate) struct Pause {
    /// The connection whose controller is to decide.
    pub(crate) connection: usize,
    side: Role,
    /// The link that is delivering packets; none after a timer.
    link: Option<LinkId>,
}

/// Why the event loop returns.
pub(crate) enum Progressed {
    /// This connection is to decide.
    Paused(usize),
    /// All events that were allowed have been handled.
    Unfinished,
    /// The trial is over.
    Ended,
}

impl Network {
    /// Pauses from now on wherever a controller is to decide.
    pub(crate) fn steered(mut self) -> Self {
        self.is_steered = true;
        self
    }

    /// The only connection of a flow.
    pub(crate) fn connection_of(&self, flow: usize) -> usize {
        self.progress[flow].connections.start
    }

    /// Simulated time.
    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    /// What one side of a connection has measured.
    pub(crate) fn path(&self, connection: usize, side: Role) -> &PathState {
        self.connections[connection].end(side).path()
    }

    /// Whether all connections of a flow have closed.
    pub(crate) fn is_closed(&self, flow: usize) -> bool {
        self.progress[flow].open == 0
    }

    /// The decision that the trial waits for has been made.
    pub(crate) fn resume(&mut self) {
        let Some(pause) = self.paused.take() else {
            return;
        };
        let Pause {
            connection, side, ..
        } = pause;
        self.connections[connection].endpoint(side).apply_decision();
        let Some(link) = pause.link else {
            self.pump(connection, side, "timer");
            return;
        };
        if !self.answers_later(link, connection, side) {
            self.react(connection, side, false);
        }
        self.answer_what_is_read(link, true);
        let next = self.links[link.index()].next().unwrap_or(Instant::NEVER);
        if next > self.now {
            self.note_delivered(link, next);
        } else {
            // The link is still the first of the queue: its event, which has been counted, goes on.
            self.events -= 1;
        }
    }

    /// Pauses if one side of a connection is to decide.
    pub(super) fn pauses(&mut self, connection: usize, side: Role, link: Option<LinkId>) -> bool {
        let is_undecided = self.connections[connection].endpoint(side).is_undecided();
        if is_undecided {
            self.paused = Some(Pause {
                connection,
                side,
                link,
            });
        }
        is_undecided
    }
}
