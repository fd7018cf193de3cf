//! Percentiles of the time that packets of data waited in queues, for criteria that ask for them.
//!
//! Each link counts waits in bins whose width is 1/128 of a power of two: a percentile is at most 0.8 % too large. A wait
//! counts when the transmission of its packet begins; a packet that the queue drops has none.

use super::Outcome;
use crate::scenario::Scenario;
use crate::scenario::hop::{Direction, LinkId};
use crate::trial::connection::Connection;
use thalweg_path::Passage;
use thalweg_units::Duration;

/// Bins of a power of two.
const BINS: u64 = 1 << BITS;
const BITS: u32 = 7;

/// Waits of the flows that criteria ask for.
#[derive(Clone, Debug)]
pub(crate) struct Waits {
    /// The flow of each connection and the direction of its data, if it is asked for.
    flows: Vec<Option<(usize, Direction)>>,
    /// By flow, then by link: empty where nothing has waited yet.
    counts: Vec<Vec<Counts>>,
}

/// The number of waits in each bin.
type Counts = Vec<u32>;

impl Waits {
    /// Of a scenario with such criteria; none without.
    pub(crate) fn new(scenario: &Scenario, connections: &[Connection]) -> Option<Self> {
        if !scenario.asks_for_waits() {
            return None;
        }
        let direction = |of: &Connection| (of.flow, Direction::from(of.sending_side()));
        let flows = connections.iter().map(direction);
        Some(Waits {
            flows: flows
                .map(|own| Some(own).filter(|(flow, _)| scenario.asks_for_waits_of(*flow)))
                .collect(),
            counts: vec![vec![Counts::new(); 2 * scenario.hops.len()]; scenario.flows.len()],
        })
    }

    /// What a link has logged.
    pub(crate) fn note(&mut self, link: usize, passages: &[Passage]) {
        for passage in passages.iter().filter(|passage| passage.sent.is_some()) {
            let connection = usize::try_from(passage.flow).unwrap_or(usize::MAX);
            // Cross traffic is no connection.
            if let Some(&Some((flow, direction))) = self.flows.get(connection)
                && LinkId::numbered(link).direction() == direction
            {
                let counts = &mut self.counts[flow][link];
                let bin = bin_of((passage.left - passage.entered).as_nanos());
                if counts.len() <= bin {
                    counts.resize(bin + 1, 0);
                }
                counts[bin] += 1;
            }
        }
    }

    /// Adds the percentiles to the outcome: of several queues on the way the largest.
    pub(crate) fn conclude(&self, outcome: &mut Outcome) {
        for (flow, links) in outcome.flows.iter_mut().zip(&self.counts) {
            let worst = |share: f64| {
                let each = links.iter().filter_map(|counts| percentile(counts, share));
                each.max()
            };
            flow.p95_queue_delay = worst(0.95);
            flow.p99_queue_delay = worst(0.99);
        }
    }
}

/// The bin of a wait.
fn bin_of(nanos: u64) -> usize {
    // Shifted by its power, a wait is below twice the bins: those below have no shift.
    let power = (u64::BITS - nanos.leading_zeros()).saturating_sub(BITS + 1);
    (u64::from(power) * BINS + (nanos >> power)) as usize
}

/// The largest wait of a bin.
fn largest_of(bin: usize) -> u64 {
    let bin = bin as u64;
    let power = (bin / BINS).saturating_sub(1);
    let first = bin - power * BINS;
    ((first + 1) << power) - 1
}

/// The wait that this share of all does not exceed, by the nearest rank.
fn percentile(counts: &[u32], share: f64) -> Option<Duration> {
    let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let rank = ((total as f64 * share).ceil() as u64).max(1);
    let mut seen = 0;
    let bin = counts.iter().position(|count| {
        seen += u64::from(*count);
        seen >= rank
    });
    bin.map(|bin| Duration::from_nanos(largest_of(bin)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_bin_holds_a_wait_and_is_at_most_an_eighth_of_a_tenth_wide(nanos in 0..u64::MAX / 4) {
            let bin = bin_of(nanos);
            let largest = largest_of(bin);
            prop_assert!(largest >= nanos);
            prop_assert!(largest - nanos <= nanos / 128 + 1, "{nanos} in {bin}: {largest}");
            prop_assert!(bin == 0 || largest_of(bin - 1) < nanos);
        }
    }

    #[test]
    fn a_percentile_is_the_wait_at_its_rank() {
        let mut counts = Counts::new();
        for wait in 0..100 {
            counts.resize(counts.len().max(bin_of(wait) + 1), 0);
            counts[bin_of(wait)] += 1;
        }
        // 0 to 99 ns: below 128 each has a bin of its own.
        assert_eq!(percentile(&counts, 0.95), Some(Duration::from_nanos(94)));
        assert_eq!(percentile(&counts, 0.99), Some(Duration::from_nanos(98)));
        assert_eq!(percentile(&[], 0.95), None);
    }
}
