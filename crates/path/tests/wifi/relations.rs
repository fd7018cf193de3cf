//! Relations between cells, and what any cell keeps.

use crate::cell::{Arrival, Cell, mbps, seconds};
use proptest::prelude::*;
use thalweg_path::wifi::{Heard, NeighbourConfig, Phy, StationCounters, WifiConfig, WifiPreset};
use thalweg_units::{Duration, Instant};

/// What arrives of packets: gap to the last one, link and size.
fn arrivals(
    config: &WifiConfig,
    seed: u64,
    start: Instant,
    packets: &[(Duration, usize, u64)],
) -> (Cell, Vec<Arrival>) {
    let mut cell = Cell::new(config, mbps(65.0), seed);
    let (mut now, mut seen) = (start, Vec::new());
    for (gap, side, size) in packets {
        now += *gap;
        seen.extend(cell.run(now));
        cell.push(now, *side, *size);
    }
    seen.extend(cell.run(now + Duration::from_secs(100)));
    (cell, seen)
}

/// The mean delay of packets of 200 bytes to the client, so far apart, in seconds.
fn mean_delay(config: &WifiConfig, apart: Duration, span: Duration, seed: u64) -> f64 {
    let count = span.as_nanos() / apart.as_nanos();
    let packets: Vec<_> = (0..count).map(|_| (apart, 0, 200)).collect();
    let (_, seen) = arrivals(config, seed, Instant::START, &packets);
    let sum: f64 = seen.iter().map(|one| one.delay().as_nanos() as f64).sum();
    sum / seen.len() as f64 / 1e9
}

fn bursty(count: u32, airtime_us: u64) -> NeighbourConfig {
    let ms = Duration::from_millis;
    NeighbourConfig {
        bursts: Some((ms(20), ms(180))),
        ..NeighbourConfig::saturated(count, Duration::from_micros(airtime_us))
    }
}

#[test]
fn an_idle_cell_makes_up_for_its_neighbours_in_parts_and_does_the_same() {
    let mut config = WifiConfig::new(Phy::Ac);
    config.neighbours = vec![NeighbourConfig {
        heard: Heard::Neither,
        ..NeighbourConfig::saturated(62, Duration::from_micros(50))
    }];
    let end = seconds(2.0);
    let at_once: Vec<_> = Cell::new(&config, mbps(65.0), 1).counters(end);
    let mut cell = Cell::new(&config, mbps(65.0), 1);
    let (mut now, mut before) = (Instant::START, 0);
    while now < end {
        now = cell.medium.call_by().min(end);
        let counters = cell.counters(now);
        let attempts = counters.iter().map(|one| one.attempts).sum();
        // 100 ms, in which each of 62 stations sends 10 frames in a millisecond at the most.
        assert!(attempts - before <= 62_000, "{}", attempts - before);
        before = attempts;
    }
    assert!(before > 10_000);
    let in_parts = cell.counters(end);
    let of = |counters: &[StationCounters]| {
        let all = counters.iter();
        all.map(|one| (one.attempts, one.received, one.useful, one.wasted))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&in_parts), of(&at_once));
}

#[test]
fn the_mean_delay_of_a_light_flow_does_not_depend_on_how_often_it_sends() {
    // Two Poissons that are drawn for each packet make 16 ms of 7 ms, and 84 ms at 1.2 ms.
    let presets = [WifiPreset::Home, WifiPreset::Apartment, WifiPreset::Hidden];
    for preset in presets {
        let delays =
            [(100_000, 3000), (20_000, 1000), (5000, 400), (1200, 400)].map(|(us, secs)| {
                let span = Duration::from_secs(secs);
                mean_delay(&preset.config(), Duration::from_micros(us), span, 1)
            });
        let most = delays.iter().copied().fold(0.0, f64::max);
        let least = delays.iter().copied().fold(f64::MAX, f64::min);
        println!("{preset:?} {:.2} {delays:?}", most / least);
        assert!(most / least < 1.25, "{preset:?} {delays:?}");
    }
}

