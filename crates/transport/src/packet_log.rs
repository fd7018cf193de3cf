//! Packet events of a sender, for traces: sent, acknowledged, lost.
//!
//! Records only packets that controllers see: ack-eliciting ones after the handshake.
//! Unless enabled, nothing is recorded, at the cost of one pointer test.

use serde::{Deserialize, Serialize};
use thalweg_units::Instant;

/// What happened to packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum PacketFate {
    /// They were sent.
    Sent,
    /// They were acknowledged.
    Acknowledged,
    /// They were declared lost.
    Lost,
}

/// One fate of a run of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct PacketEvent {
    /// When.
    pub time: Instant,
    /// What.
    pub fate: PacketFate,
    /// First packet number of the run.
    pub first: u64,
    /// Last packet number of the run; only acknowledgements have runs of more than one.
    pub last: u64,
    /// UDP payload in bytes, all packets together.
    pub size: u64,
}

/// The record of one sender.
#[derive(Debug, Default)]
pub struct PacketLog(Option<Vec<PacketEvent>>);

impl PacketLog {
    /// Starts to record.
    pub fn start(&mut self) {
        self.0.get_or_insert_default();
    }
    /// A packet was sent.
    #[inline]
    pub fn sent(&mut self, time: Instant, number: u64, size: u64) {
        if let Some(events) = &mut self.0 {
            events.push(event(time, PacketFate::Sent, number, size));
        }
    }
    /// A packet was acknowledged. Neighbours of one frame become one run.
    #[inline]
    pub fn acknowledged(&mut self, time: Instant, number: u64, size: u64) {
        if let Some(events) = &mut self.0 {
            extend(events, event(time, PacketFate::Acknowledged, number, size));
        }
    }
    /// A packet was declared lost.
    #[inline]
    pub fn lost(&mut self, time: Instant, number: u64, size: u64) {
        if let Some(events) = &mut self.0 {
            events.push(event(time, PacketFate::Lost, number, size));
        }
    }
    /// Takes what was recorded since the last call.
    pub fn take(&mut self) -> impl Iterator<Item = PacketEvent> + '_ {
        self.0.iter_mut().flat_map(|events| events.drain(..))
    }
}

fn event(time: Instant, fate: PacketFate, number: u64, size: u64) -> PacketEvent {
    PacketEvent {
        time,
        fate,
        first: number,
        last: number,
        size,
    }
}

#[cold]
fn extend(events: &mut Vec<PacketEvent>, new: PacketEvent) {
    if let Some(run) = events.last_mut()
        && (run.time, run.fate) == (new.time, new.fate)
        && (run.last + 1 == new.first || new.first + 1 == run.first)
    {
        run.first = run.first.min(new.first);
        run.last = run.last.max(new.last);
        run.size += new.size;
    } else {
        events.push(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Duration;

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    #[test]
    fn nothing_is_recorded_unless_asked() {
        let mut log = PacketLog::default();
        log.sent(at(1), 0, 1200);
        assert_eq!(log.take().count(), 0);
    }

    #[test]
    fn acknowledged_neighbours_of_one_time_are_one_run_in_either_order() {
        let mut log = PacketLog::default();
        log.start();
        for number in [4, 5, 3, 8] {
            log.acknowledged(at(1), number, 100);
        }
        log.acknowledged(at(2), 9, 100);
        let runs: Vec<_> = log.take().map(|e| (e.first, e.last, e.size)).collect();
        assert_eq!(runs, [(3, 5, 300), (8, 8, 100), (9, 9, 100)]);
        assert_eq!(log.take().count(), 0);
    }
}
