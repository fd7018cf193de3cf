//! Cost of a link per packet: `cargo bench -p thalweg-path --bench link`.
//!
//! Prints nanoseconds per packet, push and pop together, for packets of 200 bytes in memory, the best of
//! five runs. Two numbers may follow (after `--`): how many packets a run takes, and which row of the
//! table to measure alone. The difference between the instructions of two runs under
//! `valgrind --tool=callgrind` is the cost without the start, and does not depend on the machine's load.

use std::hint::black_box;
use thalweg_path::test_packet::TestPacket;
use thalweg_path::{
    CakeConfig, CodelConfig, DualPi2Config, FqCodelConfig, JitterConfig, Limit, Link, LinkConfig,
    LossConfig, NoiseConfig, PieConfig, QueueConfig, RedConfig, WifiFormula,
};
use thalweg_units::{Duration, Ecn, Instant, Rate};

/// 200 bytes in memory.
type Datagram = TestPacket<[u64; 20]>;
const _: () = assert!(size_of::<Datagram>() == 200);

/// Nanoseconds per packet when packets come at 1.05 times the capacity and are popped as they arrive.
fn cost(config: &LinkConfig, packets: u64) -> f64 {
    let run = || {
        let mut link = Link::new(config, 1, 2);
        let started = std::time::Instant::now();
        for n in 0..packets {
            // 1250 bytes at 100 Mbps take 100 us.
            let now = Instant::from_nanos(n * 95_238);
            while let Some(at) = link.next().filter(|at| *at <= now) {
                black_box(link.pop(at));
            }
            link.push(
                now,
                Datagram {
                    number: n,
                    size: 1250,
                    flow: n % 2,
                    ecn: Ecn::Ect0,
                    sent: now,
                    payload: [n; 20],
                },
            );
        }
        started.elapsed().as_secs_f64() * 1e9 / packets as f64
    };
    (0..5).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// Measures one row of the table if it was asked for.
fn row(asked: Option<usize>, number: usize, title: &str, config: &LinkConfig, packets: u64) {
    if asked.is_none_or(|asked| asked == number) {
        println!("{title:30} {:6.1} ns/packet", cost(config, packets));
    }
}

fn main() {
    let mut numbers = std::env::args().filter_map(|argument| argument.parse().ok());
    let packets = numbers.next().unwrap_or(2_000_000);
    let asked = numbers.next().map(|number| number as usize);
    let mut config = LinkConfig::new(
        Rate::from_bits_per_sec(100_000_000),
        Duration::from_millis(20),
    );
    config.limit = Limit::Time(Duration::from_millis(50));
    row(asked, 0, "drop-tail, constant rate", &config, packets);
    config.loss = LossConfig::Random {
        rate: "1 %".parse().expect("a fraction"),
    };
    row(asked, 1, "  with random loss", &config, packets);
    config.jitter = JitterConfig::reference_normal(Duration::from_millis(5));
    row(asked, 2, "  and normal jitter", &config, packets);
    config.jitter = JitterConfig::Wifi {
        mean: Duration::from_millis(7),
        formula: WifiFormula::Reference,
        every: None,
    };
    row(asked, 3, "  and Wi-Fi jitter", &config, packets);
    config.reorder = true;
    row(asked, 4, "  and reordering", &config, packets);

    let mut config = LinkConfig::new(
        Rate::from_bits_per_sec(100_000_000),
        Duration::from_millis(20),
    );
    config.limit = Limit::Time(Duration::from_millis(50));
    let queues = [
        ("RED", QueueConfig::Red(RedConfig::default())),
        ("CoDel", QueueConfig::Codel(CodelConfig::default())),
        ("FQ-CoDel", QueueConfig::FqCodel(FqCodelConfig::default())),
        ("CAKE", QueueConfig::Cake(CakeConfig::default())),
        ("PIE", QueueConfig::Pie(PieConfig::default())),
        ("DualPI2", QueueConfig::DualPi2(DualPi2Config::default())),
    ];
    for (number, (title, queue)) in queues.into_iter().enumerate() {
        config.queue = queue;
        row(asked, 5 + number, title, &config, packets);
    }
    config.queue = QueueConfig::DropTail;
    config.noise = Some(NoiseConfig {
        rate_sd: Rate::from_bits_per_sec(5_000_000),
        delay_sd: Duration::from_millis(1),
        ..NoiseConfig::default()
    });
    row(asked, 10, "drop-tail, noise", &config, packets);
}
