//! Invariants of every link, whatever its configuration and input.

mod any_config;

use any_config::{config, span};
use proptest::prelude::*;
use thalweg_path::test_packet::TestPacket;
use thalweg_path::{
    CodelConfig, Count, FlowLinkStats, FqCodelConfig, JitterConfig, Limit, Link, LinkConfig,
    LossConfig, QueueConfig,
};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// Three flows take turns.
fn of_three(number: u64, size: u64, sent: Instant) -> TestPacket {
    let packet = TestPacket {
        sent,
        ..TestPacket::new(number, size)
    };
    packet.of_flow(number % 3)
}

/// Whether packets leave in the order in which they came, whatever their flow and codepoint.
fn is_fifo(config: &LinkConfig) -> bool {
    disciplines(config).all(|queue| match queue {
        QueueConfig::FqCodel(FqCodelConfig { flows, .. }) => *flows <= 1,
        QueueConfig::Cake(_) | QueueConfig::DualPi2(_) => false,
        _ => true,
    })
}
/// The disciplines of a link, at the start and from changes on.
fn disciplines(config: &LinkConfig) -> impl Iterator<Item = &QueueConfig> {
    let changed = config
        .changes
        .iter()
        .filter_map(|change| change.queue.as_ref());
    changed.chain([&config.queue])
}
/// Packets in order of sending, with bursts.
fn packets() -> impl Strategy<Value = Vec<TestPacket>> {
    let gap = prop_oneof![Just(Duration::ZERO), span(2_000)];
    proptest::collection::vec((gap, 1u64..3_000), 1..120).prop_map(|gaps| {
        let mut now = Instant::START;
        let next = |(number, (gap, size))| {
            now += gap;
            of_three(number, size, now)
        };
        (0..).zip(gaps).map(next).collect()
    })
}

/// End of the test: some links never finish.
const HORIZON: Instant = Instant::from_nanos(10_000_000_000);

fn conserved(link: &Link<TestPacket>) -> bool {
    let stats = link.stats();
    let gone = stats.delivered.packets + stats.dropped.packets + stats.lost.packets;
    stats.offered.packets == gone + link.queue().packets + link.in_flight() as u64
}

/// How long `rate` takes for `bytes`, rounded up to nanoseconds.
fn time_at(rate: Rate, bytes: Bytes) -> Duration {
    let nanobits = u128::from(bytes.as_u64()) * 8_000_000_000;
    let rate = u128::from(rate.as_bits_per_sec()).max(1);
    Duration::from_nanos(u64::try_from(nanobits.div_ceil(rate)).unwrap_or(u64::MAX))
}

/// Whether a call of `pop` is due at `now`.
fn due(link: &Link<TestPacket>, now: Instant) -> Option<Instant> {
    link.next().filter(|at| *at <= now)
}

/// Pops what arrives by `now`, each packet at its time.
fn collect(link: &mut Link<TestPacket>, now: Instant, arrivals: &mut Vec<(u64, Instant)>) {
    while let Some(at) = due(link, now) {
        if let Some(packet) = link.pop(at) {
            arrivals.push((packet.number, at));
        }
    }
}

/// Arrivals when `pop` is called at every time that the link names.
fn punctual(link: &mut Link<TestPacket>, packets: &[TestPacket]) -> Vec<(u64, Instant)> {
    let mut arrivals = Vec::new();
    for packet in packets {
        collect(link, packet.sent, &mut arrivals);
        link.push(packet.sent, packet.clone());
        assert!(conserved(link));
    }
    collect(link, HORIZON, &mut arrivals);
    link.advance(HORIZON);
    assert!(conserved(link));
    arrivals
}

