//! Cost of a link per packet: `cargo bench -p thalweg-path`.
//!
//! Prints nanoseconds per packet, push and pop together, for packets of 128 bytes in memory, the best of
//! five runs.

use std::hint::black_box;
use thalweg_path::{JitterConfig, Limit, Link, LinkConfig, LossConfig, Packet, WifiFormula};
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

struct Datagram {
    ecn: Ecn,
    flow: u64,
    _payload: [u64; 14],
}
impl Packet for Datagram {
    fn size(&self) -> Bytes {
        Bytes::new(1250)
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }
    fn flow(&self) -> u64 {
        self.flow
    }
}

/// Nanoseconds per packet when packets come at 1.05 times the capacity and are popped as they arrive.
fn cost(config: &LinkConfig) -> f64 {
    const PACKETS: u64 = 2_000_000;
    let run = || {
        let mut link = Link::new(config, 1, 2);
        let started = std::time::Instant::now();
        for n in 0..PACKETS {
            // 1250 bytes at 100 Mbps take 100 us.
            let now = Instant::from_nanos(n * 95_238);
            while let Some(at) = link.next().filter(|at| *at <= now) {
                black_box(link.pop(at));
            }
            link.push(
                now,
                Datagram {
                    ecn: Ecn::Ect0,
                    flow: n % 2,
                    _payload: [n; 14],
                },
            );
        }
        started.elapsed().as_secs_f64() * 1e9 / PACKETS as f64
    };
    (0..5).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn main() {
    let mut config = LinkConfig::new(
        Rate::from_bits_per_sec(100_000_000),
        Duration::from_millis(20),
    );
    config.limit = Limit::Time(Duration::from_millis(50));
    println!(
        "drop-tail, constant rate       {:6.1} ns/packet",
        cost(&config)
    );
    config.loss = LossConfig::Random {
        rate: "1 %".parse().expect("a fraction"),
    };
    println!(
        "  with random loss             {:6.1} ns/packet",
        cost(&config)
    );
    config.jitter = JitterConfig::reference_normal(Duration::from_millis(5));
    println!(
        "  and normal jitter            {:6.1} ns/packet",
        cost(&config)
    );
    config.jitter = JitterConfig::Wifi {
        mean: Duration::from_millis(7),
        formula: WifiFormula::Reference,
    };
    println!(
        "  and Wi-Fi jitter             {:6.1} ns/packet",
        cost(&config)
    );
    config.reorder = true;
    println!(
        "  and reordering               {:6.1} ns/packet",
        cost(&config)
    );
}
