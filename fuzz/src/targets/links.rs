//! Links alone: random configurations and packets, against what holds for every link.
use super::Target;
use crate::failure::{Failure, Held, Verdict, require};
use crate::random::Random;
use crate::script::{Line, step};
use crate::watch::Watch;
use std::sync::atomic::{AtomicBool, Ordering};
use thalweg_path::{
    Change, CodelConfig, DualPi2Config, FqCodelConfig, JitterConfig, Limit, Link, LinkConfig,
    LossConfig, NoiseConfig, Packet, PieConfig, PolicerConfig, QueueConfig, RedConfig, WifiFormula,
};
use thalweg_units::{Bytes, Duration, Ecn, Fraction, Instant, Rate};

pub(super) const TARGET: Target = Target {
    name: "links",
    ending: "txt",
    make,
    check,
};

/// Nanoseconds: at most four changes in each are 10 million in an hour, which is what a scenario may ask for.
const SHORTEST_PERIOD: u64 = 1_440_000;

/// Nanoseconds: 10 million updates of a queue discipline in an hour, which is what a scenario may ask for.
const SHORTEST_UPDATE: u64 = 360_000;

/// Most calls of a link that has nothing more to do by the end.
const CALLS: u64 = 2_000_000;

fn make(random: &mut Random) -> Vec<u8> {
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
        random.below(6),
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
            random.below(5),
            span(random),
            span(random),
            random.below(1001),
        ],
    );
}

fn loss(text: &mut String, random: &mut Random) {
    let part = |random: &mut Random| random.below(1_001);
    let numbers = [
        random.below(2),
        part(random),
        part(random),
        part(random),
        part(random),
    ];
    step(text, "loss", &numbers);
}

#[derive(Clone)]
struct Probe {
    number: u64,
    sent: Instant,
    size: u64,
    flow: u64,
    ecn: Ecn,
}

impl Packet for Probe {
    fn size(&self) -> Bytes {
        Bytes::new(self.size)
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        assert!(
            self.ecn.is_capable() && ecn == Ecn::Ce,
            "only what is capable of ECN is marked"
        );
        self.ecn = ecn;
    }
    fn flow(&self) -> u64 {
        self.flow
    }
}

fn check(text: &[u8], watch: &Watch) -> Verdict {
    let lines = Line::all(text);
    let (config, seed) = config(&lines);
    let progress = watch.stage("link");
    let mut link = Link::new(&config, seed, 3);
    let Some(on_time) = play(&mut link, &config, &lines, true, &progress.stop)? else {
        return Ok(Held::Stopped);
    };
    let progress = watch.stage("late calls");
    let mut late = Link::new(&config, seed, 3);
    let Some(all) = play(&mut late, &config, &lines, false, &progress.stop)? else {
        return Ok(Held::Stopped);
    };
    let numbers = |arrivals: &[(u64, Instant)]| -> Vec<u64> {
        let mut numbers: Vec<u64> = arrivals.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers
    };
    require(numbers(&on_time) == numbers(&all), "late caller", || {
        format!("{} packets on time, {} late", on_time.len(), all.len())
    })?;
    require(link.stats() == late.stats(), "late caller", || {
        format!("{:?} on time, {:?} late", link.stats(), late.stats())
    })?;
    Ok(Held::Played)
}

