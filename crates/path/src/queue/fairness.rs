//! Checks of disciplines that are fair among flows: of packets that have separate queues, with a quantum of 1514 bytes.

use super::Discipline;
use super::bench::Bench;
use crate::test_packet::at;
use thalweg_units::Ecn;

/// Packets of a flow come at once.
pub(super) fn puts<D: Discipline>(bench: &mut Bench<D>, ms: u64, flow: u64, size: u64, count: u64) {
    for _ in 0..count {
        bench.put(at(ms), flow, size, Ecn::NotEct);
    }
}

/// The flows of the next packets.
pub(super) fn flows<D: Discipline>(bench: &mut Bench<D>, ms: u64, count: usize) -> Vec<u64> {
    (0..count)
        .filter_map(|_| bench.take(at(ms)).map(|packet| packet.flow))
        .collect()
}

/// A flow that has just become active goes before those that have used up their first quantum.
pub(super) fn assert_new_flows_go_first<D: Discipline>(bench: &mut Bench<D>) {
    puts(bench, 0, 0, 1500, 10);
    // The second packet exhausts the quantum of 1514 bytes: flow 0 is an old one from then on.
    assert_eq!(flows(bench, 0, 3), [0, 0, 0]);
    puts(bench, 1, 1, 100, 1);
    puts(bench, 1, 2, 100, 1);
    assert_eq!(flows(bench, 1, 4), [1, 2, 0, 0]);
}

/// Flows have the same bytes, whatever the size of their packets.
pub(super) fn assert_flows_share_by_bytes<D: Discipline>(bench: &mut Bench<D>) {
    let sizes = [1500, 500, 100];
    for (flow, size) in sizes.iter().enumerate() {
        puts(bench, 0, flow as u64, *size, 300_000 / size);
    }
    let mut sent = [0; 3];
    while sent.iter().sum::<u64>() < 450_000 {
        let packet = bench.take(at(0)).expect("900 kB wait");
        sent[packet.flow as usize] += packet.size.as_u64();
    }
    // Each has 150 kB, to within a quantum and the largest packet.
    assert!(
        sent.iter().all(|sent| sent.abs_diff(150_000) <= 3_014),
        "{sent:?}"
    );
}
