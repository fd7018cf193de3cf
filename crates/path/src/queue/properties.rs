//! What holds for every discipline under any sequence of events.

use super::{CodelConfig, FqCodelConfig, Queue, QueueConfig};
use crate::queue::testing::Bench;
use crate::{Limit, LinkStats};
use proptest::prelude::*;
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

fn every_discipline() -> Vec<QueueConfig> {
    let threshold = CodelConfig {
        ce_threshold: Some(Duration::from_millis(1)),
        ..CodelConfig::default()
    };
    let few = FqCodelConfig {
        flows: 3,
        quantum: Bytes::new(300),
        codel: threshold,
    };
    vec![
        QueueConfig::DropTail,
        QueueConfig::Codel(CodelConfig::default()),
        QueueConfig::Codel(threshold),
        QueueConfig::FqCodel(FqCodelConfig::default()),
        QueueConfig::FqCodel(few),
        QueueConfig::Pie(Default::default()),
        QueueConfig::DualPi2(Default::default()),
        QueueConfig::Red(Default::default()),
    ]
}

#[derive(Clone, Debug)]
enum Event {
    Arrive { flow: u64, size: u64, ecn: Ecn },
    Dequeue,
    Pass(u64),
    Limit(u64),
    Rate(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let ecn = prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]);
    prop_oneof![
        6 => (0u64..5, 40u64..1500, ecn)
            .prop_map(|(flow, size, ecn)| Event::Arrive { flow, size, ecn }),
        4 => Just(Event::Dequeue),
        3 => (0u64..40_000).prop_map(Event::Pass),
        1 => (1u64..60).prop_map(Event::Limit),
        1 => (0u64..20).prop_map(Event::Rate),
    ]
}

/// What a flow put in, and when the packets that came out had come.
struct Seen {
    arrived: Vec<(u64, Ecn)>,
    left: Vec<u64>,
}

fn play(config: &QueueConfig, events: &[Event]) -> Result<(), TestCaseError> {
    let mut bench = Bench::new(Queue::new(config, 5), Ecn::NotEct);
    bench.buffer.limit = Limit::Packets(50);
    let mut now = Instant::START;
    let mut flows: Vec<Seen> = (0..5)
        .map(|_| Seen {
            arrived: Vec::new(),
            left: Vec::new(),
        })
        .collect();
    let mut waiting = 0;
    for event in events {
        match *event {
            Event::Arrive { flow, size, ecn } => {
                flows[flow as usize].arrived.push((size, ecn));
                // No two come at one time: the time tells them apart.
                now += Duration::from_nanos(1);
                bench.arrive_with(now, flow, size, ecn);
            }
            Event::Dequeue => {
                if let Some(packet) = bench.dequeue(now) {
                    let flow = &mut flows[packet.flow as usize];
                    flow.left.push(packet.arrived.as_nanos());
                    let came = flow.arrived.iter().any(|(size, ecn)| {
                        *size == packet.size.as_u64()
                            && (*ecn == packet.ecn || packet.ecn == Ecn::Ce && *ecn != Ecn::NotEct)
                    });
                    prop_assert!(
                        came,
                        "a packet that never came, or a mark on one not capable"
                    );
                } else {
                    prop_assert_eq!(bench.buffer.waiting.packets, 0);
                }
            }
            Event::Pass(us) => now += Duration::from_micros(us),
            Event::Limit(packets) => {
                bench.buffer.limit = Limit::Packets(packets);
                bench.shed();
                prop_assert!(bench.buffer.waiting.packets <= packets);
            }
            Event::Rate(mbps) => bench.buffer.rate = Rate::from_bits_per_sec(mbps * 1_000_000),
        }
        waiting = bench.buffer.waiting.packets;
    }
    let LinkStats {
        offered,
        transmitted,
        dropped,
        ..
    } = bench.buffer.counters.totals();
    prop_assert_eq!(
        offered.packets,
        transmitted.packets + dropped.packets + waiting
    );
    prop_assert_eq!(
        offered.bytes,
        transmitted.bytes + dropped.bytes + bench.buffer.waiting.bytes
    );
    // All that waits comes out, or is dropped.
    while bench.dequeue(now).is_some() {}
    prop_assert_eq!(bench.buffer.waiting.packets, 0);
    let dual = matches!(config, QueueConfig::DualPi2(_));
    for flow in flows.iter().filter(|_| !dual) {
        prop_assert!(flow.left.is_sorted(), "a flow is first in, first out");
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_packet_leaves_once_waits_or_is_dropped(
        events in prop::collection::vec(event(), 1..400)
    ) {
        for config in every_discipline() {
            play(&config, &events)?;
        }
    }

    #[test]
    fn under_fair_queueing_everybody_who_waits_is_served_within_a_round(
        sizes in prop::collection::vec(40u64..1500, 2..20)
    ) {
        let config = FqCodelConfig { flows: 1 << 16, ..FqCodelConfig::default() };
        let mut bench = Bench::new(Queue::new(&QueueConfig::FqCodel(config), 5), Ecn::NotEct);
        for (flow, size) in sizes.iter().enumerate() {
            for _ in 0..200 {
                bench.arrive_as(Instant::START, flow as u64, *size);
            }
        }
        // A flow sends at most a quantum and a packet before its next turn.
        let most = |size: u64| 1514 / size + 2;
        let round: u64 = sizes.iter().map(|size| most(*size)).sum();
        let mut last = vec![0u64; sizes.len()];
        for turn in 1..=3 * round {
            let Some(packet) = bench.dequeue(Instant::START) else { break };
            last[packet.flow as usize] = turn;
            for (flow, seen) in last.iter().enumerate() {
                prop_assert!(turn - seen <= 2 * round, "flow {} waits since {}", flow, seen);
            }
        }
    }
}
