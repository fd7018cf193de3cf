//! Packets crossing a link: each leaves once, at the time that the link determined, not earlier than
//! possible, and in order where the discipline promises it.

use super::finding::{Verdict, hold};
use super::schedule::Schedule;
use std::collections::{BTreeSet, VecDeque};
use thalweg_path::{LinkConfig, QueueConfig, Transmitted};
use thalweg_units::{Bytes, Ecn, Instant};

/// Queues of a set of CAKE: with no more flows, each has a queue of its own set.
const WAYS: usize = 8;

/// The order in which a link delivers packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    /// None: jitter reorders, a policer or a discipline before DualPI2 that marks moves packets to its other queue, or CAKE
    /// moves a flow to another queue.
    None,
    /// The packets of one flow with codepoints of one class (RFC 9332 section 2.5).
    OfClass,
    /// The packets of one flow (RFC 8290 section 4.1).
    OfFlow,
    /// All.
    OfLink,
}

impl Order {
    /// The order of a link which this many flows may cross.
    pub(super) fn of(config: &LinkConfig, flows: usize) -> Order {
        if config.reorder {
            return Order::None;
        }
        // Marks on entry, and not as a packet leaves.
        let marks = config.policer.is_some_and(|policer| policer.mark)
            || disciplines(config).any(|queue| {
                matches!(
                    queue,
                    QueueConfig::Red(_) | QueueConfig::Pie(_) | QueueConfig::Step(_)
                )
            });
        let orders = disciplines(config).map(|queue| match queue {
            QueueConfig::DualPi2(_) if marks => Order::None,
            // A flow whose set of eight queues is full may get another queue before its packets have left the first one.
            QueueConfig::Cake(_) if flows > WAYS => Order::None,
            QueueConfig::FqCodel(_) | QueueConfig::Cake(_) => Order::OfFlow,
            QueueConfig::DualPi2(_) => Order::OfClass,
            _ => Order::OfLink,
        });
        orders.min().unwrap_or(Order::OfLink)
    }
}

/// The disciplines of a link, at the start and from changes on.
pub(super) fn disciplines(config: &LinkConfig) -> impl Iterator<Item = &QueueConfig> {
    let changed = config
        .changes
        .iter()
        .filter_map(|change| change.queue.as_ref());
    [&config.queue].into_iter().chain(changed)
}

/// A packet as it entered a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) connection: u32,
    pub(super) size: Bytes,
    pub(super) ecn: Ecn,
    pub(super) entered: Instant,
    /// Number of packets that entered the link before.
    pub(super) position: u64,
}

/// Entries and exits of one link.
pub(super) struct Crossing {
    order: Order,
    /// Whether packets arrive in the order in which they are transmitted.
    in_flight_order: bool,
    /// Position after the last packet delivered, for each stream that keeps its order.
    next: Vec<u64>,
    entered: u64,
    /// Arrivals that the link has determined: in order, or by time and number.
    in_order: VecDeque<Transmitted>,
    reordering: BTreeSet<(Instant, u64, u64, Bytes, Instant)>,
    settled: u64,
    /// Exits since the link was last asked for its determined arrivals.
    left: Vec<(Instant, Entry)>,
}

impl Crossing {
    pub(super) fn new(config: &LinkConfig, connections: usize) -> Self {
        let order = Order::of(config, connections);
        let streams = match order {
            Order::None => 0,
            Order::OfLink => 1,
            Order::OfFlow => connections,
            Order::OfClass => 2 * connections,
        };
        Crossing {
            order,
            in_flight_order: !config.reorder,
            next: vec![0; streams],
            entered: 0,
            in_order: VecDeque::new(),
            reordering: BTreeSet::new(),
            settled: 0,
            left: Vec::new(),
        }
    }

    pub(super) fn enter(&mut self) -> u64 {
        self.entered += 1;
        self.entered - 1
    }

    /// A packet leaves at `now`.
    pub(super) fn leave(&mut self, now: Instant, entry: &Entry) -> Verdict {
        self.left.push((now, *entry));
        let flow = entry.connection as usize;
        let stream = match self.order {
            Order::None => return Ok(()),
            Order::OfLink => 0,
            Order::OfFlow => flow,
            // Classic packets with a mark of an earlier queue join the packets of L4S.
            Order::OfClass => {
                let low = matches!(entry.ecn, Ecn::Ect1 | Ecn::Ce);
                2 * flow + usize::from(low)
            }
        };
        let next = &mut self.next[stream];
        let kept = entry.position >= *next;
        *next = entry.position + 1;
        hold(kept, || {
            "delivers a packet before an earlier one, though it does not reorder".to_owned()
        })
    }

    /// The link has determined when a packet arrives.
    pub(super) fn settle(&mut self, sent: &Transmitted) {
        let Some(arrival) = sent.arrival else { return };
        if self.in_flight_order {
            self.in_order.push_back(*sent);
        } else {
            self.reordering
                .insert((arrival, self.settled, sent.flow, sent.size, sent.from));
            self.settled += 1;
        }
    }

