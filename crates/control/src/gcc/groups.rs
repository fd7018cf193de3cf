//! Groups of packets, and how their delays differ (draft-ietf-rmcat-gcc-02 sections 5.1 and 5.2).

use crate::event::Arrival;
use thalweg_units::{Duration, Instant};

/// burst_time: packets that left within it are a group.
const BURST: Duration = Duration::from_millis(5);

/// A group: when its first packet left, and when its last one left and arrived.
#[derive(Clone, Copy, Debug)]
struct Group {
    begins: Instant,
    sent: Instant,
    arrived: Instant,
}

/// How a group compares with the one before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Change {
    /// d(i): how much longer it took, in milliseconds.
    pub(super) delay: f64,
    /// T(i) - T(i-1): time between their departures, in milliseconds.
    pub(super) departures: f64,
    /// t(i): when it arrived.
    pub(super) arrived: Instant,
}

/// The current group and the one before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Groups {
    before: Option<Group>,
    current: Option<Group>,
}

impl Groups {
    /// A packet that begins a new group completes the current one. Packets out of order count for nothing (GCC draft
    /// section 5.1).
    pub(super) fn add(&mut self, packet: &Arrival) -> Option<Change> {
        let alone = Group {
            begins: packet.sent,
            sent: packet.sent,
            arrived: packet.arrived,
        };
        let Some(current) = &mut self.current else {
            self.current = Some(alone);
            return None;
        };
        if packet.sent < current.sent {
            return None;
        }
        let left_together = packet.sent - current.begins <= BURST;
        let gap = packet.arrived - current.arrived;
        // What a link that was interrupted releases at once (section 5.2): it arrives closer than it left.
        let arrives_in_burst = gap < BURST && gap < packet.sent - current.sent;
        if left_together || arrives_in_burst {
            current.sent = packet.sent;
            current.arrived = current.arrived.max(packet.arrived);
            return None;
        }
        let completed = *current;
        *current = alone;
        let before = self.before.replace(completed)?;
        let (departures, arrivals) = (
            millis(before.sent, completed.sent),
            millis(before.arrived, completed.arrived),
        );
        Some(Change {
            delay: arrivals - departures,
            departures,
            arrived: completed.arrived,
        })
    }
}

/// From one time to another, which may be before it.
pub(super) fn millis(from: Instant, to: Instant) -> f64 {
    let span = |from: Instant, to: Instant| (to - from).as_secs_f64() * 1_000.0;
    span(from, to) - span(to, from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Bytes;

    fn packet(sent: u64, arrived: u64) -> Arrival {
        let at = |ms| Instant::START + Duration::from_millis(ms);
        Arrival {
            packet: 0,
            size: Bytes::new(1_200),
            sent: at(sent),
            arrived: at(arrived),
        }
    }

    #[test]
    fn packets_that_leave_within_five_milliseconds_are_a_group_that_the_next_completes() {
        let mut groups = Groups::default();
        for (sent, arrived) in [(0, 50), (3, 60), (5, 70), (33, 90), (36, 100)] {
            assert_eq!(groups.add(&packet(sent, arrived)), None);
        }
        // The groups end at 5 and 70, and at 36 and 100: 30 ms for 31
        let change = groups.add(&packet(66, 120)).unwrap();
        assert!((change.delay + 1.0).abs() < 1e-9, "{change:?}");
        assert!((change.departures - 31.0).abs() < 1e-9, "{change:?}");
    }

    #[test]
    fn what_arrives_in_a_burst_belongs_to_the_group_before() {
        let mut groups = Groups::default();
        for (sent, arrived) in [(0, 50), (33, 300), (66, 301), (99, 302)] {
            assert_eq!(groups.add(&packet(sent, arrived)), None, "{sent}");
        }
        let change = groups.add(&packet(132, 332)).unwrap();
        assert!((change.delay - (252.0 - 99.0)).abs() < 1e-9, "{change:?}");
    }

    #[test]
    fn a_packet_that_left_before_the_last_counts_for_nothing() {
        let mut groups = Groups::default();
        groups.add(&packet(100, 150));
        assert_eq!(groups.add(&packet(50, 160)), None);
        assert_eq!(groups.current.unwrap().begins, packet(100, 0).sent);
    }
}
