//! The scheduler and overload rules of RFC 8290.

use super::*;
use crate::Limit;
use crate::queue::bench::Bench;
use crate::queue::fairness::{assert_flows_share_by_bytes, assert_new_flows_go_first, flows, puts};
use crate::test_packet::at;

fn bench(config: FqCodelConfig, limit: Limit) -> Bench<FqCodel> {
    Bench::new(FqCodel::new(&config, 1), limit)
}
/// Flows in separate queues.
fn apart(bench: &Bench<FqCodel>, flows: &[u64]) -> bool {
    let mut queues: Vec<_> = flows
        .iter()
        .map(|flow| bench.discipline.queue_of(*flow))
        .collect();
    queues.sort_unstable();
    queues.dedup();
    queues.len() == flows.len()
}

#[test]
fn a_flow_that_has_just_become_active_goes_first() {
    // RFC 8290 section 4.2: new queues before old ones.
    let mut bench = bench(FqCodelConfig::default(), Limit::Unlimited);
    assert!(apart(&bench, &[0, 1, 2]));
    assert_new_flows_go_first(&mut bench);
}

#[test]
fn a_flow_cannot_stay_new_by_never_having_more_than_one_packet() {
    // RFC 8290 section 4.2: a new queue that runs empty joins the old ones before it may be new again.
    // Otherwise flow 1 would send all of the packets.
    let mut bench = bench(FqCodelConfig::default(), Limit::Unlimited);
    puts(&mut bench, 0, 0, 1500, 100);
    let mut sent = [0, 0];
    for _ in 0..100 {
        if bench.discipline.flows[bench.discipline.queue_of(1)]
            .fifo
            .is_empty()
        {
            puts(&mut bench, 0, 1, 1500, 1);
        }
        sent[flows(&mut bench, 0, 1)[0] as usize] += 1;
    }
    assert!((48..=52).contains(&sent[1]), "{sent:?}");
}

#[test]
fn flows_share_by_bytes_whatever_the_size_of_their_packets() {
    // Deficit round robin (Shreedhar and Varghese 1995).
    let mut bench = bench(FqCodelConfig::default(), Limit::Unlimited);
    assert!(apart(&bench, &[0, 1, 2]));
    assert_flows_share_by_bytes(&mut bench);
}

#[test]
fn the_quantum_is_what_a_flow_sends_in_a_turn() {
    let config = FqCodelConfig {
        quantum: Bytes::new(300),
        ..FqCodelConfig::default()
    };
    let mut bench = bench(config, Limit::Unlimited);
    puts(&mut bench, 0, 0, 100, 9);
    puts(&mut bench, 0, 1, 300, 4);
    // New turns first; then 300 bytes each, three small packets against one large.
    assert_eq!(
        flows(&mut bench, 0, 12),
        [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]
    );
}

#[test]
fn overflow_beheads_the_fattest_flow_by_half_and_no_more_than_a_batch() {
    // RFC 8290 section 4.1.
    let overflow = |drop_batch, fat: u64| {
        let config = FqCodelConfig {
            drop_batch,
            ..FqCodelConfig::default()
        };
        let mut bench = bench(config, Limit::Packets(fat + 5));
        puts(&mut bench, 0, 0, 1000, fat);
        puts(&mut bench, 1, 1, 1000, 5);
        assert!(bench.drops().is_empty());
        puts(&mut bench, 2, 1, 1000, 1);
        let drops = bench.drops();
        assert!(
            drops
                .iter()
                .all(|drop| (drop.flow, drop.cause) == (0, DropCause::Full))
        );
        assert_eq!(
            bench.port.buffer.waiting.packets,
            fat + 6 - drops.len() as u64
        );
        drops.len()
    };
    assert_eq!(overflow(64, 100), 50);
    assert_eq!(overflow(64, 101), 51);
    assert_eq!(overflow(64, 1000), 64);
    assert_eq!(overflow(1, 1000), 1);
}

#[test]
fn one_queue_is_codel_with_drops_from_the_head_at_overflow() {
    let config = FqCodelConfig {
        flows: 1,
        drop_batch: 1,
        ..FqCodelConfig::default()
    };
    let mut bench = bench(config, Limit::Packets(4));
    for flow in 0..6 {
        puts(&mut bench, 0, flow, 1000, 1);
    }
    assert_eq!(flows(&mut bench, 0, 9), [2, 3, 4, 5]);
}

#[test]
fn codel_governs_each_flow_by_itself() {
    // Flow 0 gets 500 bytes per millisecond and offers 1000; flow 1 offers 100 in small packets.
    let mut bench = bench(FqCodelConfig::default(), Limit::Unlimited);
    assert!(apart(&bench, &[0, 1]));
    for now in 0..2000 {
        puts(&mut bench, now, 0, 1000, 1);
        if now % 10 == 0 {
            puts(&mut bench, now, 1, 100, 1);
        }
        if now % 2 == 0 {
            bench.take(at(now));
        }
    }
    let drops = bench.drops();
    assert!(drops.len() >= 10);
    assert!(drops.iter().all(|drop| drop.flow == 0));
    assert!(
        bench.discipline.flows[bench.discipline.queue_of(1)]
            .fifo
            .len()
            <= 1
    );
}

#[test]
fn the_hash_differs_from_trial_to_trial_and_uses_all_queues() {
    let config = FqCodelConfig {
        flows: 16,
        ..FqCodelConfig::default()
    };
    let queues = |seed| -> Vec<usize> {
        let discipline = FqCodel::new(&config, seed);
        (0..200).map(|flow| discipline.queue_of(flow)).collect()
    };
    assert_ne!(queues(1), queues(2));
    // 200 flows in 16 queues: 12.5 on average, and never none: 16 * (15/16)^200 = 4e-5.
    let mut seen = queues(3);
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 16);
}
