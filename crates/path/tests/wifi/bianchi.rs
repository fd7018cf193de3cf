//! Saturated stations that all hear each other: Bianchi's two equations (IEEE Journal on Selected Areas in Communications 18(3),
//! 2000), the same without categories, and the throughput that ns-3 expects of them (`src/wifi/examples/wifi-bianchi.cc`).

use crate::cell::{Cell, mbps, seconds, us};
use thalweg_path::wifi::{AccessStep, Category, NeighbourConfig, Phy, StationCounters, WifiConfig};
use thalweg_units::{Duration, Rate};

/// Frames of so many bytes at `rate`, from `stations` neighbours that always have one and never give up.
fn saturated(phy: Phy, category: Category, rate: Rate, stations: u32) -> (WifiConfig, Duration) {
    let mut config = WifiConfig::new(phy);
    (config.attempts, config.packets) = (u32::MAX, 1);
    let frame = frame(phy, rate);
    config.neighbours = vec![NeighbourConfig {
        category,
        ..NeighbourConfig::saturated(stations, frame)
    }];
    (config, frame)
}

const PAYLOAD: u64 = 1500;

/// How long a frame with a packet of 1500 bytes takes, found by sending one.
fn frame(phy: Phy, rate: Rate) -> Duration {
    let mut cell = Cell::new(&WifiConfig::new(phy), rate, 1);
    cell.push(seconds(1.0), 1, PAYLOAD);
    let [arrival] = cell.run(seconds(2.0))[..] else {
        panic!("one packet")
    };
    arrival.delay()
}

/// What the equations give.
struct Expected {
    /// The probability that an attempt collides.
    collides: f64,
    /// Frames that arrive in a second.
    frames: f64,
}

/// How many slots the window of a stage has.
fn window(stage: i32) -> f64 {
    16.0 * 2f64.powi(stage.min(6))
}

/// The probability of a collision at which `sends`, the one of sending in a slot, falls together with it.
fn fixed_point(n: u32, sends: impl Fn(f64) -> f64) -> f64 {
    // The difference falls with p.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let p = (low + high) / 2.0;
        let collides = 1.0 - (1.0 - sends(p)).powi(n as i32 - 1);
        if collides > p {
            low = p;
        } else {
            high = p;
        }
    }
    low
}

/// `n` stations by Bianchi's two equations, in which a slot that has begun counts even if it is busy, as with a category.
fn equations(n: u32, frame: f64) -> Expected {
    let sends = |p: f64| {
        let sum: f64 = (0..6).map(|i| (2.0 * p).powi(i)).sum();
        2.0 / (1.0 + window(0) + p * window(0) * sum)
    };
    let p = fixed_point(n, sends);
    let (idle, one) = slots(n, sends(p));
    // A slot is idle, has one frame that is acknowledged, or has a collision.
    let space = 43e-6;
    let mean = idle * SLOT + one * (frame + ANSWER + space) + (1.0 - idle - one) * (frame + space);
    Expected {
        collides: p,
        frames: one / mean,
    }
}

/// The same where only slots count that stay free (10.3.4.3; I. Tinnirello, G. Bianchi, Y. Xiao, IEEE Transactions on Vehicular
/// Technology 59(3), 2010, here without what they say of the timeout after a collision). The slot after a busy time is then
/// for those who had the medium and have drawn no slot, and they are alone in it; all others need at least one that is free.
fn equations_of_free_slots(n: u32, frame: f64) -> Expected {
    // How often each stage sends against others, once for each time that it begins anew.
    let visits = |p: f64| -> Vec<f64> {
        let stages = (0..400).scan(1.0, |visits, stage| {
            let own = *visits;
            *visits *= p * (1.0 - 1.0 / window(stage + 1));
            Some(own)
        });
        stages.collect()
    };
    let sends = |p: f64| {
        let visits = visits(p);
        let slots = (0..).zip(&visits).map(|(i, own)| own * window(i) / 2.0);
        visits.iter().sum::<f64>() / slots.sum::<f64>()
    };
    let p = fixed_point(n, sends);
    let (visits, tau) = (visits(p), sends(p));
    let contended: f64 = visits.iter().sum();
    let again = 1.0 / (window(0) - 1.0);
    let after_failures: f64 = (0..)
        .zip(&visits)
        .map(|(i, own)| own * p / window(i + 1))
        .sum();
    let alone = (again + after_failures) / contended;
    let (idle, one) = slots(n, tau);
    let (space, alone_in_slot) = (34e-6, f64::from(n) * tau * alone);
    let mean = idle * SLOT
        + one * (frame + ANSWER + space + SLOT)
        + (1.0 - idle - one) * (frame + space + SLOT)
        + alone_in_slot * (frame + ANSWER + space);
    Expected {
        collides: p / (1.0 + alone),
        frames: (one + alone_in_slot) / mean,
    }
}

const SLOT: f64 = 9e-6;
/// The short space, and an acknowledgement at 24 Mbps.
const ANSWER: f64 = 16e-6 + 28e-6;

/// The probabilities that nobody and that one of `n` stations sends in a slot.
fn slots(n: u32, tau: f64) -> (f64, f64) {
    let others = (1.0 - tau).powi(n as i32 - 1);
    ((1.0 - tau) * others, f64::from(n) * tau * others)
}

