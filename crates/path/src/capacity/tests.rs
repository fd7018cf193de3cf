//! Schedules: settings over time, and transmission times.

use super::*;
use crate::{Change, LinkConfig};

const MBPS: u64 = 1_000_000;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
fn at(n: u64) -> Instant {
    Instant::START + ms(n)
}
fn rate(at: Duration, mbps: u64) -> Change {
    Change {
        at,
        rate: Some(Rate::from_bits_per_sec(mbps * MBPS)),
        ..Change::default()
    }
}

/// 8 Mbps: one byte per microsecond, 1000 bytes per millisecond.
fn schedule(changes: Vec<Change>, repeat: Option<Duration>) -> CapacitySchedule {
    let mut config = LinkConfig::new(Rate::from_bits_per_sec(8 * MBPS), ms(5));
    config.changes = changes;
    config.repeat = repeat;
    CapacitySchedule::new(&config)
}

fn starts(schedule: &CapacitySchedule, from: Instant, n: usize) -> Vec<(u64, u64)> {
    let milliseconds = |start: Instant| start.as_nanos() / 1_000_000;
    let segments = schedule.segments(from).take(n);
    segments
        .map(|s| (milliseconds(s.start), s.rate.as_bits_per_sec() / MBPS))
        .collect()
}

fn resumes(schedule: &CapacitySchedule, at: Instant) -> Option<Instant> {
    let course = schedule.course(None);
    course.resumes(course.position_at(at), at)
}
fn depart(schedule: &CapacitySchedule, at: Instant, bytes: u128) -> Departure {
    let course = schedule.course(None);
    course.depart(
        course.position_at(at),
        at,
        bytes * u128::from(NANOBITS_PER_BYTE),
    )
}

#[test]
fn segments_follow_each_other_and_the_last_one_lasts() {
    // The black hole of the draft: 2 s, 2 s of nothing, then as before. Order of entry does not matter.
    let black_hole = schedule(vec![rate(ms(4000), 8), rate(ms(2000), 0)], None);
    assert_eq!(
        starts(&black_hole, at(0), 9),
        [(0, 8), (2000, 0), (4000, 8)]
    );
    assert_eq!(starts(&black_hole, at(2500), 9), [(2500, 0), (4000, 8)]);
    assert_eq!(black_hole.rate_at(at(3999)), Rate::ZERO);
    assert_eq!(
        black_hole.rate_at(at(4000)),
        Rate::from_bits_per_sec(8 * MBPS)
    );
    assert_eq!(black_hole.delay_at(at(3000)), ms(5));
}

#[test]
fn a_repeated_schedule_returns_to_its_first_settings() {
    // Wi-Fi suspension: 1.8 s on, 0.2 s off.
    let suspension = schedule(vec![rate(ms(1800), 0), rate(ms(2000), 99)], Some(ms(2000)));
    let expected = [(0, 8), (1800, 0), (2000, 8), (3800, 0), (4000, 8)];
    assert_eq!(starts(&suspension, at(0), 5), expected);
    assert_eq!(starts(&suspension, at(7_900), 2), [(7_900, 0), (8_000, 8)]);
    assert_eq!(
        suspension.rate_at(at(1_000_000_000)),
        Rate::from_bits_per_sec(8 * MBPS)
    );
}

#[test]
fn changes_of_one_time_are_one_segment_and_the_later_entry_wins() {
    let delay = Change {
        at: ms(10),
        delay: Some(ms(7)),
        ..Change::default()
    };
    let merged = schedule(
        vec![rate(ms(10), 1), delay, rate(ms(10), 2), rate(ms(0), 4)],
        None,
    );
    assert_eq!(starts(&merged, at(0), 9), [(0, 4), (10, 2)]);
    assert_eq!(merged.delay_at(at(10)), ms(7));
    assert_eq!(merged.delay_at(at(9)), ms(5));
}

#[test]
fn sending_takes_the_time_that_the_capacity_needs() {
    let black_hole = schedule(vec![rate(ms(4000), 16), rate(ms(2000), 0)], None);
    let sends = |bytes, from| black_hole.time_to_send(Bytes::new(bytes), from);
    // 1000 bytes per millisecond before, 2000 after.
    assert_eq!(sends(2_000_000, at(0)), Some(at(2000)));
    assert_eq!(
        sends(2_000_002, at(0)),
        Some(at(4000) + Duration::from_micros(1))
    );
    assert_eq!(
        sends(1000, at(3000)),
        Some(at(4000) + Duration::from_micros(500))
    );
    assert_eq!(sends(0, at(3000)), Some(at(3000)));
    assert_eq!(
        black_hole.bytes_between(at(1000), at(5000)),
        Bytes::new(3_000_000)
    );
    assert_eq!(black_hole.bytes_between(at(5), at(5)), Bytes::ZERO);
}

