//! Delivery traces and noise as the capacity of a link.

use proptest::prelude::*;
use thalweg_path::test_packet::{TestPacket, at, drain, ms};
use thalweg_path::{CapacitySchedule, Change, Limit, Link, LinkConfig, NoiseConfig};
use thalweg_units::{Bytes, Duration, Instant, Rate};

fn packet(size: u64) -> TestPacket {
    TestPacket::new(0, size)
}
fn mbps(n: u64) -> Rate {
    Rate::from_bits_per_sec(n * 1_000_000)
}
fn traced(text: &str) -> LinkConfig {
    let mut config = LinkConfig::new(Rate::ZERO, Duration::ZERO);
    config.trace = Some(text.parse().expect("a trace"));
    config
}
/// Arrivals of everything that is still to come, in microseconds.
fn arrivals(link: &mut Link<TestPacket>) -> Vec<u64> {
    let all = drain(link).into_iter();
    all.map(|(_, now)| (now - Instant::START).as_micros())
        .collect()
}

#[test]
fn a_full_packet_that_waits_leaves_at_its_opportunity() {
    let mut link = Link::new(&traced("3\n4\n4\n10\n"), 1, 1);
    for _ in 0..6 {
        link.push(at(0), packet(1500));
    }
    // Two share the millisecond 4, one after the other in its last microsecond. Then the trace repeats.
    assert_eq!(
        arrivals(&mut link),
        [3_000, 3_999, 4_000, 10_000, 13_000, 13_999]
    );
}

#[test]
fn an_opportunity_that_finds_nothing_is_lost() {
    let mut link = Link::new(&traced("3\n4\n4\n10\n"), 1, 1);
    // One packet at 3.5 ms takes one of the two opportunities at 4 ms; one at 4 ms comes too late for the
    // other.
    link.push(at(3) + Duration::from_micros(500), packet(1500));
    link.push(at(4), packet(1500));
    assert_eq!(arrivals(&mut link), [3_999, 10_000]);
}

#[test]
fn small_packets_share_an_opportunity_and_large_ones_take_several() {
    let mut link = Link::new(&traced("5\n10\n"), 1, 1);
    for size in [500, 500, 600, 1500, 1] {
        link.push(at(0), packet(size));
    }
    // 500 + 500 + 500 of 600 at 5 ms; the rest, and 1400 of 1500, at 10 ms; the rest and the last at 15 ms.
    let seen = arrivals(&mut link);
    assert_eq!(seen, [4_999, 4_999, 9_999, 14_999, 14_999]);
}

#[test]
fn a_limit_in_time_counts_at_the_mean_of_the_trace() {
    // 1500 bytes per 10 ms are 1.2 Mbps: 30 ms hold 4500 bytes.
    let mut config = traced("10\n");
    config.limit = Limit::Time(ms(30));
    let mut link = Link::new(&config, 1, 1);
    for _ in 0..6 {
        link.push(at(0), packet(1500));
    }
    assert_eq!(link.queue().packets, 3);
    assert_eq!(link.queue_delay(), ms(30));
    assert_eq!(link.capacity(), Rate::from_bits_per_sec(1_200_000));
}

#[test]
fn delay_and_limit_change_on_a_trace_and_rates_do_not() {
    let mut config = traced("10\n");
    config.changes = vec![Change {
        at: ms(15),
        rate: Some(mbps(100)),
        delay: Some(ms(2)),
        limit: Some(Limit::Packets(1)),
        ..Change::default()
    }];
    let mut link = Link::new(&config, 1, 1);
    for _ in 0..4 {
        link.push(at(0), packet(1500));
    }
    assert_eq!(arrivals(&mut link), [10_000, 22_000]);
}

