//! What is done when a connection is due: its start, its endpoints and its applications.

use super::Network;
use thalweg_transport::Role;

impl Network {
    /// The applications of a connection are due.
    pub(super) fn wake_applications(&mut self, index: usize) {
        self.look_at_breaker(index);
        let connection = &mut self.connections[index];
        let (running, open) = connection.is_in_progress();
        connection.tick_app(self.now);
        debug_assert!(connection.next_app() > self.now, "time would stand still");
        self.note_end(index, running, open);
        self.pump(index, Role::Client, "timer");
        self.pump(index, Role::Server, "timer");
    }

    /// A connection starts, unless its tunnel has been ended.
    #[cold]
    #[inline(never)] // once in a connection
    fn start(&mut self, index: usize) {
        if self.connections[index].is_tripped() {
            self.end_unstarted(index);
            return;
        }
        self.connections[index].begin();
        self.note_start(index);
        self.pump(index, Role::Client, "timer");
    }

    /// An endpoint of a connection is due.
    pub(super) fn wake(&mut self, index: usize, side: Role) {
        let connection = &mut self.connections[index];
        if side == Role::Client && !connection.started {
            self.start(index);
            return;
        }
        if (self.ahead).is_some_and(|ahead| ahead.sender == (index, side)) {
            self.catch_up();
            return;
        }
        if connection.hosts.is_some() && !self.wake_host(index, side) {
            return;
        }
        self.connections[index].endpoint(side).expire(self.now);
        self.note_sender(index, side);
        if !self.is_steered || !self.pauses(index, side, None) {
            self.pump(index, side, "timer");
            if self.may_run_ahead(index, side) {
                self.run_ahead(index, side);
            }
        }
    }
}