proptest! {
    #[test]
    fn every_packet_is_delivered_dropped_lost_or_still_there(
        config in config(), packets in packets(), seed: u64,
    ) {
        let mut link = Link::new(&config, seed, 3);
        let arrivals = punctual(&mut link, &packets);
        let stats = link.stats();
        prop_assert_eq!(stats.offered.packets, packets.len() as u64);
        prop_assert_eq!(stats.delivered.packets, arrivals.len() as u64);
        let mut numbers: Vec<_> = arrivals.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        prop_assert_eq!(numbers.len(), arrivals.len(), "no packet twice");
        // The flows add up to the link.
        let sum = |count: fn(&FlowLinkStats) -> Count| {
            let flows = || (0..3).map(|flow| count(link.flow_stats(flow)));
            let packets = flows().map(|count| count.packets).sum();
            Count { packets, bytes: flows().map(|count| count.bytes).sum() }
        };
        prop_assert_eq!(sum(|flow| flow.offered), stats.offered);
        prop_assert_eq!(sum(|flow| flow.delivered), stats.delivered);
        prop_assert_eq!(sum(|flow| flow.dropped), stats.dropped);
        prop_assert_eq!(sum(|flow| flow.lost), stats.lost);
        prop_assert_eq!(sum(|flow| flow.transmitted), stats.transmitted);
        prop_assert_eq!(
            stats.transmitted.packets,
            stats.delivered.packets + stats.lost.packets + link.in_flight() as u64
        );
    }

    #[test]
    fn arrivals_are_in_order_unless_reordering_is_asked_for(
        config in config(), packets in packets(), seed: u64,
    ) {
        let arrivals = punctual(&mut Link::new(&config, seed, 0), &packets);
        prop_assert!(arrivals.is_sorted_by_key(|(_, at)| *at));
        // Queue disciplines may prefer one flow to another, but keep the order within each. A packet that
        // a policer, or a discipline before it, marks changes to the L queue of DualPI2 (RFC 9331 section 5.1) and may
        // overtake others.
        let is = |test: fn(&QueueConfig) -> bool| disciplines(&config).any(test);
        let marks = config.policer.is_some_and(|policer| policer.mark)
            || is(|queue| matches!(queue, QueueConfig::Red(_) | QueueConfig::Pie(_) | QueueConfig::Step(_)));
        let moves = marks && is(|queue| matches!(queue, QueueConfig::DualPi2(_)));
        let in_order = |flow: Option<u64>| {
            let numbers = arrivals.iter().map(|(number, _)| *number);
            numbers.filter(|number| flow.is_none_or(|flow| number % 3 == flow)).is_sorted()
        };
        if !config.reorder {
            prop_assert!([0, 2].iter().all(|flow| in_order(Some(*flow))));
            prop_assert!(moves || in_order(Some(1)));
            prop_assert!(!is_fifo(&config) || in_order(None));
        }
    }

    #[test]
    fn no_packet_arrives_before_its_transmission_and_its_journey(
        config in config(), packets in packets(), seed: u64,
    ) {
        let mut link = Link::new(&config, seed, 0);
        let arrivals = punctual(&mut link, &packets);
        let delays = config.changes.iter().filter_map(|change| change.delay);
        let delay = delays.chain([config.delay]).min().unwrap();
        // Three deviations, and the rounding.
        let gain = config.noise.map_or(Duration::ZERO, |noise| noise.delay_sd * 3 + Duration::from_nanos(1));
        for (number, at) in arrivals {
            let TestPacket { sent, size, .. } = packets[number as usize];
            let able = link.capacity_between(sent, at - (delay - gain));
            prop_assert!(able >= Bytes::new(size), "{} {}", number, able);
            if config.noise.is_none() {
                let out = link.schedule().time_to_send(Bytes::new(size), sent);
                prop_assert!(out.is_some_and(|out| out + delay <= at), "{} {:?} {}", number, out, at);
            }
        }
    }

    #[test]
    fn a_late_caller_gets_the_same_packets_at_the_same_times_and_the_same_statistics(
        config in config(), packets in packets(), seed: u64,
        looks in proptest::collection::vec(any::<bool>(), 120),
    ) {
        let mut on_time = Link::new(&config, seed, 3);
        let expected = punctual(&mut on_time, &packets);
        // Never popped before the end.
        let mut late = Link::new(&config, seed, 3);
        for packet in &packets {
            late.push(packet.sent, packet.clone());
        }
        late.advance(HORIZON);
        let mut arrivals = Vec::new();
        collect(&mut late, HORIZON, &mut arrivals);
        prop_assert_eq!(&arrivals, &expected);
        prop_assert_eq!(late.stats(), on_time.stats());
        // Popped, and looked at, now and then.
        let mut sometimes = Link::new(&config, seed, 3);
        let mut count = 0;
        for (packet, look) in packets.iter().zip(looks) {
            sometimes.push(packet.sent, packet.clone());
            while look && sometimes.pop(packet.sent).is_some() {
                count += 1;
            }
        }
        sometimes.advance(HORIZON);
        while sometimes.pop(HORIZON).is_some() {
            count += 1;
        }
        prop_assert_eq!(count, expected.len());
        prop_assert_eq!(sometimes.stats(), on_time.stats());
    }

    #[test]
    fn a_busy_link_runs_exactly_at_its_capacity(
        mut config in config(), sizes in proptest::collection::vec(1u64..3_000, 1..60),
    ) {
        (config.limit, config.loss) = (Limit::Unlimited, LossConfig::None);
        (config.jitter, config.delay) = (JitterConfig::None, Duration::ZERO);
        (config.policer, config.noise, config.queue) = (None, None, QueueConfig::DropTail);
        for change in &mut config.changes {
            (change.limit, change.jitter, change.delay) = (None, None, None);
            (change.loss, change.queue, change.flush) = (None, None, false);
        }
        let mut link = Link::new(&config, 0, 0);
        for (number, size) in (0..).zip(&sizes) {
            link.push(Instant::START, of_three(number, *size, Instant::START));
        }
        let mut sent = Bytes::ZERO;
        for size in sizes {
            sent += Bytes::new(size);
            let end = link.schedule().time_to_send(sent, Instant::START).filter(|end| *end <= HORIZON);
            let mut at = None;
            while let Some(now) = due(&link, HORIZON) {
                if link.pop(now).is_some() {
                    at = Some(now);
                    break;
                }
            }
            prop_assert_eq!(at, end);
        }
    }

    #[test]
    fn the_queue_keeps_its_limit(mut config in config(), packets in packets(), seed: u64) {
        for change in &mut config.changes {
            change.limit = None;
        }
        let is_tail = disciplines(&config).all(|queue| *queue == QueueConfig::DropTail);
        let mut link = Link::new(&config, seed, 0);
        for packet in &packets {
            let (size, sent) = (packet.size, packet.sent);
            link.advance(sent);
            let (before, queue) = (link.stats().dropped.packets, link.queue().bytes);
            // The limit counts a delivery trace with its mean, its delay with the opportunities to come. A packet
            // in transmission is in the backlog and not in the queue.
            let at_mean = |bytes: Bytes| time_at(link.capacity(), bytes);
            let (least, most) = match &config.trace {
                None => (link.queue_delay(), link.queue_delay()),
                Some(_) => (at_mean(queue), at_mean(queue + Bytes::new(3_000))),
            };
            link.push(sent, packet.clone());
            let dropped = link.stats().dropped.packets > before;
            // Only without active queue management is the limit the one cause of drops.
            let passive = config.policer.is_none() && is_tail;
            match config.limit {
                Limit::Unlimited | Limit::Time(_) if !passive => {}
                Limit::Unlimited => prop_assert!(!dropped),
                Limit::Bytes(limit) => prop_assert!(link.queue().bytes <= limit),
                Limit::Packets(limit) => prop_assert!(link.queue().packets <= limit),
                // Dropped if and only if the backlog, here rounded up to nanoseconds, reaches the limit.
                Limit::Time(limit) if link.capacity().is_zero() => {
                    prop_assert!(!dropped, "{:?} {}", limit, size);
                }
                Limit::Time(limit) if dropped => prop_assert!(most >= limit),
                Limit::Time(limit) => prop_assert!(least <= limit),
            }
        }
    }

    #[test]
    fn no_flow_starves_under_fair_queueing(
        packets in packets(), quantum in 1u64..4_000, big in 1u64..3_000,
    ) {
        // Flow 0 always waits; flows 1 and 2 come and go. CoDel is kept from dropping.
        let codel = CodelConfig { target: Duration::MAX, ..CodelConfig::default() };
        let (flows, quantum) = (1024, Bytes::new(quantum));
        let mut config = LinkConfig::new(Rate::from_bits_per_sec(10_000_000), Duration::ZERO);
        config.queue = QueueConfig::FqCodel(FqCodelConfig { flows, quantum, codel, ..FqCodelConfig::default() });
        let mut link = Link::new(&config, 1, 3);
        let mut arrivals = Vec::new();
        for n in 0..300 {
            link.push(Instant::START, of_three(3 * n, big, Instant::START));
        }
        for packet in &packets {
            let number = packet.number / 2 * 3 + 1 + packet.number % 2;
            collect(&mut link, packet.sent, &mut arrivals);
            link.push(packet.sent, of_three(number, packet.size, packet.sent));
        }
        collect(&mut link, HORIZON, &mut arrivals);
        prop_assert_eq!(arrivals.len(), 300 + packets.len());
        // Between two packets of flow 0 each other flow has the turns that flow 0 needs for one packet, one
        // of them as a new flow, and overdraws by a packet.
        let turns = big.div_ceil(quantum.as_u64()) + 2;
        let bound = 2 * (turns * quantum.as_u64() + 3_000);
        let mut others = 0;
        let size = |number: u64| packets[(number / 3 * 2 + number % 3 - 1) as usize].size;
        for (number, _) in arrivals.iter().take_while(|(number, _)| *number != 3 * 299) {
            others = if number % 3 == 0 { 0 } else { others + size(*number) };
            prop_assert!(others <= bound, "{others} {bound}");
        }
    }
}
