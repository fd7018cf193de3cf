//! The rules of a link, one by one.

use super::*;
use crate::test_packet::{TestPacket, at, drain, ms};
use crate::{Change, Count, FlowLinkStats, JitterConfig, Limit, LossConfig, WifiFormula};
use thalweg_units::{Bytes, Fraction, Rate};

/// 8 Mbps: 1000 bytes per millisecond; 10 ms of delay.
pub(super) fn config() -> LinkConfig {
    LinkConfig::new(Rate::from_bits_per_sec(8_000_000), ms(10))
}
pub(super) fn link(config: &LinkConfig) -> Link<TestPacket> {
    Link::new(config, 1, 2)
}
pub(super) fn rate(at: Duration, mbps: u64) -> Change {
    Change {
        at,
        rate: Some(Rate::from_bits_per_sec(mbps * 1_000_000)),
        ..Change::default()
    }
}
/// A packet of one of two flows.
pub(super) fn packet(number: u64, size: u64) -> TestPacket {
    TestPacket {
        flow: number % 2,
        ..TestPacket::new(number, size)
    }
}
/// Pushes packets of 1000 bytes, numbered from `first`.
pub(super) fn push(link: &mut Link<TestPacket>, now: Instant, numbers: std::ops::Range<u64>) {
    for number in numbers {
        link.push(now, packet(number, 1000));
    }
}
/// Number and arrival in milliseconds of everything that arrives.
pub(super) fn arrivals(link: &mut Link<TestPacket>) -> Vec<(u64, f64)> {
    let arrived =
        |(packet, now): (TestPacket, Instant)| (packet.number, now.as_nanos() as f64 / 1e6);
    drain(link).into_iter().map(arrived).collect()
}
pub(super) fn numbers(link: &mut Link<TestPacket>) -> Vec<u64> {
    arrivals(link)
        .into_iter()
        .map(|(number, _)| number)
        .collect()
}

#[test]
fn packets_are_sent_one_after_the_other_and_then_travel() {
    let mut link = link(&config());
    push(&mut link, at(0), 0..3);
    assert_eq!(link.next(), Some(at(11)));
    assert!(link.pop(at(10)).is_none());
    assert_eq!(arrivals(&mut link), [(0, 11.0), (1, 12.0), (2, 13.0)]);
    assert_eq!(link.next(), None);
    // An idle time later the transmitter starts afresh.
    push(&mut link, at(100), 3..4);
    assert_eq!(arrivals(&mut link), [(3, 111.0)]);
}

#[test]
fn a_packet_that_ends_in_the_last_nanosecond_before_a_suspension_is_sent() {
    // 96 Gbps for 1 us is 12 000 bytes; 11 989 of them end 88/96 ns before that, and one more 80/96 ns.
    let mut config = LinkConfig::new(Rate::from_bits_per_sec(96_000_000_000), ms(10));
    config.changes = vec![rate(Duration::from_micros(1), 0)];
    let mut link = link(&config);
    for (number, size) in [(0, 11_989), (1, 1), (2, 11)] {
        link.push(at(0), packet(number, size));
    }
    // A byte of the third packet is left; it is no longer in the queue.
    assert_eq!(arrivals(&mut link), [(0, 10.001), (1, 10.001)]);
    assert_eq!(link.queue().packets, 0);
}

#[test]
fn a_late_caller_loses_no_capacity() {
    let mut link = link(&config());
    push(&mut link, at(0), 0..50);
    // The clock jumps by 30 ms: 20 packets have arrived, 30 have left the transmitter.
    let mut arrived = 0;
    while link.pop(at(30)).is_some() {
        arrived += 1;
    }
    assert_eq!(arrived, 20);
    assert_eq!((link.queue().packets, link.in_flight()), (19, 11));
    assert_eq!(link.queue_delay(), ms(20));
}

#[test]
fn a_limit_in_time_looks_at_what_was_there_before_and_not_at_the_size() {
    // sim_link.c: accepted while the backlog, the packet in transmission included, is below the limit.
    let mut config = config();
    config.limit = Limit::Time(ms(5));
    let mut link = link(&config);
    push(&mut link, at(0), 0..8);
    // Backlogs before each packet: 0, 1, 2, 3, 4 ms; the sixth sees 5 ms and is dropped.
    assert_eq!(link.stats().dropped.packets, 3);
    // Half a millisecond later the backlog is 4.5 ms: room for one packet, however large.
    link.push(at(0) + Duration::from_micros(500), packet(8, 100_000));
    push(&mut link, at(0) + Duration::from_micros(500), 9..10);
    assert_eq!(numbers(&mut link), [0, 1, 2, 3, 4, 8]);
}

