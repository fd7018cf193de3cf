//! The control law of RFC 8289, with its numbers.

use super::*;
use crate::Limit;
use crate::queue::bench::Bench;
use crate::test_packet::{at, ms};
use thalweg_units::Ecn;

fn bench(config: CodelConfig) -> Bench<Codel> {
    Bench::new(Codel::new(&config), Limit::Unlimited)
}

/// Two packets of 1000 bytes come and one leaves in each millisecond of `from..to`.
fn overload(bench: &mut Bench<Codel>, from: u64, to: u64, ecn: Ecn) {
    for now in from..to {
        bench.take(at(now));
        bench.put(at(now), 0, 1000, ecn);
        bench.put(at(now), 0, 1000, ecn);
    }
}
/// When packets have been dropped, in milliseconds.
fn drop_times(bench: &mut Bench<Codel>) -> Vec<u64> {
    let drops = bench.drops();
    assert!(drops.iter().all(|drop| drop.cause == DropCause::Early));
    drops
        .iter()
        .map(|drop| (drop.at - Instant::START).as_millis())
        .collect()
}

#[test]
fn drops_follow_the_inverse_square_root_of_their_count() {
    // RFC 8289 section 3.3. At millisecond t packet t - 1 leaves, which came at (t - 1) / 2, rounded down:
    // its wait reaches 5 ms at 8 ms. One interval later, at 108 ms, dropping begins. The next drops are due
    // 100 ms / sqrt(count) after each other: 208, 278.71, 336.45, 386.45, 431.17, 471.99 ms, and happen when
    // a packet leaves.
    let mut bench = bench(CodelConfig::default());
    overload(&mut bench, 0, 474, Ecn::NotEct);
    assert_eq!(drop_times(&mut bench), [108, 208, 279, 337, 387, 432, 472]);
}

#[test]
fn marks_follow_the_same_law_and_lose_nothing() {
    // RFC 8289 section 1: marking in place of dropping.
    let mut marking = bench(CodelConfig::default());
    overload(&mut marking, 0, 474, Ecn::Ect0);
    assert_eq!((drop_times(&mut marking), marking.marks()), (vec![], 7));
    let mut dropping = bench(CodelConfig {
        ecn: false,
        ..CodelConfig::default()
    });
    overload(&mut dropping, 0, 474, Ecn::Ect0);
    assert_eq!((drop_times(&mut dropping).len(), dropping.marks()), (7, 0));
}

#[test]
fn a_wait_below_the_target_within_the_interval_is_forgiven() {
    // A burst of 60 packets at 0 is gone after 60 ms, less than an interval; and another at 90 ms.
    let mut bench = bench(CodelConfig::default());
    for start in [0, 90] {
        for _ in 0..60 {
            bench.put(at(start), 0, 1000, Ecn::NotEct);
        }
        for now in start..start + 60 {
            assert!(bench.take(at(now)).is_some());
        }
        assert!(bench.take(at(start + 60)).is_none());
    }
    assert_eq!(drop_times(&mut bench), [0; 0]);
}

#[test]
fn a_queue_of_no_more_than_a_packet_is_left_alone_however_long_it_waits() {
    // RFC 8289 section 5.6: MAXPACKET. One packet of 1000 bytes remains behind the one that leaves.
    let mut bench = bench(CodelConfig::default());
    bench.put(at(0), 0, 1000, Ecn::NotEct);
    for now in (20..1000).step_by(20) {
        bench.put(at(now), 0, 1000, Ecn::NotEct);
        assert!(bench.take(at(now + 19)).is_some());
    }
    assert_eq!(drop_times(&mut bench), [0; 0]);
}

#[test]
fn dropping_ends_when_the_wait_falls_below_the_target() {
    let mut bench = bench(CodelConfig::default());
    overload(&mut bench, 0, 300, Ecn::NotEct);
    assert!(bench.discipline.control.dropping);
    while bench.take(at(300)).is_some() {}
    assert!(!bench.discipline.control.dropping);
    bench.drops();
    // What comes now waits 1 ms at most: below the target nothing is dropped.
    for now in 301..700 {
        bench.put(at(now), 0, 1000, Ecn::NotEct);
        bench.take(at(now + 1));
    }
    assert_eq!(drop_times(&mut bench), [0; 0]);
}

#[test]
fn dropping_that_resumes_soon_goes_on_at_its_former_rate() {
    // RFC 8289 section 5.5: within 16 intervals, count is what it grew by since dropping last began.
    let resume = |count, last_count, pause: u64| {
        let mut bench = bench(CodelConfig::default());
        bench.discipline.control = Control {
            first_above: Some(at(0)),
            drop_next: at(1000),
            dropping: false,
            count,
            last_count,
        };
        for _ in 0..9 {
            bench.put(at(900), 0, 1000, Ecn::NotEct);
        }
        bench.take(at(1000 + pause));
        let control = bench.discipline.control;
        assert!(control.dropping);
        assert_eq!(drop_times(&mut bench), [1000 + pause]);
        assert_eq!(control.count, control.last_count);
        // The next drop is an interval over the root of count later.
        let gap = (control.drop_next - at(1000 + pause)).as_secs_f64();
        assert!((gap * f64::from(control.count).sqrt() - 0.1).abs() < 1e-6);
        control.count
    };
    assert_eq!(resume(10, 4, 1599), 6);
    assert_eq!(resume(10, 4, 1600), 1);
    // A growth by one is none to go on with.
    assert_eq!(resume(10, 9, 100), 1);
    assert_eq!(resume(1, 1, 100), 1);
}

#[test]
fn several_drops_are_made_up_for_at_once_when_packets_leave_seldom() {
    // A packet leaves every 100 ms only; by then several drops are due.
    let mut bench = bench(CodelConfig::default());
    for _ in 0..200 {
        bench.put(at(0), 0, 1000, Ecn::NotEct);
    }
    let mut drops = Vec::new();
    for now in (100..=800).step_by(100) {
        bench.take(at(now));
        drops.push(drop_times(&mut bench).len());
    }
    // Above the target at 100; due at 200, 300, 370.7, 428.4, 478.4, 523.2, 564.0, 601.8, 637.1, 670.5,
    // 702.1, 732.2, 761.1, 788.8, 815.5 ms.
    assert_eq!(drops, [0, 1, 1, 1, 2, 2, 3, 4]);
}

#[test]
fn the_threshold_marks_every_capable_packet_that_waits_longer() {
    let mut bench = bench(CodelConfig {
        ce_threshold: Some(ms(1)),
        ..CodelConfig::default()
    });
    for ecn in [Ecn::Ect1, Ecn::NotEct, Ecn::Ect0] {
        bench.put(at(0), 0, 1000, ecn);
    }
    let now = at(1);
    let mut ecn = |now| bench.take(now).map(|packet| packet.ecn);
    assert_eq!(ecn(now), Some(Ecn::Ect1));
    assert_eq!(ecn(now + Duration::from_nanos(1)), Some(Ecn::NotEct));
    assert_eq!(ecn(now + Duration::from_nanos(1)), Some(Ecn::Ce));
}
