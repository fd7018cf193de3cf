//! The scheduler, COBALT in place, the shaper on a link, and the filter of ACKs.

use super::*;
use crate::queue::bench::Bench;
use crate::queue::fairness::{assert_flows_share_by_bytes, assert_new_flows_go_first, flows, puts};
use crate::test_packet::{TestPacket, at, drain, ms, send};
use crate::{CodelConfig, FqCodelConfig, Limit, Link, LinkConfig, QueueConfig};
use thalweg_units::Ecn;

const UNLIMITED: CakeConfig = CakeConfig {
    bandwidth: None,
    rtt: Duration::from_millis(100),
    ack_filter: AckFilter::Off,
    framing: Framing::RAW,
};

fn bench(config: CakeConfig, limit: Limit) -> Bench<Cake> {
    Bench::new(Cake::new(&config, 1, Instant::START), limit)
}
/// Two packets of 1000 bytes come and one leaves in each millisecond of `from..to`.
fn overload(bench: &mut Bench<Cake>, from: u64, to: u64, ecn: Ecn) {
    for now in from..to {
        bench.take(at(now));
        bench.put(at(now), 0, 1000, ecn);
        bench.put(at(now), 0, 1000, ecn);
    }
}
fn mbps(rate: u64) -> Rate {
    Rate::from_bits_per_sec(rate * 1_000_000)
}

#[test]
fn a_flow_that_has_just_become_active_goes_first_and_cannot_stay_so() {
    let mut bench = bench(UNLIMITED, Limit::Unlimited);
    assert_new_flows_go_first(&mut bench);
}

#[test]
fn flows_share_by_bytes_whatever_the_size_of_their_packets() {
    let mut bench = bench(UNLIMITED, Limit::Unlimited);
    assert_flows_share_by_bytes(&mut bench);
}

#[test]
fn a_slow_shaper_has_small_turns_and_a_target_of_one_and_a_half_packets() {
    // `cake_set_rate`: 1/4096 s at 1 Mbps is 30 bytes, at 8 Mbps 244, at 20 Mbps 610, at 100 Mbps 3051.
    let quantum = |rate| {
        let config = CakeConfig {
            bandwidth: Some(mbps(rate)),
            ..UNLIMITED
        };
        config.quantum().as_u64()
    };
    assert_eq!([1, 8, 20, 100].map(quantum), [300, 300, 610, 1514]);
    // 1514 bytes at 1 Mbps are 12.112 ms: the target is 18.168 ms, and the interval 13.168 ms longer.
    let config = CakeConfig {
        bandwidth: Some(mbps(1)),
        ..UNLIMITED
    };
    let micros = Duration::from_micros;
    let slow = Parameters {
        target: micros(18_168),
        interval: micros(113_168),
        mtu_time: micros(12_112),
    };
    assert_eq!(config.cobalt(), slow);
    // On a LAN it is never below two targets.
    let lan = CakeConfig {
        rtt: ms(1),
        ..config
    };
    assert_eq!(lan.cobalt().interval, micros(2 * 18_168));
    // Every preset has the target of its table in `q_cake.c`, a twentieth.
    for (name, rtt) in CakeConfig::PRESETS {
        let config = CakeConfig { rtt, ..UNLIMITED };
        assert_eq!(config.cobalt().target * 20, rtt, "{name}");
    }
}

#[test]
fn signals_come_an_interval_over_the_root_of_their_count_apart() {
    // At millisecond t packet t - 1 leaves, which came at (t - 1) / 2, rounded down: its wait is above 5 ms from 10 ms on. The
    // first signal is due at 110 ms; the next ones 100 / sqrt(2), / sqrt(3), ... ms after each other: 180.71, 238.45, 288.45,
    // 333.17, 373.99, 411.79 ms, and happen when a packet leaves.
    let expected = [110, 181, 239, 289, 334, 374, 412];
    let mut dropping = bench(UNLIMITED, Limit::Unlimited);
    overload(&mut dropping, 0, 413, Ecn::NotEct);
    let drops = dropping.drops();
    assert!(drops.iter().all(|drop| drop.cause == DropCause::Early));
    let times: Vec<u64> = drops
        .iter()
        .map(|drop| (drop.at - at(0)).as_millis())
        .collect();
    assert_eq!(times, expected);
    let mut marking = bench(UNLIMITED, Limit::Unlimited);
    overload(&mut marking, 0, 413, Ecn::Ect0);
    assert_eq!((marking.drops().len(), marking.marks()), (0, 7));
}