#[test]
fn a_limit_of_zero_accepts_nothing() {
    for limit in [
        Limit::Time(Duration::ZERO),
        Limit::Bytes(Bytes::ZERO),
        Limit::Packets(0),
    ] {
        let mut config = config();
        config.limit = limit;
        let mut link = link(&config);
        push(&mut link, at(0), 0..2);
        assert_eq!(
            (link.stats().dropped.packets, link.next()),
            (2, None),
            "{limit:?}"
        );
    }
}

#[test]
fn limits_in_bytes_and_packets_include_the_packet_in_transmission() {
    for limit in [Limit::Bytes(Bytes::new(3999)), Limit::Packets(3)] {
        let mut config = config();
        config.limit = limit;
        let mut link = link(&config);
        push(&mut link, at(0), 0..5);
        assert_eq!(link.queue().packets, 2, "{limit:?}");
        // Its whole size counts until the last bit is sent.
        push(&mut link, at(1) - Duration::from_nanos(1), 5..6);
        push(&mut link, at(1), 6..7);
        assert_eq!(numbers(&mut link), [0, 1, 2, 6], "{limit:?}");
    }
}

#[test]
fn a_packet_must_fit_entirely_into_a_limit_in_bytes() {
    let mut config = config();
    config.limit = Limit::Bytes(Bytes::new(2500));
    let mut link = link(&config);
    for (number, size) in [(0, 1000), (1, 1501), (2, 1500), (3, 1)] {
        link.push(at(0), packet(number, size));
    }
    assert_eq!(numbers(&mut link), [0, 2]);
}

#[test]
fn a_new_rate_holds_for_the_bits_that_are_not_yet_sent() {
    let mut config = config();
    config.changes = vec![rate(Duration::from_micros(1500), 4)];
    let mut link = link(&config);
    push(&mut link, at(0), 0..3);
    // The second packet has sent half its bits at 1.5 ms; the other half takes 1 ms, the third 2 ms.
    assert_eq!(arrivals(&mut link), [(0, 11.0), (1, 12.5), (2, 14.5)]);
}

#[test]
fn frequent_changes_cost_no_capacity() {
    // The rate alternates every 0.1 ms between 4 and 12 Mbps; restarting packets would send none.
    let mut config = config();
    config.changes = vec![rate(ms(0), 4), rate(Duration::from_micros(100), 12)];
    config.repeat = Some(Duration::from_micros(200));
    let mut link = link(&config);
    push(&mut link, at(0), 0..100);
    assert_eq!(arrivals(&mut link).last(), Some(&(99, 110.0)));
    assert_eq!(link.stats().busy, ms(100));
}

#[test]
fn a_suspended_link_keeps_its_queue_and_accepts_packets() {
    let mut config = config();
    config.limit = Limit::Time(ms(3));
    config.changes = vec![rate(ms(1), 0), rate(ms(50), 8)];
    let mut link = link(&config);
    push(&mut link, at(0), 0..3);
    // A limit in time cannot be evaluated now.
    push(&mut link, at(20), 3..10);
    assert_eq!(link.stats().dropped.packets, 0);
    assert_eq!(link.queue_delay(), Duration::MAX);
    // On resumption, packets 1 to 3 see backlogs of 0, 1 and 2 ms; the tail no longer fits.
    assert_eq!(
        arrivals(&mut link),
        [(0, 11.0), (1, 61.0), (2, 62.0), (3, 63.0)]
    );
    assert_eq!(link.stats().dropped.packets, 6);
}

#[test]
fn no_packet_is_taken_at_the_instant_of_a_suspension() {
    let mut config = config();
    config.changes = vec![rate(ms(1), 0), rate(ms(50), 8)];
    let mut link = link(&config);
    push(&mut link, at(0), 0..2);
    link.advance(at(1));
    assert_eq!((link.queue().packets, link.capacity()), (1, Rate::ZERO));
}

#[test]
fn a_packet_amid_a_suspension_goes_on_where_it_was() {
    let mut config = config();
    config.changes = vec![rate(Duration::from_micros(300), 0), rate(ms(50), 8)];
    let mut link = link(&config);
    push(&mut link, at(0), 0..2);
    // 0.3 ms of the first packet were sent, 0.7 ms remain.
    assert_eq!(link.next(), Some(at(60) + Duration::from_micros(700)));
    assert_eq!(arrivals(&mut link), [(0, 60.7), (1, 61.7)]);
    assert_eq!(link.stats().busy, ms(2));
}

