//! How much of a link is used: of its time, or of the opportunities of a delivery trace.

use super::tests::{config, link, packet, push, rate};
use super::*;
use crate::test_packet::{TestPacket, at, ms};
use proptest::prelude::*;

/// A link whose opportunities come at these milliseconds, and which keeps all that waits.
fn traced(trace: &str) -> Link<TestPacket> {
    let mut config = config();
    config.trace = Some(trace.parse().expect("a trace"));
    link(&config)
}

/// The use of a link from the start to a time.
fn used(link: &mut Link<TestPacket>, until: Instant) -> f64 {
    link.advance(until);
    link.utilisation(0, Instant::START, until)
}

#[test]
fn a_link_is_used_for_the_share_of_the_time_in_which_it_sends() {
    let mut link = link(&config());
    push(&mut link, at(0), 0..5); // a millisecond each
    assert_eq!(used(&mut link, at(4)), 1.0);
    assert_eq!(used(&mut link, at(20)), 0.25);
}

#[test]
fn a_delivery_trace_is_used_for_the_share_of_the_bits_of_its_opportunities() {
    // Nine opportunities at 1 ms, one at 10 ms, of 1500 bytes each.
    let trace = "1\n1\n1\n1\n1\n1\n1\n1\n1\n10\n";
    let full = |link: &mut Link<TestPacket>| {
        for number in 0..40 {
            link.push(at(0), packet(number, 1500));
        }
    };
    let mut busy = traced(trace);
    full(&mut busy);
    assert_eq!(used(&mut busy, at(30)), 1.0);
    // All of 40 packets fit within 40 ms, of 50 opportunities in 50 ms.
    assert_eq!(used(&mut busy, at(50)), 0.8);
    // A packet that comes after the nine uses one of ten, in half of the time that opportunities last.
    let mut idle = traced(trace);
    for period in 0..3 {
        idle.push(at(10 * period + 5), packet(period, 1500));
    }
    assert!((used(&mut idle, at(30)) - 0.1).abs() < 1e-12);
    // A packet of two opportunities is half sent after the first of them.
    let mut half = traced("10\n");
    half.push(at(0), packet(0, 3000));
    assert_eq!(used(&mut half, at(10)), 1.0);
    assert_eq!(used(&mut half, at(15)), 1.0); // no further one was offered
    assert_eq!(used(&mut half, at(40)), 0.5);
    // What was done before does not count.
    let before = half.work_done();
    half.push(at(50), packet(1, 1500));
    half.advance(at(80));
    assert!((half.utilisation(before, at(40), at(80)) - 0.25).abs() < 1e-12);
}

#[test]
fn the_queue_delay_of_a_delivery_trace_is_the_wait_until_the_opportunity() {
    // Ten opportunities in ten milliseconds, and then none for ninety.
    let mut link = traced("1\n2\n3\n4\n5\n6\n7\n8\n9\n100\n");
    let mut wait = |now: u64, packets: u64, left: u64| {
        for number in 0..packets {
            link.push(at(now), packet(number, 1500));
        }
        link.advance(at(now));
        assert_eq!(link.queue_delay(), ms(left), "at {now}");
    };
    wait(0, 5, 5);
    wait(3, 0, 2);
    wait(5, 0, 0);
    wait(7, 3, 93); // at 8, 9 and 100 ms
    wait(50, 0, 50);
    wait(99, 1, 2); // and one at 101 ms
}

#[test]
fn packets_smaller_than_an_opportunity_leave_the_rest_of_it_unused() {
    let mut link = traced("1\n");
    for number in 0..100 {
        link.push(at(number), packet(number, 300));
    }
    // 300 of 1500 bytes, each millisecond.
    assert!((used(&mut link, at(100)) - 0.2).abs() < 1e-12);
}

#[test]
fn a_change_of_the_rate_does_not_change_what_time_is_worth() {
    let mut config = config();
    config.changes = vec![rate(ms(10), 80)];
    let mut link = link(&config);
    push(&mut link, at(0), 0..10); // ten milliseconds, all that there are
    for number in 0..50 {
        link.push(at(10), packet(number, 1000)); // a tenth of one each
    }
    assert_eq!(used(&mut link, at(20)), 0.75);
}

proptest! {
    /// One opportunity in each millisecond carries 12 Mbps: with packets of its size it is used as much as a link with that
    /// rate, but for the packet that each of them is sending.
    #[test]
    fn a_trace_is_used_as_a_link_with_its_rate(gaps in prop::collection::vec(0u64..4_000, 1..200)) {
        let mut config = config();
        config.rate = thalweg_units::Rate::from_bits_per_sec(12_000_000);
        let (mut steady, mut traced) = (link(&config), traced("1\n"));
        let mut now = Instant::START;
        for (number, gap) in (0..).zip(&gaps) {
            now += Duration::from_micros(*gap);
            steady.push(now, packet(number, 1500));
            traced.push(now, packet(number, 1500));
        }
        let end = now + ms(300);
        let whole = (end - Instant::START).as_secs_f64() * 1e3;
        let [one, other] = [&mut steady, &mut traced].map(|link| used(link, end));
        prop_assert!((one - gaps.len() as f64 / whole).abs() < 1e-9);
        prop_assert!((one - other).abs() <= 1.01 / whole, "{one} {other}");
    }
}
