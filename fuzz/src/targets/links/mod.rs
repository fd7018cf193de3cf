//! Links alone: random configurations and packets, against what holds for every link.

mod case;

use super::{Plays, Target};
use crate::failure::{Failure, Held, Verdict, require};
use crate::script::Line;
use crate::watch::Watch;
use std::sync::atomic::{AtomicBool, Ordering};
use thalweg_path::test_packet::TestPacket;
use thalweg_path::{Limit, Link, LinkConfig, QueueConfig};
use thalweg_units::{Bytes, Duration, Instant};

pub(super) const TARGET: Target = Target {
    name: "links",
    ending: "txt",
    plays: Plays::Engine {
        make: case::make,
        check,
    },
};

/// Most calls of a link that has nothing more to do by the end.
const CALLS: u64 = 2_000_000;

fn check(text: &[u8], watch: &Watch) -> Verdict {
    let lines = Line::all(text);
    let (config, seed) = case::config(&lines);
    let progress = watch.stage("link");
    let mut link = Link::new(&config, seed, 3);
    let Some(on_time) = run_case(&mut link, &config, &lines, true, &progress.stop)? else {
        return Ok(Held::Stopped);
    };
    let progress = watch.stage("late calls");
    let mut late = Link::new(&config, seed, 3);
    let Some(all) = run_case(&mut late, &config, &lines, false, &progress.stop)? else {
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
fn run_case(
    link: &mut Link<TestPacket>,
    config: &LinkConfig,
    lines: &[Line<'_>],
    punctual: bool,
    stop: &AtomicBool,
) -> Result<Option<Vec<(u64, Instant)>>, Failure> {
    let mut now = Instant::START;
    let (mut number, mut arrivals, mut calls) = (0, Vec::new(), 0);
    let mut last = [0u64; 3];
    let mut take = |link: &mut Link<TestPacket>, until: Instant| -> Result<bool, Failure> {
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
                let packet = TestPacket {
                    sent: now,
                    ..TestPacket::new(number, size)
                }
                .of_flow(flow);
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
    link: &Link<TestPacket>,
    config: &LinkConfig,
    packet: &TestPacket,
    at: Instant,
    punctual: bool,
    last: &mut [u64; 3],
) -> Result<(), Failure> {
    let TestPacket {
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

fn conserved(link: &Link<TestPacket>) -> Result<(), Failure> {
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

fn within_its_limit(link: &Link<TestPacket>, config: &LinkConfig) -> Result<(), Failure> {
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