#[test]
fn the_last_packet_of_a_queue_is_never_dropped() {
    let mut bench = bench(UNLIMITED, Limit::Unlimited);
    let mut left = 0;
    // One packet at a time, each waits for a second: far above the target for a minute.
    for second in 0..60 {
        puts(&mut bench, second * 1000, 0, 1000, 1);
        left += flows(&mut bench, second * 1000 + 999, 1).len();
    }
    assert_eq!((left, bench.drops().len()), (60, 0));
}

#[test]
fn blue_takes_over_from_overflow_where_nobody_responds() {
    // 2 kB per ms come to 1 kB per ms, into 100 packets: the wait is 100 ms at first. Each 6 ms of overflow add 1/256 to the
    // probability; CoDel's drops, ever more, come on top. A balance without overflow drops half.
    let mut bench = bench(UNLIMITED, Limit::Packets(100));
    let causes = |bench: &mut Bench<Cake>| {
        let drops = bench.drops();
        let full = drops.iter().filter(|drop| drop.cause == DropCause::Full);
        let full = full.count();
        (full, drops.len() - full)
    };
    overload(&mut bench, 0, 500, Ecn::Ect0);
    let (full, early) = causes(&mut bench);
    assert!(full > 200 && early < 200, "{full} {early}");
    overload(&mut bench, 500, 10_000, Ecn::Ect0);
    causes(&mut bench);
    overload(&mut bench, 10_000, 20_000, Ecn::Ect0);
    let (full, early) = causes(&mut bench);
    // 10 000 packets too many in 10 s; ECN does not save them (drops of BLUE are drops).
    assert!((9_800..=10_200).contains(&(full + early)), "{full} {early}");
    assert!(full < 500, "{full}");
}

#[test]
fn overflow_drops_the_head_of_the_longest_queue_until_it_fits() {
    let mut bench = bench(UNLIMITED, Limit::Bytes(Bytes::new(20_000)));
    puts(&mut bench, 0, 0, 1000, 15);
    puts(&mut bench, 1, 1, 1000, 5);
    assert!(bench.drops().is_empty());
    puts(&mut bench, 2, 1, 1500, 1);
    let drops = bench.drops();
    assert_eq!(drops.len(), 2); // 21.5 kB to 19.5 kB
    assert!(
        drops
            .iter()
            .all(|drop| (drop.flow, drop.cause) == (0, DropCause::Full))
    );
    assert_eq!(bench.port.buffer.waiting.bytes, Bytes::new(19_500));
}

#[test]
fn a_thousand_flows_that_come_and_go_leave_nothing_behind() {
    // Every queue that runs empty decays, one for each packet that leaves, and is off all lists in the end.
    let mut bench = bench(UNLIMITED, Limit::Unlimited);
    for flow in 0..1000 {
        puts(&mut bench, flow, flow, 1000, 1);
        flows(&mut bench, flow, 1);
    }
    let active = |bench: &Bench<Cake>| {
        let cake = &bench.discipline;
        assert_eq!(
            cake.flows.iter().filter(|flow| flow.list.is_some()).count(),
            cake.new.len() + cake.old.len() + cake.decaying.len()
        );
        cake.new.len() + cake.old.len() + cake.decaying.len()
    };
    assert!(active(&bench) > 50);
    for now in 0..2000 {
        puts(&mut bench, 10_000 + now, 0, 1000, 1);
        flows(&mut bench, 10_000 + now, 1);
    }
    assert_eq!(active(&bench), 1);
}