#[test]
fn a_link_that_starts_suspended_says_when_to_come_back() {
    let mut config = config();
    config.changes = vec![rate(ms(0), 0), rate(ms(50), 8)];
    let mut link = link(&config);
    push(&mut link, at(1), 0..1);
    // The bound is the resumption plus the delay.
    assert_eq!(link.next(), Some(at(60)));
    assert_eq!(arrivals(&mut link), [(0, 61.0)]);
}

#[test]
fn a_link_without_capacity_never_asks_to_be_called() {
    let mut config = config();
    config.changes = vec![rate(Duration::from_micros(300), 0)];
    let mut link = link(&config);
    push(&mut link, at(0), 0..2);
    assert_eq!(link.next(), None);
    assert!(link.pop(at(1_000_000)).is_none());
    assert!(link.pop(Instant::from_nanos(u64::MAX - 1)).is_none());
    assert_eq!((link.queue().packets, link.in_flight()), (1, 1));
}

#[test]
fn less_capacity_drops_the_tail_that_exceeds_a_limit_in_time() {
    let mut config = config();
    config.limit = Limit::Time(ms(8));
    config.changes = vec![rate(ms(2), 4)];
    let mut link = link(&config);
    link.record_drops(true);
    push(&mut link, at(0), 0..8);
    // At 2 ms packet 2 starts; at 4 Mbps packet n of the rest sees a backlog of 2 (n - 2) ms: packet 6
    // sees 8 ms and does not fit.
    assert_eq!(numbers(&mut link), [0, 1, 2, 3, 4, 5]);
    let drops = link.take_drops();
    let dropped = |flow| Dropped {
        at: at(2),
        flow,
        size: Bytes::new(1000),
        cause: DropCause::Shrunk,
    };
    assert_eq!(drops, [dropped(1), dropped(0)], "from the youngest on");
    assert!(link.take_drops().is_empty());
}

#[test]
fn a_smaller_limit_in_packets_drops_the_tail_too() {
    let mut config = config();
    config.changes = vec![Change {
        at: ms(2),
        limit: Some(Limit::Packets(3)),
        ..Change::default()
    }];
    let mut link = link(&config);
    push(&mut link, at(0), 0..8);
    // At 2 ms the change comes before packet 2 is taken: 2, 3 and 4 fit.
    assert_eq!(numbers(&mut link), [0, 1, 2, 3, 4]);
}

#[test]
fn waiting_packets_get_the_new_delay_and_packets_in_the_air_keep_theirs() {
    let mut config = config();
    config.changes = vec![Change {
        at: ms(1),
        delay: Some(ms(100)),
        ..Change::default()
    }];
    let mut longer = link(&config);
    push(&mut longer, at(0), 0..2);
    // The last bit of packet 0 leaves at 1 ms, still under the old delay.
    assert_eq!(arrivals(&mut longer), [(0, 11.0), (1, 102.0)]);

    config.changes[0].delay = Some(ms(1));
    let mut shorter = link(&config);
    push(&mut shorter, at(0), 0..2);
    assert_eq!(arrivals(&mut shorter), [(0, 11.0), (1, 11.0)], "in order");
    config.reorder = true;
    let mut overtaking = link(&config);
    push(&mut overtaking, at(0), 0..2);
    assert_eq!(
        arrivals(&mut overtaking),
        [(1, 3.0), (0, 11.0)],
        "when asked for"
    );
}

#[test]
fn jitter_delays_those_behind_and_they_arrive_together() {
    let mut config = config();
    config.jitter = JitterConfig::Wifi {
        mean: ms(7),
        formula: WifiFormula::Reference,
        every: None,
    };
    let mut held = link(&config);
    // Probes every 20 ms: after a spike each one is 20 ms less late, as in the published traces.
    for n in 0..2_000 {
        push(&mut held, at(20 * n), n..n + 1);
    }
    let delays: Vec<_> = arrivals(&mut held)
        .into_iter()
        .map(|(n, arrival)| arrival - 20.0 * n as f64)
        .collect();
    let spike = (0..1_990).find(|n| delays[*n] > 100.0).unwrap();
    assert!((delays[spike + 1] - (delays[spike] - 20.0)).abs() < 1e-6);
    assert!((delays[spike + 2] - (delays[spike] - 40.0)).abs() < 1e-6);
    let stats = held.stats();
    assert!(
        stats.mean_jitter_experienced() > stats.mean_jitter_drawn() + ms(5),
        "{stats:?}"
    );

    config.reorder = true;
    let mut free = link(&config);
    for n in 0..2_000 {
        push(&mut free, at(20 * n), n..n + 1);
    }
    let order = numbers(&mut free);
    assert_eq!(order.len(), 2_000);
    assert!(!order.is_sorted(), "a spike of 100 ms is overtaken");
    assert_eq!(free.stats().jitter_experienced, free.stats().jitter_drawn);
}

