//! The queues of flows: a hash table in which a flow may have any of a set of eight (`cake_hash`), so that flows
//! share a queue only when more than eight active ones fall into a set.

/// Number of queues.
pub(super) const QUEUES: usize = 1024;
/// Number of queues of a set.
const WAYS: usize = 8;

#[derive(Debug)]
pub(super) struct Ways {
    /// The hash of the flow that had each queue last.
    tags: Vec<Option<u64>>,
}

impl Default for Ways {
    fn default() -> Self {
        Ways {
            tags: vec![None; QUEUES],
        }
    }
}

impl Ways {
    /// The queue of the flow with this hash: the one that it had, or one that is not active, or the queue of another flow.
    pub(super) fn place(&mut self, hash: u64, is_active: impl Fn(usize) -> bool) -> usize {
        let direct = (hash % QUEUES as u64) as usize;
        if self.tags[direct] == Some(hash) && is_active(direct) {
            return direct;
        }
        let first = direct - direct % WAYS;
        let set = || (0..WAYS).map(|way| first + (direct + way) % WAYS);
        let own = set().find(|index| self.tags[*index] == Some(hash));
        let place = own
            .or_else(|| set().find(|index| !is_active(*index)))
            .unwrap_or(direct);
        self.tags[place] = Some(hash);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_flows_of_one_hash_have_eight_queues_and_the_ninth_shares_its_own() {
        let mut ways = Ways::default();
        // All of these fall on queue 13, of the set 8 to 15.
        let hash = |flow: u64| 13 + flow * QUEUES as u64;
        let mut active = vec![];
        for flow in 0..8 {
            let place = ways.place(hash(flow), |index| active.contains(&index));
            active.push(place);
        }
        assert_eq!(active, [13, 14, 15, 8, 9, 10, 11, 12]);
        // Each finds its own again, and the ninth gets where it falls.
        let mut place = |flow| ways.place(hash(flow), |index| active.contains(&index));
        assert_eq!([3, 7, 0].map(&mut place), [8, 12, 13]);
        assert_eq!(place(8), 13);
    }

    #[test]
    fn a_flow_that_was_idle_has_its_queue_again_unless_another_took_it() {
        let mut ways = Ways::default();
        assert_eq!(ways.place(5, |_| false), 5);
        assert_eq!(ways.place(5, |_| false), 5);
        assert_eq!(ways.place(5 + QUEUES as u64, |_| false), 5);
        assert_eq!(ways.place(5, |index| index == 5), 6);
    }

    /// The fraction of `flows` that share a queue with an active one.
    fn sharing(flows: u64, seed: u64) -> f64 {
        let mut ways = Ways::default();
        let mut active = vec![false; QUEUES];
        let mut shared = 0;
        for flow in 0..flows {
            let place = ways.place(crate::random::mixed(seed, flow), |index| active[index]);
            shared += u32::from(active[place]);
            active[place] = true;
        }
        f64::from(shared) / flows as f64
    }

    #[test]
    fn collisions_are_much_rarer_than_with_one_way() {
        // 256 flows in 1024 queues: with one way 1 - (1 - 1/1024)^n of them meet another, 12 % on average. Eight ways are
        // full only if more than 8 of 256 fall into one of 128 sets, of which 2 are expected: probability 2.4e-4 each.
        let mean = (0..20).map(|seed| sharing(256, seed)).sum::<f64>() / 20.0;
        assert!(mean < 0.002, "{mean}");
        // 1024 in 1024 queues must share, if unevenly spread: a set has 8 and a deviation of 2.8, so 1.1 too many.
        let full = (0..20).map(|seed| sharing(1024, seed)).sum::<f64>() / 20.0;
        assert!((0.10..0.18).contains(&full), "{full}");
    }
}
