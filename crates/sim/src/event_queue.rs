//! The event queue: one entry for each element, however many packets are in flight.
//!
//! An indexed binary heap over (time, insertion number). The insertion number gives events of one time a
//! total order: first scheduled, first served.

use thalweg_units::Instant;

const ABSENT: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Entry {
    time: Instant,
    number: u64,
    element: u32,
}

impl Entry {
    /// Time and number in one comparison.
    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.time.as_nanos()) << 64 | u128::from(self.number)
    }
}

pub(crate) struct EventQueue {
    heap: Vec<Entry>,
    /// Place of each element in the heap.
    places: Vec<u32>,
    inserted: u64,
}

impl EventQueue {
    pub(crate) fn new(elements: usize) -> Self {
        EventQueue {
            heap: Vec::with_capacity(elements),
            places: vec![ABSENT; elements],
            inserted: 0,
        }
    }

    /// The next event: its time and element.
    pub(crate) fn peek(&self) -> Option<(Instant, usize)> {
        self.heap
            .first()
            .map(|entry| (entry.time, entry.element as usize))
    }

    /// Sets when `element` wants to be called; [`Instant::NEVER`] takes it out. An unchanged time keeps
    /// its place in the order.
    pub(crate) fn set(&mut self, element: usize, time: Instant) {
        let place = self.places[element];
        if place == ABSENT {
            if time == Instant::NEVER {
                return;
            }
            self.inserted += 1;
            self.heap.push(Entry {
                time,
                number: self.inserted,
                element: element as u32,
            });
            self.rise(self.heap.len() - 1);
            return;
        }
        let place = place as usize;
        if time == Instant::NEVER {
            self.remove(place);
        } else if self.heap[place].time != time {
            self.inserted += 1;
            let earlier = time < self.heap[place].time;
            self.heap[place].time = time;
            self.heap[place].number = self.inserted;
            if earlier {
                self.rise(place)
            } else {
                self.sink(place)
            }
        }
    }

    fn remove(&mut self, place: usize) {
        let gone = self.heap.swap_remove(place);
        self.places[gone.element as usize] = ABSENT;
        if place < self.heap.len() {
            self.places[self.heap[place].element as usize] = place as u32;
            self.rise(place);
            self.sink(self.places[self.heap[place].element as usize] as usize);
        }
    }

    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.heap[parent].key() <= entry.key() {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let mut child = 2 * place + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.heap[child + 1].key() < self.heap[child].key() {
                child += 1;
            }
            if entry.key() <= self.heap[child].key() {
                break;
            }
            self.put(place, self.heap[child]);
            place = child;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.places[entry.element as usize] = place as u32;
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
        fn it_orders_like_a_sorted_list(sets in prop::collection::vec((0usize..8, 0u64..20), 1..200)) {
            let mut queue = EventQueue::new(8);
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
            }
        }
    }
}
