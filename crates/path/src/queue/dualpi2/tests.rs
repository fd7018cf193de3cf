//! The rules of RFC 9332, with its numbers.

use super::*;
use crate::Limit;
use crate::queue::bench::Bench;
use crate::queue::clock::assert_late_is_punctual;
use crate::test_packet::{at, ms};
use proptest::prelude::*;
use thalweg_units::Ecn;

fn bench(config: DualPi2Config) -> Bench<DualPi2> {
    Bench::new(DualPi2::new(&config, Instant::START), Limit::Unlimited)
}
fn puts(bench: &mut Bench<DualPi2>, ms: u64, ecn: Ecn, count: u64) {
    for _ in 0..count {
        bench.put(at(ms), u64::from(ecn.is_l4s()), 1000, ecn);
    }
}
fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

#[test]
fn the_gains_follow_from_the_largest_round_trip_time() {
    // A.1: alpha = 0.1 * 15 ms / (100 ms)^2 = 0.15 per second; beta = 0.3 / 100 ms = 3 per second.
    let DualPi2 { alpha, beta, .. } = DualPi2::new(&DualPi2Config::default(), Instant::START);
    assert!((alpha - 0.15).abs() < 1e-12 && (beta - 3.0).abs() < 1e-12);
    // From 20 to 25 ms: 0.15 * 10 ms + 3 * 5 ms = 0.0165.
    let mut discipline = DualPi2::new(&DualPi2Config::default(), Instant::START);
    (discipline.base, discipline.delay) = (0.1, ms(20));
    discipline.update(ms(25));
    assert!((discipline.base - 0.116_5).abs() < 1e-12);
    // It stays within 0..1.
    discipline.update(Duration::ZERO);
    discipline.update(Duration::ZERO);
    discipline.base -= 0.05;
    discipline.update(Duration::ZERO);
    assert!(discipline.base >= 0.0);
    discipline.update(ms(60_000));
    assert_eq!(discipline.base, 1.0);
}

#[test]
fn the_classic_probability_is_the_square_of_half_the_coupled_one() {
    // Section 2.1: p_C = (p_CL / k)^2 with k = 2. At p' = 20 %: 40 % of L packets, 4 % of Classic ones.
    let config = DualPi2Config {
        // No native marking.
        step: ms(1_000),
        ..DualPi2Config::default()
    };
    for (base, coupled, squared) in [(0.2, 4_000, 400), (0.1, 2_000, 100), (0.05, 1_000, 25)] {
        let marks = |ecn| {
            let mut bench = bench(config);
            puts(&mut bench, 0, ecn, 10_000);
            bench.discipline.base = base;
            while bench.take(at(0)).is_some() {}
            bench.marks()
        };
        assert!(marks(Ecn::Ect1).abs_diff(coupled) <= 1);
        assert!(marks(Ecn::Ect0).abs_diff(squared) <= 1);
    }
}

#[test]
fn classic_packets_that_are_not_capable_are_dropped_in_place_of_marks() {
    for (ecn, codepoint, expected) in [
        (true, Ecn::Ect0, (400, 0)),
        (true, Ecn::NotEct, (0, 400)),
        (false, Ecn::Ect0, (0, 400)),
    ] {
        let mut bench = bench(DualPi2Config {
            ecn,
            ..DualPi2Config::default()
        });
        puts(&mut bench, 0, codepoint, 10_000);
        bench.discipline.base = 0.2;
        while bench.take(at(0)).is_some() {}
        let drops = bench.drops();
        assert!(drops.iter().all(|drop| drop.cause == DropCause::Early));
        let seen = (bench.marks(), drops.len() as u64);
        assert!(
            seen.0.abs_diff(expected.0) <= 1 && seen.1.abs_diff(expected.1) <= 1,
            "{seen:?}"
        );
    }
}

