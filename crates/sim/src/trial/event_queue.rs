//! The event queue: one entry for each element, however many packets are in flight.
//!
//! A tournament tree over (time, insertion number) with eight branches at each node, whose leaves are
//! the elements and whose other nodes hold the earliest entry below them, so that the root is the next event.
//! A change propagates upwards while it changes the earliest entry; small trials have a single node. The insertion
//! number orders events of equal time: first scheduled, first served.

use thalweg_units::Instant;

/// Bits of an entry that name its element; those above are its insertion number, good for 2^40 insertions.
const ELEMENT_BITS: u32 = 24;

/// When an element is due: time, insertion number and element, in one comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    /// The entry of an element that is not scheduled; later than every other.
    const NONE: Entry = Entry(u128::MAX);

    fn new(time: Instant, number: u64, element: usize) -> Self {
        let order = number << ELEMENT_BITS | element as u64;
        Entry(u128::from(time.as_nanos()) << 64 | u128::from(order))
    }

    fn time(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }

    /// Insertion number and element: no two entries have the same.
    fn order(self) -> u64 {
        self.0 as u64
    }

    fn element(self) -> usize {
        (self.order() & ((1 << ELEMENT_BITS) - 1)) as usize
    }
}

/// Branches of a node: entries of 16 bytes in two cache lines.
const FAN: usize = 8;

/// The earliest of a group, as a tournament: a processor plays the matches of a round at once.
#[inline]
fn earliest(group: &[Entry; FAN]) -> Entry {
    let [a, b, c, d, e, f, g, h] = *group;
    (a.min(b).min(c.min(d))).min(e.min(f).min(g.min(h)))
}

pub(crate) struct EventQueue {
    /// Branch `place % FAN` of group `place / FAN` is an entry; the group holds the branches of the node at
    /// that place. The root is at place 1, the leaf of an element at `leaves` plus the element.
    groups: Vec<[Entry; FAN]>,
    leaves: usize,
    inserted: u64,
}

impl EventQueue {
    /// A queue for fewer than 2^24 elements.
    pub(crate) fn new(elements: usize) -> Self {
        debug_assert!(elements < 1 << ELEMENT_BITS);
        let mut leaves = FAN;
        while leaves < elements {
            leaves *= FAN;
        }
        EventQueue {
            groups: vec![[Entry::NONE; FAN]; leaves / FAN + elements.div_ceil(FAN)],
            leaves,
            inserted: 0,
        }
    }

    #[inline]
    fn at(&self, position: usize) -> Entry {
        self.groups[position / FAN][position % FAN]
    }

    /// The next event: its time and element.
    #[inline]
    pub(crate) fn peek(&self) -> Option<(Instant, usize)> {
        let first = self.groups[0][1];
        let time = first.time();
        (time != Instant::NEVER).then(|| (time, first.element()))
    }

    /// When an element is due, [`Instant::NEVER`] if it is not scheduled.
    pub(crate) fn due(&self, element: usize) -> Instant {
        self.at(self.leaves + element).time()
    }

    /// Whether `element` would be the next event if it were due at `time`: every other element is due later.
    #[inline]
    pub(crate) fn is_before_others(&self, element: usize, time: Instant) -> bool {
        let leaf = self.leaves + element;
        // From the root on, where most of many elements are in other branches.
        let mut below = self.leaves.trailing_zeros();
        while below > 0 {
            let group = &self.groups[leaf >> below];
            below -= FAN.trailing_zeros();
            let own = (leaf >> below) % FAN;
            let is_later = |(branch, entry): (usize, &Entry)| branch == own || entry.time() > time;
            if !group.iter().enumerate().all(is_later) {
                return false;
            }
        }
        true
    }

    /// Sets when `element` is due; [`Instant::NEVER`] removes it. An unchanged time keeps
    /// its position in the order.
    #[inline]
    pub(crate) fn set(&mut self, element: usize, time: Instant) {
        let leaf = self.leaves + element;
        if self.at(leaf).time() == time {
            return;
        }
        let entry = if time == Instant::NEVER {
            Entry::NONE
        } else {
            self.inserted += 1;
            Entry::new(time, self.inserted, element)
        };
        self.replay(leaf, entry);
    }

    /// Puts an entry into a leaf and plays its matches.
    #[inline(never)] // keeps the case of an unchanged time cheap
    fn replay(&mut self, mut position: usize, mut entry: Entry) {
        loop {
            let node = position / FAN;
            let winner = self.at(node);
            let group = &mut self.groups[node];
            let before = std::mem::replace(&mut group[position % FAN], entry);
            if entry > winner {
                if before.order() != winner.order() {
                    return;
                }
                entry = earliest(group);
            }
            if node == 1 {
                self.groups[0][1] = entry;
                return;
            }
            position = node;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(n: u64) -> Instant {
        Instant::from_nanos(n)
    }

    #[test]
    fn events_of_one_time_come_in_the_order_in_which_they_were_set() {
        let mut queue = EventQueue::new(3);
        queue.set(2, at(5));
        queue.set(0, at(5));
        queue.set(1, at(9));
        queue.set(1, at(5));
        queue.set(2, at(5)); // unchanged: keeps its place
        let mut order = Vec::new();
        while let Some((time, element)) = queue.peek() {
            assert_eq!(time, at(5));
            order.push(element);
            queue.set(element, Instant::NEVER);
        }
        assert_eq!(order, [2, 0, 1]);
    }

    proptest! {
        #[test]
        fn it_orders_like_a_sorted_list(sets in prop::collection::vec((0usize..100, 0u64..20), 1..300)) {
            let mut queue = EventQueue::new(100);
            let mut model: Vec<(Instant, u64, usize)> = Vec::new();
            for (number, (element, time)) in sets.into_iter().enumerate() {
                let time = if time == 0 { Instant::NEVER } else { at(time) };
                queue.set(element, time);
                if !model.iter().any(|e| e.2 == element && e.0 == time) {
                    model.retain(|e| e.2 != element);
                    if time != Instant::NEVER {
                        model.push((time, number as u64, element));
                    }
                }
                let first = model.iter().min().map(|e| (e.0, e.2));
                prop_assert_eq!(queue.peek(), first);
                let due = model.iter().find(|e| e.2 == element).map_or(Instant::NEVER, |e| e.0);
                prop_assert_eq!(queue.due(element), due);
                let others = model.iter().filter(|e| e.2 != element).map(|e| e.0).min();
                for time in (0..20).map(at) {
                    let is_before = others.is_none_or(|other| time < other);
                    prop_assert_eq!(queue.is_before_others(element, time), is_before);
                }
            }
        }
    }
}
