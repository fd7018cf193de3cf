//! Saturated stations that all hear each other: Bianchi's two equations (IEEE Journal on Selected Areas in Communications 18(3),
//! 2000), and the throughput that ns-3 expects of them (`src/wifi/examples/wifi-bianchi.cc`).

use crate::cell::{Cell, mbps, seconds};
use thalweg_path::wifi::{Category, NeighbourConfig, Phy, StationCounters, WifiConfig};
use thalweg_units::{Duration, Rate};

/// Frames of so many bytes at `rate`, from `stations` neighbours that always have one and never give up.
fn saturated(phy: Phy, rate: Rate, stations: u32) -> (WifiConfig, Duration) {
    let mut config = WifiConfig::new(phy);
    (config.attempts, config.packets) = (u32::MAX, 1);
    let frame = frame(phy, rate);
    let category = match phy {
        Phy::Ax => Category::BestEffort,
        _ => Category::Dcf,
    };
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

/// The probability of a collision and of sending in a slot, of `n` stations with windows of 16 to 1024 slots.
fn equations(n: u32) -> (f64, f64) {
    let (window, doublings) = (16.0, 6);
    let sends = |p: f64| {
        let sum: f64 = (0..doublings).map(|i| (2.0 * p).powi(i)).sum();
        2.0 / (1.0 + window + p * window * sum)
    };
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
    (low, sends(low))
}

fn total(counters: &[StationCounters], of: impl Fn(&StationCounters) -> u64) -> f64 {
    counters.iter().map(of).sum::<u64>() as f64
}

#[test]
fn collisions_and_throughput_are_those_of_the_two_equations() {
    for n in [2, 5, 10, 20, 50] {
        let (config, frame) = saturated(Phy::A, mbps(54.0), n);
        let span = 60.0;
        let counters = Cell::new(&config, mbps(54.0), 7).counters(seconds(span));
        let (attempts, received) = (
            total(&counters, |one| one.attempts),
            total(&counters, |one| one.received),
        );
        let collisions = 1.0 - received / attempts;
        let (p, tau) = equations(n);
        // A slot is idle, has one frame that is acknowledged, or has a collision.
        let (slot, difs) = (9e-6, 34e-6);
        let frame = frame.as_nanos() as f64 / 1e9;
        let idle = (1.0 - tau).powi(n as i32);
        let one = f64::from(n) * tau * (1.0 - tau).powi(n as i32 - 1);
        let mean = idle * slot
            + one * (frame + 16e-6 + 28e-6 + difs)
            + (1.0 - idle - one) * (frame + difs);
        let (throughput, expected) = (received / span, one / mean);
        let off = throughput / expected - 1.0;
        println!(
            "{n}: p {collisions:.4} {p:.4}, frames {throughput:.1} {expected:.1} ({:.2} %)",
            100.0 * off
        );
        assert!((collisions - p).abs() < 0.01, "{n}: {collisions} {p}");
        let bound = if n <= 20 { 0.015 } else { 0.03 };
        assert!(off.abs() < bound, "{n}: {throughput} {expected}");
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

#[test]
fn throughput_is_what_ns_3_expects() {
    let mut worst: f64 = 0.0;
    for (phy, rate, stations, expected) in table() {
        let (config, _) = saturated(phy, mbps(rate), stations);
        let span = 20.0;
        let counters = Cell::new(&config, mbps(rate), 3).counters(seconds(span));
        let received = total(&counters, |one| one.received);
        let off = received * 8.0 * PAYLOAD as f64 / span / 1e6 / expected - 1.0;
        println!("{phy:?} {rate} {stations}: {:.2} %", 100.0 * off);
        let bound = if stations <= 20 { 0.015 } else { 0.03 };
        assert!(off.abs() < bound, "{phy:?} {rate} {stations}: {off}");
        worst = worst.max(off.abs());
    }
    println!("at most {:.2} %", 100.0 * worst);
}
