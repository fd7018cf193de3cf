//! What a case of links says: made of random numbers, and read as the configuration of a link.

use crate::random::Random;
use crate::script::{Line, step};
use thalweg_path::{
    AckFilter, CakeConfig, Cells, Change, CodelConfig, DualPi2Config, EcnConfig, FqCodelConfig,
    Framing, JitterConfig, Limit, LinkConfig, LossConfig, LossScript, NoiseConfig, PieConfig,
    PolicerConfig, QueueConfig, RedConfig, StepConfig, WifiFormula,
};
use thalweg_units::{Bytes, Duration, Fraction, Rate};

/// Nanoseconds: at most four changes in each are 10 million in an hour, which is what a scenario may ask for.
const SHORTEST_PERIOD: u64 = 1_440_000;

/// Nanoseconds: 10 million updates of a queue discipline in an hour, which is what a scenario may ask for.
const SHORTEST_UPDATE: u64 = 360_000;

/// The text of a random case.
pub(super) fn make(random: &mut Random) -> Vec<u8> {
    let mut text = String::new();
    step(&mut text, "seed", &[random.below(1000)]);
    step(&mut text, "rate", &[rate(random)]);
    step(&mut text, "delay", &[span(random)]);
    for (percent, part) in [
        (70, limit as fn(&mut String, &mut Random)),
        (70, queue),
        (30, jitter),
        (30, loss),
    ] {
        if random.percent(percent) {
            part(&mut text, random);
        }
    }
    if random.percent(15) {
        step(&mut text, "ecn", &[random.below(3)]);
    }
    if random.percent(15) {
        let mark = random.below(2);
        step(
            &mut text,
            "policer",
            &[rate(random), random.magnitude(1, 100_000), mark],
        );
    }
    if random.percent(15) {
        let every = random.magnitude(100_000, 100_000_000);
        step(&mut text, "noise", &[rate(random), span(random), every]);
    }
    if random.percent(20) {
        step(&mut text, "reorder", &[]);
    }
    let mut at = 0;
    for _ in 0..random.below(4) {
        at += span(random);
        step(
            &mut text,
            "change",
            &[
                at,
                rate(random) * random.below(2),
                span(random),
                random.below(4),
                span(random),
            ],
        );
    }
    if random.percent(20) {
        step(
            &mut text,
            "repeat",
            &[at + random.magnitude(100_000, 10_000_000_000)],
        );
    }
    let largest = *random.choose(&[100, 1500, 9000, 65_535]);
    let pace = random.magnitude(1, 100_000_000);
    for _ in 0..random.magnitude(1, 300) {
        let gap = if random.flag() {
            0
        } else {
            random.magnitude(1, pace)
        };
        step(
            &mut text,
            "push",
            &[
                gap,
                random.between(1, largest),
                random.below(4),
                random.below(3),
            ],
        );
        if random.percent(10) {
            step(&mut text, "pop", &[span(random)]);
        }
    }
    text.into_bytes()
}

fn rate(random: &mut Random) -> u64 {
    match random.below(6) {
        0 => random.magnitude(1, 100_000),
        1 => random.magnitude(1_000_000_000, 400_000_000_000),
        _ => random.magnitude(100_000, 1_000_000_000),
    }
}

fn span(random: &mut Random) -> u64 {
    match random.below(6) {
        0 => 0,
        1 => random.magnitude(1, 100_000_000_000),
        _ => random.magnitude(1_000, 100_000_000),
    }
}

fn limit(text: &mut String, random: &mut Random) {
    let size = match random.below(3) {
        0 => span(random),
        1 => random.magnitude(1, 10_000_000),
        _ => random.magnitude(1, 10_000),
    };
    step(text, "limit", &[random.below(3), size]);
}

fn queue(text: &mut String, random: &mut Random) {
    let time = |random: &mut Random| random.magnitude(10_000, 1_000_000_000);
    let numbers = [
        random.below(8 + QueueConfig::samples().len() as u64),
        time(random),
        time(random),
        time(random),
        random.below(2),
        random.magnitude(1, 100_000),
        random.magnitude(1, 100_000),
        random.between(1, 1000),
    ];
    step(text, "queue", &numbers);
}

fn jitter(text: &mut String, random: &mut Random) {
    step(
        text,
        "jitter",
        &[
            random.below(8),
            span(random),
            span(random),
            random.below(1001),
        ],
    );
}

fn loss(text: &mut String, random: &mut Random) {
    let part = |random: &mut Random| random.below(1_001);
    let numbers = [
        random.below(5),
        part(random),
        part(random),
        part(random),
        part(random),
    ];
    step(text, "loss", &numbers);
}