#[test]
fn the_floor_of_a_trace_is_exact_over_many_periods() {
    let schedule = CapacitySchedule::new(&traced("3\n4\n4\n10\n"));
    // 6000 bytes a period: 1e9 bytes are 166 666 periods and 4000 bytes. 1500 of these leave at 3 ms, and 2500
    // are five sixths of the 3000 that the microsecond before 4 ms carries: 833.3 ns.
    let end = schedule.time_to_send(Bytes::new(1_000_000_000), Instant::START);
    let last = at(166_666 * 10 + 4) - Duration::from_nanos(1_000) + Duration::from_nanos(834);
    assert_eq!(end, Some(last));
    assert_eq!(
        schedule.bytes_between(at(0), at(10_000)),
        Bytes::new(6_000_000)
    );
    assert_eq!(schedule.bytes_between(at(4), at(9)), Bytes::ZERO);
}

/// What `mm-link` does, in its own terms (link_queue.cc, `rationalize`), with opportunities of 1500 bytes: the
/// millisecond at which each packet leaves.
fn mm_link(times: &[u64], packets: &[(Instant, u64)]) -> Vec<u64> {
    let period = times[times.len() - 1];
    let mut left: Vec<_> = packets.iter().map(|(_, size)| *size).collect();
    let mut departures = Vec::new();
    for cycle in 0.. {
        for time in times {
            let now = cycle * period + time;
            let mut able = 1500;
            while able > 0 && departures.len() < packets.len() {
                let head = departures.len();
                if packets[head].0 >= at(now) {
                    break;
                }
                let sent = left[head].min(able);
                (left[head], able) = (left[head] - sent, able - sent);
                if left[head] == 0 {
                    departures.push(now);
                }
            }
            if departures.len() == packets.len() {
                return departures;
            }
        }
    }
    departures
}

proptest! {
    #[test]
    fn packets_leave_within_the_microsecond_before_mm_link_releases_them(
        gaps in prop::collection::vec(0u64..8, 1..30),
        packets in prop::collection::vec((0u64..300, 1u64..=1500), 1..80),
    ) {
        let mut time = 1;
        let times: Vec<_> = gaps.iter().map(|gap| { time += gap; time }).collect();
        let text: String = times.iter().map(|time| format!("{time}\n")).collect();
        let mut link = Link::new(&traced(&text), 1, 1);
        // Not within the last microsecond before a millisecond, in which the models differ.
        let mut now = Instant::START + Duration::from_micros(5);
        let packets: Vec<_> = packets.iter().map(|(gap, size)| {
            now += Duration::from_micros(gap * 10);
            (now, *size)
        }).collect();
        for (now, size) in &packets {
            link.push(*now, packet(*size));
        }
        let seen: Vec<_> = drain(&mut link).into_iter().map(|(_, now)| now).collect();
        let expected = mm_link(&times, &packets);
        prop_assert_eq!(seen.len(), expected.len());
        for (seen, expected) in seen.iter().zip(expected) {
            let early = at(expected) - *seen;
            prop_assert!(*seen <= at(expected) && early <= Duration::from_micros(1), "{early} {expected}");
        }
    }
}

proptest! {
    /// What is left of a packet at the end of a period is carried over to the next: a busy link delivers the mean of a
    /// pattern that repeats, from periods of a millisecond and less than a packet on.
    #[test]
    fn a_busy_link_delivers_the_mean_of_any_pattern_that_repeats(
        pattern in prop::collection::vec((0u64..100_000_000, 1u64..5_000_000), 1..6),
        first in 1u64..1_000_000,
    ) {
        let mut config = LinkConfig::new(Rate::from_bits_per_sec(first), Duration::ZERO);
        let mut stretches = vec![(first, 1_000_000)];
        stretches.extend(&pattern);
        let mut period = Duration::ZERO;
        for (rate, span) in &stretches {
            config.changes.push(Change {
                at: period,
                rate: Some(Rate::from_bits_per_sec(*rate)),
                ..Change::default()
            });
            period += Duration::from_nanos(*span);
        }
        config.repeat = Some(period);
        let mut link = Link::new(&config, 1, 1);
        (0..1000).for_each(|_| link.push(at(0), packet(1500)));
        let (_, last) = drain(&mut link).pop().unwrap();
        // Nanobits, added up stretch by stretch, that all fit into the time until the last packet, and not into less.
        let able = |until: u64| {
            let (whole, mut left) = (until / period.as_nanos(), until % period.as_nanos());
            let work = |(rate, span): &(u64, u64)| u128::from(*rate) * u128::from(*span);
            let part = stretches.iter().map(|(rate, span)| {
                let here = left.min(*span);
                left -= here;
                work(&(*rate, here))
            });
            part.sum::<u128>() + u128::from(whole) * stretches.iter().map(work).sum::<u128>()
        };
        let all = 1000 * 12_000 * 1_000_000_000u128;
        prop_assert!(able(last.as_nanos()) >= all && able(last.as_nanos() - 1) < all);
    }
}