#[test]
fn what_never_ends_has_no_end() {
    let broken = schedule(vec![rate(ms(10), 0)], None);
    assert_eq!(broken.time_to_send(Bytes::new(10_000), at(0)), Some(at(10)));
    assert_eq!(broken.time_to_send(Bytes::new(10_001), at(0)), None);
    let dead = schedule(vec![rate(ms(0), 0)], Some(ms(100)));
    assert_eq!(dead.time_to_send(Bytes::new(1), at(0)), None);
    assert_eq!(resumes(&dead, at(0)), None);
    let late = schedule(vec![rate(ms(0), 0), rate(ms(60), 8)], Some(ms(100)));
    assert_eq!(resumes(&late, at(7)), Some(at(60)));
    let wrapped = schedule(vec![rate(ms(60), 0)], Some(ms(100)));
    assert_eq!(resumes(&wrapped, at(70)), Some(at(100)));
}

#[test]
fn a_capacity_ends_where_nothing_but_zero_follows() {
    let ends = |changes, repeat| schedule(changes, repeat).ends();
    assert_eq!(ends(vec![], None), None);
    assert_eq!(ends(vec![rate(ms(10), 0)], None), Some(at(10)));
    let zeros = vec![
        rate(ms(10), 0),
        rate(ms(20), 8),
        rate(ms(30), 0),
        rate(ms(40), 0),
    ];
    assert_eq!(ends(zeros, None), Some(at(30)));
    // What repeats ends only if there is nothing in it.
    assert_eq!(ends(vec![rate(ms(10), 0)], Some(ms(20))), None);
    assert_eq!(ends(vec![rate(ms(0), 0)], Some(ms(20))), Some(at(0)));
}

#[test]
fn whole_cycles_are_skipped_without_losing_a_byte() {
    // 60 ms of 100 ms at 1000 bytes/ms: 60 kB per cycle. 1 GB is 16 666 cycles and 40 kB.
    let cycles = schedule(vec![rate(ms(60), 0)], Some(ms(100)));
    let end = cycles.time_to_send(Bytes::new(1_000_000_000), at(0));
    assert_eq!(end, Some(at(16_666 * 100 + 40)));
    let departure = depart(&cycles, at(0), 200_000);
    // 200 kB: three cycles and 20 ms of the fourth, 200 ms of sending in all.
    assert_eq!((departure.at, departure.busy), (at(320), ms(200)));
}

#[test]
fn what_a_period_carries_is_not_added_up_period_by_period() {
    // 1 ns at 8 Gbps and 2 ns of nothing: 10^10 periods in 30 s, a byte each.
    let ns = Duration::from_nanos;
    let quick = schedule(vec![rate(ns(0), 8_000), rate(ns(1), 0)], Some(ns(3)));
    let begin = std::time::Instant::now();
    assert_eq!(
        quick.bytes_between(at(0), at(30_000)),
        Bytes::new(10_000_000_000)
    );
    assert!(begin.elapsed().as_secs() < 1);
    // From within a period to within another one: the first and the last are parts.
    let start = Instant::START;
    let parts = quick.bytes_between(start + ns(1), start + ns(3 * 1_000 + 1));
    assert_eq!(parts, Bytes::new(1_000));
}

#[test]
fn the_rest_of_the_last_nanosecond_is_credited() {
    // 3 bit/s: one byte takes 8/3 s = 2 666 666 666.67 ns, and 1/3 ns is left over: 1 nanobit.
    let config = LinkConfig::new(Rate::from_bits_per_sec(3), ms(0));
    let slow = CapacitySchedule::new(&config);
    let departure = depart(&slow, at(0), 1);
    assert_eq!(departure.at, Instant::from_nanos(2_666_666_667));
    assert_eq!(departure.credit, 1);
    assert_eq!(
        slow.time_to_send(Bytes::new(3), at(0)),
        Some(Instant::from_nanos(8_000_000_000))
    );
}