/// The link of a case, and the seed of its random numbers.
pub(super) fn config(lines: &[Line<'_>]) -> (LinkConfig, u64) {
    let mut config = LinkConfig::new(Rate::from_bits_per_sec(10_000_000), Duration::ZERO);
    let mut seed = 1;
    for line in lines {
        let numbers = [0, 1, 2, 3, 4, 5, 6, 7].map(|position| line.number(position));
        let [a, b, c, d, e, ..] = numbers;
        let time = |number: u64| Duration::from_nanos(number.min(1 << 50));
        let part = |number: u64| Fraction::from_f64(number.min(1000) as f64 / 1000.0);
        let rate = |number: u64| Rate::from_bits_per_sec(number.min(400_000_000_000));
        match line.word {
            "seed" => seed = a,
            "rate" => config.rate = rate(a),
            "delay" => config.delay = time(a),
            "limit" => config.limit = limit_of(a, b),
            "queue" => config.queue = queue_of(numbers),
            "reorder" => config.reorder = true,
            "ecn" if a == 0 => config.ecn = EcnConfig::Bleached,
            "ecn" if a == 1 => config.ecn = EcnConfig::CeLost,
            "ecn" => config.ecn = EcnConfig::CeHidden,
            "policer" => {
                config.policer = Some(PolicerConfig {
                    rate: rate(a),
                    burst: Bytes::new(b),
                    mark: c == 1,
                });
            }
            "noise" => {
                config.noise = Some(NoiseConfig {
                    rate_sd: rate(a),
                    delay_sd: time(b),
                    every: time(c.max(100_000)),
                });
            }
            "jitter" => {
                config.jitter = match a {
                    0 => JitterConfig::Uniform {
                        min: time(b.min(c)),
                        max: time(b.max(c)),
                    },
                    1 => JitterConfig::Normal {
                        mean: time(b),
                        sd: time(c),
                    },
                    2 => JitterConfig::TruncatedNormal {
                        mean: time(b),
                        sd: time(c),
                        min: Duration::ZERO,
                        max: time(b),
                    },
                    3 => JitterConfig::Wifi {
                        mean: time(b),
                        formula: WifiFormula::Reference,
                        every: None,
                    },
                    5 => JitterConfig::Bursts {
                        every: time(b.max(10_000)),
                    },
                    6 => JitterConfig::NrBpdv {
                        sd: time(b),
                        clip: c.clamp(1, 100_000) as u32,
                    },
                    7 => JitterConfig::Reordering {
                        share: part(d),
                        extent: c.clamp(1, 10_000) as u32,
                    },
                    _ => JitterConfig::TwoComponents {
                        fraction: part(d),
                        short: time(b),
                        long: time(c),
                    },
                };
            }
            "loss" if a == 0 => config.loss = LossConfig::Random { rate: part(b) },
            // A millisecond, so that an hour has few changes of the state.
            "loss" if a == 2 => {
                config.loss = LossConfig::Fading {
                    good: Duration::from_millis(b.clamp(1, 1000)),
                    bad: Duration::from_millis(c.min(1000)),
                    good_loss: part(d),
                    bad_loss: part(e),
                };
            }
            "loss" if a == 3 => config.loss = LossConfig::Periodic { every: b },
            "loss" if a == 4 => {
                config.loss = LossConfig::Scripted(LossScript::new([(b, c), (d, e)]));
            }
            "loss" => {
                config.loss = LossConfig::GilbertElliott {
                    p: part(b),
                    r: part(c),
                    good_loss: part(d),
                    bad_loss: part(e),
                };
            }
            "change" => config.changes.push(Change {
                at: time(a),
                rate: Some(rate(b)),
                delay: Some(time(c)),
                limit: (d > 0).then(|| limit_of(d - 1, e)),
                ..Change::default()
            }),
            "repeat" => config.repeat = Some(time(a.max(SHORTEST_PERIOD))),
            _ => {}
        }
    }
    (config, seed)
}

fn limit_of(kind: u64, size: u64) -> Limit {
    match kind {
        0 => Limit::Time(Duration::from_nanos(size)),
        1 => Limit::Bytes(Bytes::new(size)),
        _ => Limit::Packets(size),
    }
}

fn queue_of([kind, first, second, third, ecn, low, more, share]: [u64; 8]) -> QueueConfig {
    let least = |number: u64| Duration::from_nanos(number.clamp(10_000, 1 << 50));
    let ecn = ecn == 1;
    let codel = CodelConfig {
        target: least(first),
        interval: least(second),
        ecn,
        ce_threshold: third.is_multiple_of(2).then(|| least(third)),
        ..CodelConfig::default()
    };
    match kind {
        0 => QueueConfig::DropTail,
        1 => QueueConfig::Codel(codel),
        2 => QueueConfig::FqCodel(FqCodelConfig {
            codel,
            flows: low.clamp(1, 65_536) as u32,
            quantum: Bytes::new(more.max(64)),
            ..FqCodelConfig::default()
        }),
        3 => QueueConfig::Pie(PieConfig {
            target: least(first),
            update: least(second).max(Duration::from_nanos(SHORTEST_UPDATE)),
            max_burst: least(third),
            ecn,
            ..PieConfig::default()
        }),
        4 => QueueConfig::DualPi2(DualPi2Config {
            target: least(first),
            update: least(first)
                .min(least(second) / 3)
                .max(Duration::from_nanos(SHORTEST_UPDATE)),
            rtt_max: least(second),
            step: least(third),
            ..DualPi2Config::default()
        }),
        7 => QueueConfig::Cake(CakeConfig {
            bandwidth: (share > 0).then(|| Rate::from_bits_per_sec(more.max(1000))),
            rtt: least(first),
            ack_filter: match low % 3 {
                0 => AckFilter::Off,
                1 => AckFilter::Conservative,
                _ => AckFilter::Aggressive,
            },
            framing: Framing {
                overhead: Bytes::new(low % 257),
                mpu: Bytes::new(third % 257),
                cells: match second % 3 {
                    0 => Cells::None,
                    1 => Cells::Atm,
                    _ => Cells::Ptm,
                },
            },
        }),
        6 => QueueConfig::Step(StepConfig {
            threshold: limit_of(share % 3, low),
            drop: ecn,
        }),
        8.. => {
            let samples = QueueConfig::samples();
            samples[(kind - 8) as usize % samples.len()].clone()
        }
        5 => QueueConfig::Red(RedConfig {
            min: Bytes::new(low.max(1)),
            max: Bytes::new(low.max(1) + more.max(1)),
            max_p: Fraction::from_f64(share.clamp(1, 1000) as f64 / 1000.0),
            ecn,
            ..RedConfig::default()
        }),
    }
}