#[test]
fn the_filter_keeps_two_acks_of_a_flow_and_aggressively_one() {
    let waiting = |ack_filter, acks: &[(u64, bool)]| {
        let mut bench = bench(
            CakeConfig {
                ack_filter,
                ..UNLIMITED
            },
            Limit::Unlimited,
        );
        for (now, (flow, is_ack)) in (0..).zip(acks) {
            bench.put_ack(at(now), *flow, 83, *is_ack);
        }
        let drops = bench.drops();
        assert!(drops.iter().all(|drop| drop.cause == DropCause::Filtered));
        let mut left: Vec<u64> = Vec::new();
        // Within the target, so that COBALT drops none.
        while let Some(packet) = bench.take(at(5)) {
            left.push((packet.arrived - at(0)).as_millis());
        }
        left.sort_unstable();
        left
    };
    let acks = [(0, true); 5];
    assert_eq!(waiting(AckFilter::Off, &acks), [0, 1, 2, 3, 4]);
    assert_eq!(waiting(AckFilter::Conservative, &acks), [3, 4]);
    assert_eq!(waiting(AckFilter::Aggressive, &acks), [4]);
    // Data is not an ACK and drops none; it stands between two ACKs.
    let mixed = [(0, true), (0, false), (0, true)];
    assert_eq!(waiting(AckFilter::Aggressive, &mixed), [0, 1, 2]);
    let mixed = [(0, true), (0, false), (0, true), (0, true)];
    assert_eq!(waiting(AckFilter::Conservative, &mixed), [1, 2, 3]);
    // Another flow has its own.
    let two = [(0, true), (1, true), (0, true), (1, true)];
    assert_eq!(waiting(AckFilter::Aggressive, &two), [2, 3]);
    assert_eq!(waiting(AckFilter::Conservative, &two), [0, 1, 2, 3]);
}

/// A link with this discipline, 8 Mbps, no delay and room for 100 kB.
fn link(queue: QueueConfig) -> Link<TestPacket> {
    let config = LinkConfig {
        queue,
        limit: Limit::Bytes(Bytes::new(100_000)),
        ..LinkConfig::new(mbps(8), Duration::ZERO)
    };
    Link::new(&config, 1, 8)
}
fn shaped(rate: Rate) -> QueueConfig {
    QueueConfig::Cake(CakeConfig {
        bandwidth: Some(rate),
        rtt: Duration::from_secs(1000),
        ..UNLIMITED
    })
}

#[test]
fn a_shaped_link_sends_at_the_bandwidth_from_the_first_packet_on_and_at_its_own_rate_above_that() {
    for (bandwidth, gap) in [
        (mbps(2), ms(4)),
        (mbps(7), Duration::from_nanos(1_142_857)),
        (mbps(80), ms(1)),
    ] {
        let mut link = link(shaped(bandwidth));
        send(&mut link, at(0), 0, Ecn::NotEct, 50);
        let arrivals: Vec<Instant> = drain(&mut link).iter().map(|(_, at)| *at).collect();
        assert_eq!(arrivals.len(), 50);
        // No burst: the first packet takes 1 ms on the link, and every later one comes a gap later.
        for (index, arrival) in (0..).zip(&arrivals) {
            let off = (*arrival - at(0)).abs_diff(ms(1) + gap * index);
            assert!(
                off < Duration::from_micros(1),
                "{bandwidth} {index} {arrival}"
            );
        }
        // Its statistics know that it did not send while it paused.
        assert_eq!(link.stats().busy, ms(50));
    }
}