#[test]
fn a_new_jitter_holds_for_packets_that_leave_after_the_change() {
    let constant = |n| JitterConfig::Uniform {
        min: ms(n),
        max: ms(n),
    };
    let mut config = config();
    config.jitter = constant(1);
    config.changes = vec![Change {
        at: ms(2),
        jitter: Some(constant(30)),
        ..Change::default()
    }];
    let mut link = link(&config);
    push(&mut link, at(0), 0..3);
    assert_eq!(arrivals(&mut link), [(0, 12.0), (1, 13.0), (2, 43.0)]);
}

#[test]
fn lost_packets_use_their_transmission_time() {
    let mut config = config();
    config.loss = LossConfig::Random {
        rate: "50 %".parse().unwrap(),
    };
    let mut link = link(&config);
    link.record_drops(true);
    push(&mut link, at(0), 0..1000);
    let got = arrivals(&mut link);
    assert!(
        got.iter()
            .all(|(number, arrival)| *arrival == *number as f64 + 11.0)
    );
    let stats = link.stats();
    assert_eq!(stats.busy, Duration::from_secs(1));
    assert_eq!(stats.lost.packets + got.len() as u64, 1000);
    // Standard deviation sqrt(1000) / 2 = 16.
    assert!(
        (430..=570).contains(&stats.lost.packets),
        "{}",
        stats.lost.packets
    );
    assert_eq!(link.take_drops().len() as u64, stats.lost.packets);
    assert_eq!(
        link.flow_stats(0).lost.packets + link.flow_stats(1).lost.packets,
        stats.lost.packets
    );
}

#[test]
fn when_everything_is_lost_the_link_falls_silent() {
    let mut config = config();
    config.loss = LossConfig::Random {
        rate: Fraction::ONE,
    };
    let mut link = link(&config);
    push(&mut link, at(0), 0..100);
    assert!(arrivals(&mut link).is_empty());
    assert_eq!(link.stats().lost.packets, 100);
}

#[test]
fn loss_does_not_move_the_jitter_of_the_packets_that_survive() {
    let mut config = config();
    config.reorder = true;
    config.jitter = JitterConfig::Uniform {
        min: ms(0),
        max: ms(50),
    };
    let run = |config: &LinkConfig| {
        let mut link = link(config);
        push(&mut link, at(0), 0..200);
        let mut all = arrivals(&mut link);
        all.sort_by_key(|(number, _)| *number);
        all
    };
    let all = run(&config);
    config.loss = LossConfig::Random {
        rate: "30 %".parse().unwrap(),
    };
    let survivors = run(&config);
    assert!((100..180).contains(&survivors.len()), "{}", survivors.len());
    assert!(survivors.iter().all(|survivor| all.contains(survivor)));
}

#[test]
fn the_same_seed_gives_the_same_link_and_another_seed_another_one() {
    let mut config = config();
    config.jitter = JitterConfig::reference_normal(ms(20));
    let run = |seed| {
        let mut link = Link::new(&config, seed, 0);
        push(&mut link, at(0), 0..100);
        arrivals(&mut link)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn the_books_show_waits_and_lengths() {
    let mut link = link(&config());
    push(&mut link, at(0), 0..4);
    numbers(&mut link);
    let stats = link.stats();
    // Waits of 0, 1, 2 and 3 ms; 3000, 2000, 1000 bytes for a millisecond each.
    assert_eq!(stats.queue_wait, ms(6));
    assert_eq!(stats.mean_queue_wait(), Duration::from_micros(1500));
    assert_eq!(stats.mean_queue(ms(6)), Bytes::new(1000));
    assert_eq!(
        stats.max_queue,
        Count {
            packets: 3,
            bytes: Bytes::new(3000)
        }
    );
    // Flow 0 has packets 0 and 2, flow 1 has 1 and 3, flow 2 has no counters.
    assert_eq!(link.flow_stats(0).queue_wait, ms(2));
    assert_eq!(link.flow_stats(1).queue_wait, ms(4));
    assert_eq!(link.flow_stats(1).delivered.bytes, Bytes::new(2000));
    assert_eq!(link.flow_stats(2), &FlowLinkStats::default());
}

#[test]
fn a_clock_that_goes_back_is_taken_as_standing_still() {
    let mut link = link(&config());
    push(&mut link, at(5), 0..1);
    push(&mut link, at(3), 1..2);
    assert_eq!(arrivals(&mut link), [(0, 16.0), (1, 17.0)]);
}