#[test]
fn l_packets_that_have_waited_a_millisecond_are_marked() {
    // The step: the packet must leave more than one other behind (Th_len, A.1).
    let ecn_after = |wait: Duration, behind: u64| {
        let mut bench = bench(DualPi2Config::default());
        puts(&mut bench, 0, Ecn::Ect1, 1 + behind);
        bench.take(at(0) + wait).map(|packet| packet.ecn)
    };
    assert_eq!(ecn_after(us(999), 2), Some(Ecn::Ect1));
    assert_eq!(ecn_after(us(1_000), 2), Some(Ecn::Ce));
    assert_eq!(ecn_after(ms(10), 2), Some(Ecn::Ce));
    assert_eq!(ecn_after(ms(10), 1), Some(Ecn::Ect1));
}

#[test]
fn the_ramp_marks_in_proportion_to_the_excess() {
    // A.1: from 0 at 0.8 ms to 100 % at 1.2 ms.
    let discipline = |wait| {
        let mut bench = bench(DualPi2Config {
            step: us(800),
            ramp: us(400),
            ..DualPi2Config::default()
        });
        puts(&mut bench, 0, Ecn::Ect1, 3);
        bench.discipline.native(wait)
    };
    assert_eq!(discipline(us(800)), 0.0);
    assert!((discipline(us(900)) - 0.25).abs() < 1e-12);
    assert!((discipline(us(1_000)) - 0.5).abs() < 1e-12);
    assert_eq!(discipline(us(1_200)), 1.0);
}

#[test]
fn the_native_and_the_coupled_probability_combine_by_the_greater() {
    // A.1: p_L = max(p'_L, p_CL). Packets wait 1 ms on the ramp: 50 %.
    let marks = |base| {
        let mut bench = bench(DualPi2Config {
            step: us(800),
            ramp: us(400),
            ..DualPi2Config::default()
        });
        puts(&mut bench, 0, Ecn::Ect1, 1_002);
        bench.discipline.base = base;
        for _ in 0..1_000 {
            bench.take(at(1));
        }
        bench.marks()
    };
    assert_eq!(marks(0.1), 500);
    // 2 * 0.375 = 75 %.
    assert_eq!(marks(0.375), 750);
}

#[test]
fn overload_drops_in_both_queues() {
    // A.2: p' = 0.6 makes p_CL = 1.2 and p_C = 36 %, above 25 %: capable packets are dropped, too.
    for ecn in [Ecn::Ect0, Ecn::Ect1] {
        let mut bench = bench(DualPi2Config::default());
        puts(&mut bench, 0, ecn, 10_000);
        bench.discipline.base = 0.6;
        let mut passed = Vec::new();
        while let Some(packet) = bench.take(at(0)) {
            passed.push(packet.ecn);
        }
        if ecn == Ecn::Ect1 {
            // What is not dropped is marked: p_CL counts as 100 %.
            assert!(
                passed.iter().filter(|ecn| **ecn == Ecn::Ce).count() * 100 >= passed.len() * 99
            );
        } else {
            assert!(passed.iter().all(|seen| *seen == ecn));
        }
        let drops = bench.drops().len() as u64;
        assert!(drops.abs_diff(3_600) <= 2, "{drops}");
    }
    // Just below overload nothing of this happens: p_CL = 99.8 %, p_C = 24.9 %.
    let mut bench = bench(DualPi2Config::default());
    puts(&mut bench, 0, Ecn::Ect0, 100);
    puts(&mut bench, 0, Ecn::Ect1, 100);
    bench.discipline.base = 0.499;
    while bench.take(at(0)).is_some() {}
    assert_eq!(bench.drops().len(), 0);
}

#[test]
fn weights_share_the_link_when_both_queues_are_full() {
    // 1/16 of the bytes for Classic; packets of unequal size.
    let mut bench = bench(DualPi2Config::default());
    for _ in 0..3_000 {
        bench.put(at(0), 0, 1500, Ecn::NotEct);
        bench.put(at(0), 1, 500, Ecn::Ect1);
    }
    let mut sent = [0, 0];
    while sent[0] + sent[1] < 800_000 {
        let packet = bench.take(at(0)).expect("6 MB wait");
        sent[packet.flow as usize] += packet.size.as_u64();
    }
    assert!(sent[0].abs_diff(50_000) <= 1_500, "{sent:?}");
    // Alone, each has all of it.
    let mut bench = self::bench(DualPi2Config::default());
    puts(&mut bench, 0, Ecn::NotEct, 10);
    assert!((0..10).all(|_| bench.take(at(0)).is_some()));
}