/// 12 Mbps and 25 ms with the noise of the transient study: 2 Mbps, and 1 ms of delay.
fn noisy() -> LinkConfig {
    let mut config = LinkConfig::new(mbps(12), ms(25));
    config.noise = Some(NoiseConfig {
        rate_sd: mbps(2),
        delay_sd: ms(1),
        ..NoiseConfig::default()
    });
    config
}

#[test]
fn a_busy_link_delivers_what_the_noisy_capacity_is() {
    let mut config = noisy();
    config.noise = config.noise.map(|noise| NoiseConfig {
        delay_sd: Duration::ZERO,
        ..noise
    });
    config.delay = Duration::ZERO;
    let mut link = Link::new(&config, 7, 1);
    for _ in 0..20_000 {
        link.push(at(0), packet(1500));
    }
    for second in 1..=10 {
        while link.pop(at(second * 1000)).is_some() {}
        let able = link.capacity_between(at(0), at(second * 1000)).as_u64();
        let sent = link.stats().delivered.bytes.as_u64();
        assert!(sent <= able && able < sent + 1500, "{sent} {able}");
    }
    // Each millisecond differs, within three deviations; 10 s are 15 MB +- 2 / 12 * 4 / sqrt(10000).
    let each: Vec<_> = (0..10_000)
        .map(|n| Rate::over(link.capacity_between(at(n), at(n + 1)), ms(1)))
        .collect();
    assert!(
        each.iter()
            .all(|rate| *rate <= mbps(18) && *rate + mbps(1) >= mbps(7))
    );
    assert!(each.iter().any(|rate| *rate > mbps(16)) && each.iter().any(|rate| *rate < mbps(8)));
    let all = link.capacity_between(at(0), at(10_000)).as_u64();
    assert!(all.abs_diff(15_000_000) <= 100_000, "{all}");
    // The schedule stays what was asked for: floors are computed on it.
    assert_eq!(
        link.schedule().time_to_send(Bytes::new(1_500_000), at(0)),
        Some(at(1000))
    );
    assert_eq!(link.capacity(), mbps(12));
}

#[test]
fn noise_differs_from_trial_to_trial_and_not_within_one() {
    let capacity =
        |seed| Link::<TestPacket>::new(&noisy(), seed, 1).capacity_between(at(0), at(50));
    assert_eq!(capacity(1), capacity(1));
    assert_ne!(capacity(1), capacity(2));
}

#[test]
fn delay_noise_keeps_the_order_unless_reordering_is_asked_for() {
    for reorder in [false, true] {
        let mut config = noisy();
        config.reorder = reorder;
        let mut link = Link::new(&config, 3, 1);
        // The size of a packet says when it was sent: one of 100 + n bytes at n half milliseconds. Even 600
        // bytes take 0.4 ms.
        let sent = |size: u64| Instant::START + Duration::from_micros((size - 100) * 500);
        for size in 100..600 {
            link.push(sent(size), packet(size));
        }
        let mut sizes = Vec::new();
        while let Some(now) = link.next() {
            if let Some(TestPacket { size, .. }) = link.pop(now) {
                // 25 ms +- 3 ms, and up to 0.4 ms * 12 / 6 of transmission for one or two packets.
                let delay = now - sent(size);
                assert!(delay >= ms(22) && delay <= ms(30), "{delay}");
                sizes.push(size);
            }
        }
        assert_eq!(sizes.len(), 500);
        assert_eq!(sizes.is_sorted(), !reorder);
    }
}