#[test]
fn the_order_of_neighbours_changes_nothing_in_distribution() {
    let kinds = [
        bursty(3, 500),
        NeighbourConfig {
            heard: Heard::AccessPoint,
            ..bursty(2, 1000)
        },
        NeighbourConfig {
            heard: Heard::Client,
            ..bursty(2, 1500)
        },
        NeighbourConfig {
            heard: Heard::Neither,
            ..bursty(1, 300)
        },
    ];
    let measure = |order: [usize; 4]| {
        let mut config = WifiConfig::new(Phy::Ac);
        config.neighbours = order.map(|place| kinds[place]).to_vec();
        mean_delay(
            &config,
            Duration::from_millis(10),
            Duration::from_secs(2000),
            2,
        )
    };
    let (first, second) = (measure([0, 1, 2, 3]), measure([3, 1, 0, 2]));
    println!("{first} {second}");
    assert!((first / second - 1.0).abs() < 0.05, "{first} {second}");
}

#[test]
fn seeds_repeat_a_cell_and_differ() {
    let packets: Vec<_> = (0..500)
        .map(|n| (Duration::from_micros(900), n % 2, 700))
        .collect();
    for preset in [WifiPreset::Home, WifiPreset::Apartment, WifiPreset::Hidden] {
        let config = preset.config();
        let run = |seed| arrivals(&config, seed, Instant::START, &packets).1;
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }
}

fn neighbours() -> impl Strategy<Value = Vec<NeighbourConfig>> {
    let places = [
        Heard::Both,
        Heard::AccessPoint,
        Heard::Client,
        Heard::Neither,
    ];
    let kind = (1u32..4, 0usize..4, 60u64..4000, any::<bool>());
    prop::collection::vec(kind, 0..4).prop_map(move |kinds| {
        let kinds = kinds.into_iter().map(|(count, place, airtime, bursts)| {
            let kind = bursty(count, airtime);
            NeighbourConfig {
                heard: places[place],
                bursts: kind.bursts.filter(|_| bursts),
                ..kind
            }
        });
        kinds.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Without neighbours nothing happens by the clock.
    #[test]
    fn what_comes_later_arrives_as_much_later(
        packets in prop::collection::vec((0u64..2_000_000, 0usize..2, 40u64..1500), 1..200),
        shift in 1u64..10_000_000_000, seed: u64,
    ) {
        let config = WifiConfig::new(Phy::N);
        let packets: Vec<_> = packets.into_iter()
            .map(|(gap, side, size)| (Duration::from_nanos(gap), side, size)).collect();
        let shift = Duration::from_nanos(shift);
        let (_, now) = arrivals(&config, seed, Instant::START, &packets);
        let (_, later) = arrivals(&config, seed, Instant::START + shift, &packets);
        let shifted: Vec<_> = now.iter()
            .map(|one| Arrival { sent: one.sent + shift, at: one.at + shift, ..*one }).collect();
        prop_assert_eq!(later, shifted);
    }

    /// Each packet arrives once, in order, or is given up; time in the air is the time of somebody.
    #[test]
    fn packets_are_conserved_and_stay_in_order(
        packets in prop::collection::vec((0u64..4_000_000, 0usize..2, 40u64..1500), 1..200),
        neighbours in neighbours(), attempts in 1u32..20, most in 1u32..64, seed: u64,
    ) {
        let mut config = WifiConfig::new(Phy::Ac);
        (config.neighbours, config.attempts, config.packets) = (neighbours, attempts, most);
        let packets: Vec<_> = packets.into_iter()
            .map(|(gap, side, size)| (Duration::from_nanos(gap), side, size)).collect();
        let (mut cell, seen) = arrivals(&config, seed, Instant::START, &packets);
        for (side, link) in cell.links.iter().enumerate() {
            let stats = link.stats();
            let waiting = link.queue().packets + link.in_air() as u64;
            let arrived: Vec<_> = seen.iter().filter(|one| one.side == side).collect();
            prop_assert_eq!(stats.delivered.packets, arrived.len() as u64);
            prop_assert_eq!(stats.offered.packets, stats.delivered.packets + stats.lost.packets + waiting);
            prop_assert!(arrived.is_sorted_by_key(|one| (one.at, one.number)));
        }
        let end = seconds(200.0);
        for station in cell.counters(end) {
            prop_assert!(station.useful + station.wasted <= end - Instant::START + Duration::from_millis(20));
            prop_assert!(station.received + station.dropped <= station.attempts);
        }
    }
}