fn total(counters: &[StationCounters], of: impl Fn(&StationCounters) -> u64) -> f64 {
    counters.iter().map(of).sum::<u64>() as f64
}

fn agree(category: Category, equations: fn(u32, f64) -> Expected) {
    for n in [2, 5, 10, 20, 50] {
        let (config, frame) = saturated(Phy::A, category, mbps(54.0), n);
        let span = 60.0;
        let counters = Cell::new(&config, mbps(54.0), 7).counters(seconds(span));
        let (attempts, received) = (
            total(&counters, |one| one.attempts),
            total(&counters, |one| one.received),
        );
        let collides = 1.0 - received / attempts;
        let expected = equations(n, frame.as_nanos() as f64 / 1e9);
        let throughput = received / span;
        let off = throughput / expected.frames - 1.0;
        println!(
            "{category:?} {n}: p {collides:.4} {:.4}, frames {throughput:.1} {:.1} ({:.2} %)",
            expected.collides,
            expected.frames,
            100.0 * off
        );
        assert!((collides - expected.collides).abs() < 0.01, "{n}");
        let bound = if n <= 20 { 0.015 } else { 0.03 };
        assert!(off.abs() < bound, "{n}");
    }
}

#[test]
fn collisions_and_throughput_are_those_of_the_two_equations() {
    agree(Category::BestEffort, equations);
}

#[test]
fn without_categories_they_are_those_of_free_slots() {
    agree(Category::Dcf, equations_of_free_slots);
}

#[test]
fn without_categories_the_slot_after_a_frame_that_arrives_is_its_senders() {
    for (category, space) in [(Category::Dcf, 34.0), (Category::BestEffort, 43.0)] {
        let (config, _) = saturated(Phy::A, category, mbps(54.0), 5);
        let mut cell = Cell::new(&config, mbps(54.0), 7);
        cell.medium.record_accesses(true);
        cell.counters(seconds(20.0));
        let (mut last, mut own, mut others) = (None, 0, 0);
        while let Some(event) = cell.medium.take_access() {
            match (event.step, last) {
                (AccessStep::Received { until }, _) => last = Some((event.station, until)),
                (AccessStep::Begins { .. }, Some((sender, until)))
                    if event.at == until + us(space) =>
                {
                    if event.station == sender {
                        own += 1;
                    } else {
                        others += 1;
                    }
                }
                _ => {}
            }
        }
        // Some 2500 frames in a second, of which each 16th is followed at once by another of its sender.
        assert!(own > 2000, "{category:?}: {own}");
        match category {
            // Those that drew no slot after a collision, while they waited for their acknowledgement.
            Category::Dcf => assert!((1..own / 5).contains(&others), "{others}"),
            _ => assert!(others > 2000, "{others}"),
        }
    }
}

/// Physical layer, rate in Mbps, stations, and throughput in Mbps.
fn table() -> Vec<(Phy, f64, u32, f64)> {
    let lines = include_str!("ns3.csv").lines();
    let rows = lines.filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|row| {
        let columns: Vec<&str> = row.split(',').collect();
        let [phy, rate, stations, throughput] = columns[..] else {
            panic!("four columns: {row}")
        };
        let phy = if phy == "a" { Phy::A } else { Phy::Ax };
        let number = |text: &str| text.parse::<f64>().unwrap();
        (
            phy,
            number(rate),
            number(stations) as u32,
            number(throughput),
        )
    })
    .collect()
}

/// How long an acknowledgement of a frame at so many Mbps takes, in seconds: 134 bits at 6, 12 or 24 Mbps.
/// With HE the rate counts here, and not the one of the same modulation without HE, which is lower or the same.
fn acknowledgement(rate: f64) -> f64 {
    let basic = [24.0, 12.0, 6.0].into_iter().find(|basic| *basic <= rate);
    20e-6 + 4e-6 * (134.0 / (4.0 * basic.unwrap())).ceil()
}

#[test]
fn throughput_is_what_ns_3_expects() {
    let mut worst: f64 = 0.0;
    for (phy, rate, stations, expected) in table() {
        let category = match phy {
            Phy::Ax => Category::BestEffort,
            _ => Category::Dcf,
        };
        let (config, _) = saturated(phy, category, mbps(rate), stations);
        let span = 40.0;
        let counters = Cell::new(&config, mbps(rate), 3).counters(seconds(span));
        let received = total(&counters, |one| one.received);
        // A neighbour's acknowledgements are at the highest basic rate, 24 Mbps; theirs at the highest that is not above the
        // rate. Each frame that arrives would take so much longer, and nothing else changes.
        let span = span + received * (acknowledgement(rate) - acknowledgement(54.0));
        let throughput = received * 8.0 * PAYLOAD as f64 / span / 1e6;
        let off = throughput / expected - 1.0;
        println!("{phy:?} {rate} {stations}: {:.2} %", 100.0 * off);
        let bound = if stations <= 20 { 0.015 } else { 0.03 };
        assert!(off.abs() < bound, "{phy:?} {rate} {stations}: {off}");
        worst = worst.max(off.abs());
    }
    println!("at most {:.2} %", 100.0 * worst);
}
