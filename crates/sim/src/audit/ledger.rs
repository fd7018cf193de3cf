//! Conservation on a link: packets and bytes in equal those out, dropped, lost and inside, for the link and
//! for each flow.

use super::finding::{Verdict, hold};
use thalweg_path::{Count, FlowLinkStats, LinkStats};
use thalweg_units::Bytes;

/// Counts of one flow at both ends of a link.
#[derive(Clone, Copy, Default)]
struct Seen {
    entered: Count,
    left: Count,
}

#[derive(Default)]
pub(super) struct Ledger {
    total: Seen,
    flows: Vec<Seen>,
}

fn add(count: &mut Count, size: Bytes) {
    *count += Count {
        packets: 1,
        bytes: size,
    };
}

fn sum(counts: &[Count]) -> Count {
    counts.iter().fold(Count::default(), |mut sum, count| {
        sum += *count;
        sum
    })
}

/// Fails if the two counts of `what` differ.
fn same(what: &str, counted: Count, seen: Count) -> Verdict {
    hold(counted == seen, || {
        format!(
            "{what}: counts {} packets and {}, where there were {} and {}",
            counted.packets, counted.bytes, seen.packets, seen.bytes
        )
    })
}

impl Ledger {
    pub(super) fn new(flows: usize) -> Self {
        Ledger {
            total: Seen::default(),
            flows: vec![Seen::default(); flows],
        }
    }

    pub(super) fn enter(&mut self, flow: u32, size: Bytes) {
        add(&mut self.total.entered, size);
        add(&mut self.flows[flow as usize].entered, size);
    }

    pub(super) fn leave(&mut self, flow: u32, size: Bytes) {
        add(&mut self.total.left, size);
        add(&mut self.flows[flow as usize].left, size);
    }

    /// Checks that `stats` equal the auditor's counts, and that the sum is right; `waiting` packets wait and
    /// `in_flight` are in flight.
    pub(super) fn balance(&self, stats: &LinkStats, waiting: Count, in_flight: usize) -> Verdict {
        same("in", stats.offered, self.total.entered)?;
        same("out", stats.delivered, self.total.left)?;
        let taken = sum(&[stats.dropped, stats.transmitted, waiting]);
        same(
            "dropped, transmitted and waiting",
            taken,
            self.total.entered,
        )?;
        let (out, lost) = (stats.delivered.packets, stats.lost.packets);
        let sent = out + lost + in_flight as u64;
        hold(sent == stats.transmitted.packets, || {
            format!(
                "transmitted {} packets: {out} came out, {lost} were lost, {in_flight} are on their way",
                stats.transmitted.packets
            )
        })
    }

    /// Checks that the counters of one flow equal the auditor's. Returns how many of its packets are inside.
    pub(super) fn balance_flow(&self, flow: usize, stats: &FlowLinkStats) -> Result<Count, String> {
        let seen = &self.flows[flow];
        same("in", stats.offered, seen.entered)?;
        same("out", stats.delivered, seen.left)?;
        let gone = sum(&[stats.delivered, stats.dropped, stats.lost]);
        let inside = Count {
            packets: seen.entered.packets.wrapping_sub(gone.packets),
            bytes: seen.entered.bytes - gone.bytes,
        };
        hold(gone.packets <= seen.entered.packets, || {
            let (gone, came) = (gone.packets, seen.entered.packets);
            format!("{gone} packets came out, were dropped or lost, of {came} that went in")
        })?;
        Ok(inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(packets: u64) -> Count {
        Count {
            packets,
            bytes: Bytes::new(1000 * packets),
        }
    }

    /// Ten packets entered and four left.
    fn ledger() -> Ledger {
        let mut ledger = Ledger::new(1);
        for packet in 0..10 {
            ledger.enter(0, Bytes::new(1000));
            if packet < 4 {
                ledger.leave(0, Bytes::new(1000));
            }
        }
        ledger
    }

    /// One of the other six was dropped and one lost; two wait, and two travel.
    fn stats() -> LinkStats {
        LinkStats {
            offered: count(10),
            delivered: count(4),
            dropped: count(1),
            lost: count(1),
            transmitted: count(7),
            ..LinkStats::default()
        }
    }

    #[test]
    fn a_balanced_link_passes() {
        assert_eq!(ledger().balance(&stats(), count(2), 2), Ok(()));
    }

    #[test]
    fn a_packet_too_few_or_too_many_is_found_in_each_account() {
        type Change = fn(&mut LinkStats);
        let changes: [Change; 5] = [
            |stats| stats.offered = count(9),
            |stats| stats.delivered = count(5),
            |stats| stats.dropped = count(2),
            |stats| stats.lost = count(0),
            |stats| stats.transmitted = count(8),
        ];
        for (position, change) in changes.into_iter().enumerate() {
            let mut stats = stats();
            change(&mut stats);
            assert!(ledger().balance(&stats, count(2), 2).is_err(), "{position}");
        }
        assert!(ledger().balance(&stats(), count(1), 2).is_err());
        assert!(ledger().balance(&stats(), count(2), 3).is_err());
    }

    #[test]
    fn a_flow_has_its_own_books() {
        let flow = FlowLinkStats {
            offered: count(10),
            delivered: count(4),
            dropped: count(1),
            lost: count(1),
            ..FlowLinkStats::default()
        };
        assert_eq!(ledger().balance_flow(0, &flow), Ok(count(4)));
        let twice = FlowLinkStats {
            lost: count(6),
            ..flow.clone()
        };
        assert!(ledger().balance_flow(0, &twice).is_err());
        let unseen = FlowLinkStats {
            delivered: count(5),
            ..flow
        };
        assert!(ledger().balance_flow(0, &unseen).is_err());
    }
}