    /// Compares the exits with the determined arrivals, and with the times at which the queue was emptied.
    pub(super) fn reconcile(&mut self, schedule: &Schedule) -> Verdict {
        for (now, entry) in self.left.drain(..) {
            let (flow, size) = (u64::from(entry.connection), entry.size);
            let settled = if self.in_flight_order {
                let first = self.in_order.pop_front();
                first.map(|sent| {
                    let arrival = sent.arrival.unwrap_or(Instant::NEVER);
                    (arrival, sent.flow, sent.size, sent.from)
                })
            } else {
                let first = self.reordering.pop_first();
                first.map(|(arrival, _, flow, size, from)| (arrival, flow, size, from))
            };
            let Some((arrival, expected, expected_size, from)) = settled else {
                return Err("delivers a packet that was never transmitted".to_owned());
            };
            hold((flow, size) == (expected, expected_size), || {
                format!("delivers a packet of {size} where one of {expected_size} was next")
            })?;
            hold(arrival == now, || {
                format!("delivers a packet at {now} that arrives at {arrival}")
            })?;
            if let Some(flush) = schedule.flush(entry.entered, from) {
                let entered = entry.entered;
                return Err(format!(
                    "delivers a packet that came at {entered} and was sent from {from}, though the queue was emptied at {flush}"
                ));
            }
        }
        Ok(())
    }

    /// Packets with a determined arrival that have not left.
    pub(super) fn on_the_way(&self) -> usize {
        self.in_order.len() + self.reordering.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_path::{CakeConfig, DualPi2Config, FqCodelConfig, PolicerConfig};
    use thalweg_units::{Duration, Rate};

    fn config(queue: QueueConfig, reorder: bool) -> LinkConfig {
        let rate = Rate::from_bits_per_sec(8_000_000);
        let mut config = LinkConfig::new(rate, Duration::ZERO);
        (config.queue, config.reorder) = (queue, reorder);
        config
    }

    fn entry(connection: u32, ecn: Ecn, position: u64) -> Entry {
        Entry {
            connection,
            size: Bytes::new(1000),
            ecn,
            entered: Instant::START,
            position,
        }
    }

    /// Whether the second of two packets may leave first.
    fn may_overtake(config: &LinkConfig, first: Entry, second: Entry) -> bool {
        let mut crossing = Crossing::new(config, 2);
        crossing.leave(Instant::START, &second).unwrap();
        crossing.leave(Instant::START, &first).is_ok()
    }

    #[test]
    fn order_is_held_where_the_discipline_promises_it() {
        let packets = |flow, ecn| (entry(0, Ecn::Ect0, 0), entry(flow, ecn, 1));
        let may = |config: &LinkConfig, (first, second)| may_overtake(config, first, second);
        let (same, other, low) = (
            packets(0, Ecn::Ect0),
            packets(1, Ecn::Ect0),
            packets(0, Ecn::Ect1),
        );
        let tail = config(QueueConfig::DropTail, false);
        assert!(!may(&tail, same) && !may(&tail, other) && !may(&tail, low));
        let fair = config(QueueConfig::FqCodel(FqCodelConfig::default()), false);
        assert!(!may(&fair, same) && may(&fair, other) && !may(&fair, low));
        let cake = config(QueueConfig::Cake(CakeConfig::default()), false);
        assert!(!may(&cake, same) && may(&cake, other));
        let order = |flows| Order::of(&cake, flows);
        assert_eq!((order(8), order(9)), (Order::OfFlow, Order::None));
        let dual = config(QueueConfig::DualPi2(DualPi2Config::default()), false);
        assert!(!may(&dual, same) && may(&dual, other) && may(&dual, low));
        let mut marked = dual.clone();
        marked.policer = Some(PolicerConfig {
            rate: Rate::ZERO,
            burst: Bytes::ZERO,
            mark: true,
        });
        assert!(may(&marked, same));
        let jitter = config(QueueConfig::DropTail, true);
        assert!(may(&jitter, same) && may(&jitter, other) && may(&jitter, low));
    }

    fn sent(flow: u64, size: u64, arrival: u64) -> Transmitted {
        Transmitted {
            flow,
            size: Bytes::new(size),
            from: Instant::START,
            until: Instant::START,
            arrival: Some(Instant::from_nanos(arrival)),
        }
    }

    /// The finding when a packet of flow 0 and 1000 bytes leaves at time 7, and `settled` is next.
    fn problem(reorder: bool, settled: &[Transmitted]) -> Option<String> {
        let mut crossing = Crossing::new(&config(QueueConfig::DropTail, reorder), 2);
        settled.iter().for_each(|sent| crossing.settle(sent));
        let packet = entry(0, Ecn::Ect0, 0);
        crossing.leave(Instant::from_nanos(7), &packet).unwrap();
        let schedule = Schedule::new(&config(QueueConfig::DropTail, reorder));
        crossing.reconcile(&schedule).err()
    }

    #[test]
    fn an_exit_that_differs_from_what_was_settled_is_found() {
        for reorder in [false, true] {
            assert_eq!(problem(reorder, &[sent(0, 1000, 7)]), None);
            for (settled, says) in [
                (vec![], "never transmitted"),
                (vec![sent(0, 1000, 6)], "that arrives at 6 ns"),
                (vec![sent(0, 1000, 8)], "that arrives at 8 ns"),
                (vec![sent(0, 999, 7)], "one of 999 B was next"),
                (vec![sent(1, 1000, 7)], "was next"),
            ] {
                let found = problem(reorder, &settled).unwrap();
                assert!(found.contains(says), "{found}");
            }
        }
    }
}
