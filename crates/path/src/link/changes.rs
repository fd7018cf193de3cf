//! Changes of loss, discipline and queue, and what happens at the very time of a change.

use super::tests::{arrivals, config, link, numbers, push, rate};
use super::*;
use crate::test_packet::{at, ms};
use crate::{Change, JitterConfig, Limit, LossConfig, PieConfig, QueueConfig, StepConfig};
use thalweg_units::Fraction;

/// A change at this time of which `set` says what it changes.
fn changed(at: Duration, set: impl FnOnce(&mut Change)) -> Change {
    let mut change = Change {
        at,
        ..Change::default()
    };
    set(&mut change);
    change
}

fn certain() -> LossConfig {
    LossConfig::Random {
        rate: Fraction::ONE,
    }
}

#[test]
fn a_transmission_that_ends_when_the_path_changes_has_the_settings_before() {
    let mut config = config();
    config.changes = vec![changed(ms(2), |change| {
        change.delay = Some(ms(70));
        change.loss = Some(certain());
    })];
    // A packet takes 1 ms: packet 1 ends at 2 ms, at the time of the change, and packet 2 begins there.
    let delay = config.delay.as_nanos() as f64 / 1e6;
    let mut link = link(&config);
    push(&mut link, at(0), 0..3);
    assert_eq!(arrivals(&mut link), [(0, 1.0 + delay), (1, 2.0 + delay)]);
    assert_eq!(link.stats().lost.packets, 1);
}

#[test]
fn an_outage_loses_what_is_sent_within_it_and_nothing_else() {
    let mut config = config();
    config.changes = vec![
        changed(ms(3), |change| change.loss = Some(certain())),
        changed(ms(6), |change| change.loss = Some(LossConfig::None)),
    ];
    let mut link = link(&config);
    push(&mut link, at(0), 0..9);
    // Last bits at 1, 2, ... 9 ms: the bits of 4, 5 and 6 ms are sent after the change at 3 ms and before the change at 6 ms.
    assert_eq!(numbers(&mut link), [0, 1, 2, 6, 7, 8]);
    assert_eq!(link.stats().lost.packets, 3);
}

#[test]
fn a_change_that_flushes_drops_what_waits_and_not_what_is_sent_or_comes_then() {
    let mut config = config();
    config.changes = vec![changed(ms(2), |change| change.flush = true)];
    config.repeat = Some(ms(20));
    let mut link = link(&config);
    link.record_drops(true);
    push(&mut link, at(0), 0..5);
    push(&mut link, at(2), 5..6);
    push(&mut link, at(21) + Duration::from_micros(500), 6..8);
    // At 2 ms 2, 3 and 4 wait; 5 comes after the change. At 22 ms, in the next period, 6 is being sent and 7 waits.
    assert_eq!(numbers(&mut link), [0, 1, 5, 6]);
    let drops = link.take_drops();
    let times: Vec<_> = drops.iter().map(|drop| drop.at).collect();
    assert_eq!(times, [at(2), at(2), at(2), at(22)]);
    assert!(drops.iter().all(|drop| drop.cause == DropCause::Flushed));
}

#[test]
fn another_discipline_takes_over_what_waits_in_order_and_without_drops() {
    let mut config = config();
    let mut queues = QueueConfig::samples();
    queues.reverse();
    // One that would drop on entry what waits.
    let (threshold, drop) = (Limit::Packets(1), true);
    queues.insert(0, QueueConfig::Step(StepConfig { threshold, drop }));
    config.changes = (1..)
        .zip(&queues)
        .map(|(at, queue)| changed(ms(at), |change| change.queue = Some(queue.clone())))
        .collect();
    let mut link = link(&config);
    push(&mut link, at(0), 0..20);
    let mut seen = numbers(&mut link);
    assert_eq!((seen.len(), link.stats().dropped.packets), (20, 0));
    // Fair queueing sends the packets of two flows in turns for a millisecond.
    seen.sort_unstable();
    assert_eq!(seen, (0..20).collect::<Vec<_>>());
}

#[test]
fn a_change_to_the_same_discipline_and_the_same_loss_changes_nothing() {
    let mut config = config();
    config.queue = QueueConfig::Pie(PieConfig::default());
    config.loss = LossConfig::GilbertElliott {
        p: "20 %".parse().unwrap(),
        r: "20 %".parse().unwrap(),
        good_loss: Fraction::ZERO,
        bad_loss: Fraction::ONE,
    };
    let same = |at| {
        changed(at, |change| {
            change.queue = Some(config.queue.clone());
            change.loss = Some(config.loss.clone());
        })
    };
    let other = |at| {
        changed(at, |change| {
            change.queue = Some(QueueConfig::DropTail);
            change.loss = Some(certain());
        })
    };
    let with = |changes| LinkConfig {
        changes,
        ..config.clone()
    };
    let run = |config: &LinkConfig| {
        let mut link = link(config);
        for burst in 0..200 {
            push(&mut link, at(burst), 2 * burst..2 * burst + 2);
        }
        (arrivals(&mut link), link.stats())
    };
    let (arrived, stats) = run(&config);
    assert!(stats.dropped.packets > 0 && stats.lost.packets > 0);
    let expected = (arrived, stats);
    assert_eq!(run(&with(vec![same(ms(50))])), expected);
    // The last change of several at one time is the only one, and one at the start is the start.
    assert_eq!(run(&with(vec![other(ms(50)), same(ms(50))])), expected);
    let mut begun = with(vec![same(Duration::ZERO)]);
    (begun.queue, begun.loss) = (QueueConfig::DropTail, certain());
    assert_eq!(run(&begun), expected);
}

#[test]
fn the_packet_in_transmission_counts_with_what_has_been_sent_of_it() {
    let mut config = config();
    config.jitter = JitterConfig::Uniform {
        min: ms(3),
        max: ms(3),
    };
    // Suspended from 1.5 to 3.5 ms.
    config.changes = vec![
        rate(Duration::from_micros(1500), 0),
        rate(Duration::from_micros(3500), 8),
    ];
    let mut link = link(&config);
    push(&mut link, at(0), 0..2);
    let mut seen = |now: Instant| {
        link.advance(now);
        let stats = link.stats();
        (
            stats.busy.as_nanos() / 1000,
            stats.jitter_draws,
            stats.mean_jitter_drawn(),
        )
    };
    // Packet 0 is sent from 0 to 1 ms, packet 1 from 1 to 1.5 and from 3.5 to 4 ms.
    let half = at(0) + Duration::from_micros(500);
    assert_eq!(seen(half), (500, 0, Duration::ZERO));
    assert_eq!(seen(at(1)), (1000, 1, ms(3)));
    assert_eq!(seen(at(3)), (1500, 1, ms(3)));
    assert_eq!(seen(at(3) + Duration::from_micros(750)), (1750, 1, ms(3)));
    assert_eq!(seen(at(4)), (2000, 2, ms(3)));
    assert_eq!(seen(at(9)), (2000, 2, ms(3)));
}