/// Pushes all packets and takes out what comes by an hour after the last: at the times that the link names, or when
/// the script says so and at the end. `None` if it was told to stop.
fn play(
    link: &mut Link<Probe>,
    config: &LinkConfig,
    lines: &[Line<'_>],
    punctual: bool,
    stop: &AtomicBool,
) -> Result<Option<Vec<(u64, Instant)>>, Failure> {
    let mut now = Instant::START;
    let (mut number, mut arrivals, mut calls) = (0, Vec::new(), 0);
    let mut last = [0u64; 3];
    let mut take = |link: &mut Link<Probe>, until: Instant| -> Result<bool, Failure> {
        loop {
            let at = match link.next() {
                Some(at) if at <= until => at,
                _ => return Ok(true),
            };
            calls += 1;
            if calls > CALLS || (calls % 64 == 0 && stop.load(Ordering::Relaxed)) {
                return Ok(false);
            }
            let at = if punctual { at } else { until };
            let Some(packet) = link.pop(at) else {
                if punctual {
                    continue;
                }
                return Ok(true);
            };
            arrived(link, config, &packet, at, punctual, &mut last)?;
            arrivals.push((packet.number, at));
        }
    };
    for line in lines {
        let first = line.number(0).min(1 << 50);
        match line.word {
            "push" => {
                now += Duration::from_nanos(first);
                if punctual && !take(link, now)? {
                    return Ok(None);
                }
                let flow = line.number(3) % 3;
                let size = line.number(1).clamp(1, 65_535);
                let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][flow as usize];
                let packet = Probe {
                    number,
                    sent: now,
                    size,
                    flow,
                    ecn,
                };
                number += 1;
                link.push(now, packet);
                within_its_limit(link, config)?;
            }
            "pop" => {
                now += Duration::from_nanos(first);
                if !take(link, now)? {
                    return Ok(None);
                }
            }
            _ => continue,
        }
        conserved(link)?;
    }
    let end = now + Duration::from_secs(3600);
    if !take(link, end)? {
        return Ok(None);
    }
    link.advance(end);
    if !take(link, end)? {
        return Ok(None);
    }
    conserved(link)?;
    Ok(Some(arrivals))
}

fn arrived(
    link: &Link<Probe>,
    config: &LinkConfig,
    packet: &Probe,
    at: Instant,
    punctual: bool,
    last: &mut [u64; 3],
) -> Result<(), Failure> {
    let Probe {
        number,
        sent,
        size,
        flow,
        ..
    } = *packet;
    let what = || format!("packet {number} of {size} B sent at {sent}, arrived at {at}");
    if punctual && config.noise.is_none() {
        let delays = config.changes.iter().filter_map(|change| change.delay);
        let delay = delays.chain([config.delay]).min().unwrap_or_default();
        let out = link.schedule().time_to_send(Bytes::new(size), sent);
        require(out.is_some_and(|out| out + delay <= at), "too early", what)?;
    }
    require(at >= sent, "too early", what)?;
    let marks = config.policer.is_some_and(|policer| policer.mark);
    let moves = marks && flow > 0 && matches!(config.queue, QueueConfig::DualPi2(_));
    if !config.reorder && !moves {
        let before = &mut last[flow as usize];
        require(number >= *before, "order", what)?;
        *before = number;
    }
    Ok(())
}

fn conserved(link: &Link<Probe>) -> Result<(), Failure> {
    let stats = link.stats();
    let gone = stats.delivered.packets + stats.dropped.packets + stats.lost.packets;
    let there = link.queue().packets + link.in_flight() as u64;
    require(
        stats.offered.packets == gone + there,
        "conservation",
        || {
            format!(
                "{stats:?}, waiting {:?}, in flight {}",
                link.queue(),
                link.in_flight()
            )
        },
    )
}

fn within_its_limit(link: &Link<Probe>, config: &LinkConfig) -> Result<(), Failure> {
    if config.changes.iter().any(|change| change.limit.is_some()) {
        return Ok(());
    }
    let waiting = link.queue();
    let holds = match config.limit {
        Limit::Bytes(limit) => waiting.bytes <= limit,
        Limit::Packets(limit) => waiting.packets <= limit,
        _ => true,
    };
    require(holds, "limit", || {
        format!("{waiting:?} waiting, {:?}", config.limit)
    })
}

fn config(lines: &[Line<'_>]) -> (LinkConfig, u64) {
    let mut config = LinkConfig::new(Rate::from_bits_per_sec(10_000_000), Duration::ZERO);
    let mut seed = 1;
    for line in lines {
        let numbers = [0, 1, 2, 3, 4, 5, 6, 7].map(|place| line.number(place));
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
                    },
                    _ => JitterConfig::TwoComponents {
                        fraction: part(d),
                        short: time(b),
                        long: time(c),
                    },
                };
            }
            "loss" if a == 0 => config.loss = LossConfig::Random { rate: part(b) },
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
                jitter: None,
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
        _ => QueueConfig::Red(RedConfig {
            min: Bytes::new(low.max(1)),
            max: Bytes::new(low.max(1) + more.max(1)),
            max_p: Fraction::from_f64(share.clamp(1, 1000) as f64 / 1000.0),
            ecn,
            ..RedConfig::default()
        }),
    }
}