#[test]
fn noise_follows_changes_and_repetition_and_leaves_a_suspended_link_alone() {
    let mut config = noisy();
    let rate = |at, mbps_: u64| Change {
        at,
        rate: Some(mbps(mbps_)),
        ..Change::default()
    };
    // 12 Mbps for 100 ms, nothing for 100 ms, 48 Mbps for 100 ms, and again.
    config.changes = vec![rate(ms(100), 0), rate(ms(200), 48)];
    config.repeat = Some(ms(300));
    let link = Link::<TestPacket>::new(&config, 5, 1);
    for cycle in 0..20u64 {
        let able = |from: u64, to: u64| {
            link.capacity_between(at(cycle * 300 + from), at(cycle * 300 + to))
                .as_u64()
        };
        // 25 kB per 100 ms and deviation; 4 deviations of 100 draws are 10 kB.
        assert!(able(0, 100).abs_diff(150_000) <= 10_000);
        assert_eq!(able(100, 200), 0);
        assert!(able(200, 300).abs_diff(600_000) <= 10_000);
    }
}

#[test]
fn noise_scales_the_opportunities_of_a_trace() {
    // 12 Mbps on average, deviation 2 Mbps: each opportunity is 1500 +- 250 bytes, three times at most.
    let mut config = traced("1\n");
    config.noise = noisy().noise;
    let link = Link::<TestPacket>::new(&config, 5, 1);
    let each: Vec<_> = (0..1_000)
        .map(|n| link.capacity_between(at(n), at(n + 1)).as_u64())
        .collect();
    assert!(each.iter().all(|bytes| (749..=2_250).contains(bytes)));
    assert!(each.iter().any(|bytes| *bytes > 1_900) && each.iter().any(|bytes| *bytes < 1_100));
    // 4 * 250 * sqrt(1000) = 32 kB.
    assert!(each.iter().sum::<u64>().abs_diff(1_500_000) <= 32_000);
}

#[test]
fn an_idle_hour_of_noise_costs_nothing() {
    let mut link = Link::new(&noisy(), 3, 1);
    let started = std::time::Instant::now();
    for hour in 0..1_000 {
        link.push(at(hour * 3_600_000), packet(1500));
        while link.next().is_some_and(|now| link.pop(now).is_none()) {}
    }
    // 3.6e9 draws otherwise.
    assert!(started.elapsed().as_secs() < 5);
    assert_eq!(link.stats().delivered.packets, 1_000);
}

#[test]
fn a_packet_leaves_within_its_opportunity_as_soon_as_noise_gives_capacity_back() {
    // The opportunity is the last microsecond of each millisecond. Noise of twice the capacity takes all of it in a
    // third of the draws, of which there are five.
    let mut config = traced("1\n");
    config.noise = Some(NoiseConfig {
        rate_sd: mbps(24),
        every: Duration::from_nanos(200),
        ..NoiseConfig::default()
    });
    let arrival = |n: u64, punctual: bool| {
        let mut link = Link::new(&config, n, 1);
        let sent = at(1) - Duration::from_nanos(950);
        link.push(sent, packet(10));
        let mut now = sent;
        loop {
            now = match punctual {
                true => link.next().expect("a packet waits"),
                false => now + Duration::from_nanos(1),
            };
            if link.pop(now).is_some() {
                return now;
            }
        }
    };
    let all: Vec<_> = (0..100).map(|n| arrival(n, true)).collect();
    // 10 bytes take 7 ns of 12 Gbps: with capacity at once they arrive before the next draw begins.
    let delayed = all
        .iter()
        .filter(|at_| **at_ > at(1) - Duration::from_nanos(800))
        .count();
    assert!((15..=50).contains(&delayed), "{delayed}");
    for (n, punctual) in (0..).zip(&all) {
        assert_eq!(*punctual, arrival(n, false), "seed {n}");
    }
}
