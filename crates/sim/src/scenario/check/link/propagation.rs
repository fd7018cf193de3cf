//! Propagation of a hop: half of the RTT in each direction, unless the direction from client to server has a delay of its own.

use crate::scenario::hop::Direction;
use crate::scenario::schema::{Change, Path};
use thalweg_units::Duration;

#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Propagation {
    /// As it is written; half of it is the delay from server to client.
    rtt: Duration,
    /// That from client to server, where it differs.
    up: Option<Duration>,
}

impl Propagation {
    /// That at the start.
    pub(in super::super) fn of(path: &Path) -> Self {
        Propagation {
            rtt: path.rtt,
            up: path.up.as_ref().and_then(|up| up.delay),
        }
    }

    /// That from a change on. An RTT is of both directions, as a rate is.
    pub(in super::super) fn after(self, change: &Change) -> Self {
        let stays = self.up.filter(|_| change.rtt.is_none());
        Propagation {
            rtt: change.rtt.unwrap_or(self.rtt),
            up: change.up_delay.or(stays),
        }
    }

    /// The delay that a change sets in this direction.
    pub(in super::super) fn set_by(change: &Change, direction: Direction) -> Option<Duration> {
        let own = change.up_delay.filter(|_| direction == Direction::Up);
        own.or(change.rtt.map(|rtt| rtt / 2))
    }

    /// The delay of this direction.
    pub(in super::super) fn delay(self, direction: Direction) -> Duration {
        match (direction, self.up) {
            (Direction::Up, Some(delay)) => delay,
            _ => self.rtt / 2,
        }
    }

    /// The delay of both directions together.
    pub(in super::super) fn round_trip(self) -> Duration {
        match self.up {
            None => self.rtt,
            Some(up) => self.rtt / 2 + up,
        }
    }
}
