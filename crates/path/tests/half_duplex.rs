//! Two links that share a medium: the links that a driver calls in the order of time.

use proptest::prelude::*;
use thalweg_path::test_packet::{TestPacket, at, ms};
use thalweg_path::{Change, HalfDuplexConfig, Limit, Link, LinkConfig, Medium, MediumConfig};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// 8 Mbps: 1000 bytes in a millisecond; 10 ms of delay.
fn config() -> LinkConfig {
    LinkConfig::new(Rate::from_bits_per_sec(8_000_000), ms(10))
}

const PLAIN: HalfDuplexConfig = HalfDuplexConfig {
    overhead: Duration::ZERO,
    packets: 1,
};

/// A packet that is pushed: when, into which link, and its size.
type Pushed = (Instant, usize, u64);

/// When which packet leaves which link: time, link, and place among what is pushed.
fn arrivals(
    configs: [&LinkConfig; 2],
    medium: HalfDuplexConfig,
    packets: &[Pushed],
) -> Vec<(Instant, usize, u64)> {
    let mut links = configs.map(|config| Link::<TestPacket>::new(config, 1, 0));
    let mut medium = Medium::new(&MediumConfig::HalfDuplex(medium), 1, &mut links);
    let mut seen = Vec::new();
    let mut packets = (0..).zip(packets).peekable();
    loop {
        let due = packets
            .peek()
            .map_or(Instant::NEVER, |(_, (time, ..))| *time);
        let arrival = links.iter().filter_map(Link::next).min();
        let now = due
            .min(medium.next())
            .min(arrival.unwrap_or(Instant::NEVER));
        if now == Instant::NEVER {
            return seen;
        }
        for (side, link) in links.iter_mut().enumerate() {
            while let Some(packet) = link.pop(now) {
                seen.push((now, side, packet.number));
            }
        }
        if medium.next() == now {
            medium.call(now, &mut links);
        } else if let Some((number, (_, side, size))) =
            packets.next_if(|(_, (time, ..))| *time == now)
        {
            links[*side].push(now, TestPacket::new(number, *size));
            medium.pushed(now, *side, &mut links);
        }
    }
}

/// The same of links with media of their own.
fn alone(config: &LinkConfig, packets: &[Pushed]) -> Vec<(Instant, usize, u64)> {
    let mut link = Link::<TestPacket>::new(config, 1, 0);
    let mut seen = Vec::new();
    let mut take = |link: &mut Link<TestPacket>, until: Instant| {
        while let Some(now) = link.next().filter(|now| *now <= until) {
            seen.extend(link.pop(now).map(|packet| (now, 0, packet.number)));
        }
    };
    for (number, (time, _, size)) in (0..).zip(packets) {
        take(&mut link, *time);
        link.push(*time, TestPacket::new(number, *size));
    }
    take(&mut link, Instant::NEVER - Duration::from_nanos(1));
    seen
}

#[test]
fn directions_with_packets_take_turns_however_long_each_takes() {
    // Packets down take 1 ms, packets up 2 ms; three of each wait from the start.
    let packets: Vec<Pushed> = [
        (0, 1000),
        (0, 1000),
        (0, 1000),
        (1, 2000),
        (1, 2000),
        (1, 2000),
    ]
    .map(|(side, size)| (at(0), side, size))
    .to_vec();
    let seen = arrivals([&config(), &config()], PLAIN, &packets);
    // Ends: down 1, up 3, down 4, up 6, down 7, up 9 ms; each arrives 10 ms later.
    let expected = [
        (11, 0, 0),
        (13, 1, 3),
        (14, 0, 1),
        (16, 1, 4),
        (17, 0, 2),
        (19, 1, 5),
    ]
    .map(|(millis, side, number)| (at(millis), side, number));
    assert_eq!(seen, expected);
}

#[test]
fn an_access_carries_what_waits_up_to_its_number_and_costs_its_overhead() {
    let medium = HalfDuplexConfig {
        overhead: ms(3),
        packets: 2,
    };
    let packets: Vec<Pushed> = [0, 0, 0, 1].map(|side| (at(0), side, 1000)).to_vec();
    let seen = arrivals([&config(), &config()], medium, &packets);
    // Two down until 2 ms, overhead until 5; one up until 6, overhead until 9; one down until 10.
    let expected = [(11, 0, 0), (12, 0, 1), (16, 1, 3), (20, 0, 2)];
    assert_eq!(
        seen,
        expected.map(|(millis, side, number)| (at(millis), side, number))
    );
    // Who comes while the medium has been free for a while is sent at once; within the overhead it waits.
    let late: Vec<Pushed> = vec![(at(0), 0, 1000), (at(2), 1, 1000), (at(20), 1, 1000)];
    let seen = arrivals([&config(), &config()], medium, &late);
    let expected = [(11, 0, 0), (15, 1, 1), (31, 1, 2)];
    assert_eq!(
        seen,
        expected.map(|(millis, side, number)| (at(millis), side, number))
    );
}