#[test]
fn the_time_shift_lets_l_packets_go_before_older_classic_ones() {
    let shift = ms(30);
    let mut bench = bench(DualPi2Config {
        scheduler: DualPi2Scheduler::TimeShifted { shift },
        ..DualPi2Config::default()
    });
    puts(&mut bench, 0, Ecn::NotEct, 2);
    puts(&mut bench, 30, Ecn::Ect1, 1);
    assert_eq!(bench.take(at(30)).map(|packet| packet.flow), Some(1));
    puts(&mut bench, 31, Ecn::Ect1, 1);
    assert_eq!(bench.take(at(31)).map(|packet| packet.flow), Some(0));
}

#[test]
fn ect1_and_ce_are_l4s_and_the_rest_is_classic() {
    // RFC 9331 section 5.1.
    let mut bench = bench(DualPi2Config::default());
    for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
        puts(&mut bench, 0, ecn, 1);
    }
    let DualPi2 { low, classic, .. } = &bench.discipline;
    assert_eq!((low.fifo.len(), classic.fifo.len()), (2, 2));
}

#[test]
fn both_queues_share_the_limit_and_the_youngest_yields_when_it_shrinks() {
    let mut bench = Bench::new(
        DualPi2::new(&DualPi2Config::default(), Instant::START),
        Limit::Packets(4),
    );
    puts(&mut bench, 0, Ecn::Ect1, 2);
    puts(&mut bench, 1, Ecn::NotEct, 3);
    assert_eq!(bench.drops().len(), 1);
    puts(&mut bench, 2, Ecn::Ect1, 1);
    assert_eq!(bench.drops().len(), 1);
    bench.port.buffer.limit = Limit::Packets(1);
    bench.discipline.shed(&mut bench.port);
    let flows: Vec<_> = bench.drops().iter().map(|drop| drop.flow).collect();
    assert_eq!(flows, [0, 0, 1]);
}

#[test]
fn a_packet_that_waits_for_hours_is_aged_at_once() {
    // 36 * 10^8 updates in 10 h; certainty is reached within seconds.
    let mut bench = bench(DualPi2Config {
        update: us(10),
        ..DualPi2Config::default()
    });
    puts(&mut bench, 0, Ecn::NotEct, 1);
    let started = std::time::Instant::now();
    bench.discipline.catch_up(at(10 * 3_600_000));
    let DualPi2 { base, delay, .. } = bench.discipline;
    assert_eq!((base, delay), (1.0, Duration::from_secs(10 * 3600)));
    assert!(started.elapsed().as_secs() < 5);
}

proptest! {
    /// Skipping updates while nothing or one packet waits gives the same result as performing each.
    #[test]
    fn updates_that_are_left_out_change_nothing(
        target_us in prop_oneof![Just(0u64), 0u64..40_000],
        update_us in 1u64..20_000,
        rtt_max_us in 100u64..1_000_000,
        base in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0f64],
        delay_us in prop_oneof![Just(0u64), 0u64..100_000],
        spans in prop::collection::vec(1u64..2_000, 1..6),
        waiting in prop_oneof![Just(None), Just(Some(Ecn::NotEct)), Just(Some(Ecn::Ect1))],
    ) {
        let make = || {
            let mut bench = bench(DualPi2Config {
                target: us(target_us),
                update: us(update_us),
                rtt_max: us(rtt_max_us),
                ..DualPi2Config::default()
            });
            if let Some(ecn) = waiting {
                puts(&mut bench, 0, ecn, 1);
            }
            let mut discipline = bench.discipline;
            (discipline.base, discipline.delay) = (base, us(delay_us));
            discipline
        };
        assert_late_is_punctual(make, us(update_us), &spans, |queue, now| {
            queue.catch_up(now);
            (queue.base, queue.delay)
        });
    }
}
