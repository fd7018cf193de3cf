//! What the circuit breaker of a connection sees: the counts of links at both ends of its path.

use super::Network;
use crate::scenario::hop::Direction;
use crate::trial::breaker::Meters;
use thalweg_units::Instant;

impl Network {
    /// The breaker of a connection, if it has one, looks at its meters if it is due, and may close the connection.
    pub(super) fn look_at_breaker(&mut self, index: usize) {
        let now = self.now;
        let connection = &self.connections[index];
        let due = connection.breaker.as_ref().map(|breaker| breaker.next());
        if due.is_none_or(|due| due > now) || connection.completion.is_some() {
            return;
        }
        let direction = Direction::from(connection.sending_side());
        let mut meters = Meters::default();
        for position in 0..connection.routes[direction].len() {
            let link_id = self.connections[index].routes[direction][position];
            let link = &mut self.links[link_id.index()];
            link.advance(now);
            let next = link.next().unwrap_or(Instant::NEVER);
            self.note_delivered(link_id, next);
            let stats = self.links[link_id.index()].flow_stats(index as u64);
            if position == 0 {
                meters.sent = stats.offered;
            }
            meters.missing += stats.dropped.packets + stats.lost.packets;
        }
        let sender = self.connections[index].data_path().0;
        meters.heard = sender.counters().rtt_samples;
        let rtt = sender.path().smoothed_rtt;
        let connection = &mut self.connections[index];
        if let Some(breaker) = &mut connection.breaker
            && breaker.look(now, meters, rtt)
        {
            connection.trip(now);
        }
    }
}
