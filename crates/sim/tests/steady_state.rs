//! Long and crowded trials: memory does not grow with the length of a trial, equal flows share, and a
//! thousand flows work.

mod any_variant;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use thalweg_sim::{Outcome, run_audited, run_trial};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn outcome_of(text: &str) -> Outcome {
    let scenario = any_variant::from_toml(text.as_bytes(), "t.toml", &[], &[]).unwrap();
    run_audited(&scenario, 1, false).unwrap().0
}

/// Allocations of a trial on 20 Mbps, and its packets.
fn allocations(controller: &str, megabytes: u32) -> (usize, u64) {
    let text = format!(
        "title = \"t\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\n[[flow]]\nname = \"main\"\ncontroller = \"{controller}\"\ndownload = \"{megabytes} MB\"\n"
    );
    let scenario = any_variant::from_toml(text.as_bytes(), "t.toml", &[], &[]).unwrap();
    let region = Region::new(ALLOCATOR);
    let (outcome, _) = run_trial(&scenario, 1, false);
    let change = region.change();
    (change.allocations + change.reallocations, outcome.packets)
}

#[test]
fn all_in_one_process() {
    // The allocator counts for all threads, so these run one after the other.
    a_packet_allocates_nothing();
    four_equal_flows_share_a_link();
    a_thousand_flows_finish();
}

/// Five times the packets must not cost five times the allocations: buffers grow to the size that the
/// window needs and stay.
fn a_packet_allocates_nothing() {
    for controller in ["c4", "cubic", "reno", "bbr", "bbr1", "prague"] {
        let (few, short) = allocations(controller, 10);
        let (many, long) = allocations(controller, 50);
        assert!(long > 4 * short && few > 10, "{short} {long} {few}");
        let per_thousand = (many.saturating_sub(few)) as f64 * 1e3 / (long - short) as f64;
        assert!(
            per_thousand < 1.0,
            "{controller}: {few} allocations for {short} packets, {many} for {long}"
        );
    }
}

/// Four flows that start together share within a half, by the windows of the reference's Reno and by the windows of RFC 9002,
/// with an acknowledgement for every second packet and with fewer.
fn four_equal_flows_share_a_link() {
    for (controller, ack_frequency) in [
        ("reno:variant=picoquic", true),
        ("reno", true),
        ("reno", false),
    ] {
        // No flow is like another: their packets meet the full queue at different times.
        let spread = spread_of_four(controller, ack_frequency);
        assert!((1.01..1.5).contains(&spread), "{controller}: {spread}");
    }
}

/// What the best of four flows gets, over what the worst gets, in 30 s; with or without fewer
/// acknowledgements than one for every second packet.
fn spread_of_four(controller: &str, ack_frequency: bool) -> f64 {
    let mut text = format!(
        "title = \"t\"\ntime_limit = \"30 s\"\n[transport]\nack_frequency = {ack_frequency}\n\
         [path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\n",
    );
    for flow in 0..4 {
        text += &format!(
            "[[flow]]\nname = \"f{flow}\"\ncontroller = \"{controller}\"\ndownload = \"1 GB\"\n"
        );
    }
    let outcome = outcome_of(&text);
    let rates: Vec<u64> = outcome
        .flows
        .iter()
        .map(|f| f.bytes_delivered.as_u64())
        .collect();
    let (least, most) = (*rates.iter().min().unwrap(), *rates.iter().max().unwrap());
    // Together they fill it: 75 MB in 30 s, of which headers take 4.3 % (71.8 MB are left) and the start a little.
    let sum: u64 = rates.iter().sum();
    assert!((70_000_000..71_800_000).contains(&sum), "{sum}");
    most as f64 / least as f64
}

fn a_thousand_flows_finish() {
    let mut text = String::from(
        "title = \"t\"\n[path]\nrate = \"1 Gbps\"\nrtt = \"20 ms\"\nbuffer = \"100 ms\"\n",
    );
    for flow in 0..1000 {
        text += &format!(
            "[[flow]]\nname = \"f{flow}\"\ncontroller = \"cubic\"\ndownload = \"20 kB\"\nstart = \"{flow} ms\"\n"
        );
    }
    let outcome = outcome_of(&text);
    assert_eq!(outcome.flows.len(), 1000);
    for flow in &outcome.flows {
        assert!(flow.closed.is_some() && flow.bytes_delivered.as_u64() == 20_000);
    }
}