#[test]
fn a_shaper_and_turns_charge_the_frames_of_its_link() {
    // 1000 bytes in ATM with 40 of overhead: 21.67 cells, so 22 of 53 bytes, 1166: 4.664 ms at 2 Mbps.
    let adsl = Framing {
        overhead: Bytes::new(40),
        mpu: Bytes::ZERO,
        cells: Cells::Atm,
    };
    let QueueConfig::Cake(raw) = shaped(mbps(2)) else {
        unreachable!()
    };
    let framed = CakeConfig {
        framing: adsl,
        ..raw
    };
    let mut shaped = link(QueueConfig::Cake(framed));
    send(&mut shaped, at(0), 0, Ecn::NotEct, 50);
    // 49 wait, and the first one is sent; the rate without frames is a whole number of bits per second.
    let off = shaped
        .queue_delay()
        .abs_diff(Duration::from_micros(50 * 4664));
    assert!(off < Duration::from_micros(1), "{off}");
    let arrivals: Vec<Instant> = drain(&mut shaped).iter().map(|(_, at)| *at).collect();
    for (index, arrival) in (0..).zip(&arrivals) {
        let expected = at(1) + Duration::from_micros(4664) * index;
        let off = (*arrival - at(0)).abs_diff(expected - at(0));
        assert!(off < Duration::from_micros(1), "{index} {arrival}");
    }
    // Two flows share cells, not bytes: 8 bytes cost a cell of 53, so that 1000 are 22 times as dear.
    let mut fair = bench(
        CakeConfig {
            bandwidth: None,
            ..framed
        },
        Limit::Unlimited,
    );
    puts(&mut fair, 0, 0, 8, 4000);
    puts(&mut fair, 0, 1, 1000, 400);
    let first = flows(&mut fair, 0, 2000);
    let small = first.iter().filter(|flow| **flow == 0).count() as f64;
    let ratio = small / (2000.0 - small);
    assert!((20.0..24.0).contains(&ratio), "{ratio}");
}

#[test]
fn a_pause_takes_no_room_and_outlives_the_discipline() {
    let config = LinkConfig {
        limit: Limit::Packets(3),
        queue: shaped(mbps(1)),
        changes: vec![crate::Change {
            queue: Some(QueueConfig::DropTail),
            at: ms(20),
            ..crate::Change::default()
        }],
        ..LinkConfig::new(mbps(8), Duration::ZERO)
    };
    let mut link: Link<TestPacket> = Link::new(&config, 1, 8);
    // The first is sent, 8 ms long for the shaper and 1 ms for the link; then three more fit.
    send(&mut link, at(0), 0, Ecn::NotEct, 1);
    link.advance(at(2));
    assert_eq!((link.stats().busy, link.queue().packets), (ms(1), 0));
    send(&mut link, at(2), 0, Ecn::NotEct, 4);
    assert_eq!((link.queue().packets, link.stats().dropped.packets), (3, 1));
    // At 8, 16 and 24 ms, since drop-tail took over in the last pause; then at the rate of the link.
    let arrivals: Vec<Instant> = drain(&mut link).iter().map(|(_, at)| *at).collect();
    assert_eq!(arrivals, [at(1), at(9), at(17), at(25)]);
    send(&mut link, at(30), 0, Ecn::NotEct, 2);
    let arrivals: Vec<Instant> = drain(&mut link).iter().map(|(_, at)| *at).collect();
    assert_eq!(arrivals, [at(31), at(32)]);
}

#[test]
fn one_flow_that_waits_less_than_the_target_passes_as_under_fq_codel() {
    // Nothing is signalled, and one flow has no others to share with: both are first in, first out.
    let passes = |queue| {
        let mut link = link(queue);
        let mut arrivals = Vec::new();
        for now in 0..1000 {
            send(&mut link, at(now), 0, Ecn::Ect0, now % 3);
            while let Some(packet) = link.pop(at(now)) {
                arrivals.push((packet.number, packet.ecn, now));
            }
        }
        arrivals
    };
    let fair = FqCodelConfig {
        codel: CodelConfig {
            target: ms(1000),
            ..CodelConfig::default()
        },
        ..FqCodelConfig::default()
    };
    let cake = CakeConfig {
        rtt: ms(20_000),
        ..UNLIMITED
    };
    let cake = passes(QueueConfig::Cake(cake));
    assert!(cake.len() > 900);
    assert_eq!(cake, passes(QueueConfig::FqCodel(fair)));
    assert_eq!(cake, passes(QueueConfig::DropTail));
}