#[test]
fn a_suspended_direction_neither_takes_turns_nor_loses_its_place() {
    let mut suspended = config();
    suspended.rate = Rate::ZERO;
    suspended.changes = vec![Change {
        at: ms(5),
        rate: Some(Rate::from_bits_per_sec(8_000_000)),
        ..Change::default()
    }];
    let mut packets: Vec<Pushed> = vec![(at(0), 1, 1000), (at(1), 0, 1000)];
    packets.extend((0..4).map(|_| (at(4), 0, 2000)));
    let seen = arrivals([&config(), &suspended], PLAIN, &packets);
    // Down until 2 ms; from 4 to 6; then the direction that came back at 5, until 7; then down to 9, 11 and 13.
    let expected = [
        (12, 0, 1),
        (16, 0, 2),
        (17, 1, 0),
        (19, 0, 3),
        (21, 0, 4),
        (23, 0, 5),
    ];
    assert_eq!(
        seen,
        expected.map(|(millis, side, number)| (at(millis), side, number))
    );
    // Nothing else comes: it goes on when it has capacity.
    assert_eq!(
        arrivals([&config(), &suspended], PLAIN, &packets[..1]),
        [(at(16), 1, 0)]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The neutral element: a medium whose other direction is idle.
    #[test]
    fn packets_of_one_direction_arrive_as_over_a_link_of_its_own(
        rate in 1_000_000u64..90_000_001, up in 0usize..2,
        limit in prop::option::of(2u64..20),
        gaps in prop::collection::vec((0u64..2_500_000, 40u64..1500), 1..200),
        changes in prop::collection::vec((1u64..100, 0u64..40), 0..4),
    ) {
        let mut config = config();
        config.rate = Rate::from_bits_per_sec(rate);
        config.limit = limit.map_or(Limit::Unlimited, Limit::Packets);
        let mut times = changes;
        times.sort_unstable();
        config.changes = times.iter().map(|(at, mbps)| Change {
            at: ms(*at), rate: Some(Rate::from_bits_per_sec(mbps * 1_234_567)), ..Change::default()
        }).collect();
        config.changes.push(Change { at: ms(200), rate: Some(Rate::from_bits_per_sec(rate)), ..Change::default() });
        let mut now = at(0);
        let packets: Vec<Pushed> = gaps.iter().map(|(gap, size)| {
            now += Duration::from_nanos(*gap);
            (now, up, *size)
        }).collect();
        let shared = arrivals([&config, &config], PLAIN, &packets);
        let own = alone(&config, &packets);
        prop_assert_eq!(shared.iter().map(|(at, _, n)| (*at, *n)).collect::<Vec<_>>(),
            own.iter().map(|(at, _, n)| (*at, *n)).collect::<Vec<_>>());
    }

    /// All airtime is used while something waits, and none twice.
    #[test]
    fn two_loaded_directions_use_all_airtime_and_get_equal_numbers_of_accesses(
        rates in prop::array::uniform2(1u64..60), sizes in prop::array::uniform2(60u64..1500),
        overhead_us in 0u64..300, packets in 1u32..5, count in 20u64..60,
    ) {
        let configs = rates.map(|mbps| LinkConfig::new(Rate::from_bits_per_sec(mbps * 1_000_000), ms(1)));
        let overhead = Duration::from_micros(overhead_us);
        let mut pushed = Vec::new();
        for _ in 0..count {
            pushed.extend([0, 1].map(|side| (at(0), side, sizes[side])));
        }
        let seen = arrivals([&configs[0], &configs[1]], HalfDuplexConfig { overhead, packets }, &pushed);
        prop_assert_eq!(seen.len() as u64, 2 * count);
        // The first packet goes alone, as nothing else waits when it comes; then each access has `packets`, in turn.
        // All of them take their transmission times, and the overhead lies between accesses.
        let time = |side: usize| Rate::from_bits_per_sec(rates[side] * 1_000_000).time_for(Bytes::new(sizes[side]));
        let accesses = 1 + seen.windows(2).filter(|pair| {
            // Within an access packets follow one another at the spacing of their transmission.
            let apart = pair[1].0 - pair[0].0;
            pair[0].1 != pair[1].1 || apart > time(pair[1].1) + Duration::from_nanos(1)
        }).count() as u64;
        let airtime = (time(0) + time(1)) * count + overhead * (accesses - 1);
        let last = seen.last().map(|(at, ..)| *at - ms(1) - Instant::START).unwrap_or_default();
        let rounding = Duration::from_nanos(2 * count);
        if overhead_us > 0 {
            prop_assert!(last <= airtime + rounding && airtime <= last + rounding, "{last} {airtime}");
        }
        // At any time, no direction has had more than one access more than the other, as long as both wait.
        let mut had = [0u64; 2];
        for (_, side, _) in &seen {
            had[*side] += 1;
            if had.iter().all(|packets| *packets < count) {
                prop_assert!(had[0].abs_diff(had[1]) <= u64::from(packets) + 1, "{had:?}");
            }
        }
    }
}
