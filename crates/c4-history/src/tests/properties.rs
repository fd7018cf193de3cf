//! Invariants of every version after any sequence of events.

use super::{Flow, MTU, VERSIONS};
use crate::constants::WINDOW_MINIMUM;
use crate::slips::Slips;
use crate::{VARIANTS, registry};
use proptest::prelude::*;
use thalweg_control::OptionKind;
use thalweg_control::event::EcnCounts;
use thalweg_control::fake_transport::any_operation::{any_operation, keeps_its_bounds};
use thalweg_control::fake_transport::{self, INIT};
use thalweg_control::registry::ENTRIES;
use thalweg_units::{Bytes, Duration, Rate};

#[derive(Clone, Debug)]
enum Event {
    Ack {
        delivered: u64,
        rtt_ms: u64,
    },
    EraEnd {
        delivered: u64,
        rtt_ms: u64,
    },
    Rtt {
        count: usize,
        rtt_ms: u64,
    },
    Loss {
        gap: u64,
        count: u64,
    },
    Ce,
    Seed(u64),
    Time(u64),
    Path {
        mtu: u64,
        smoothed_ms: u64,
        peak: u64,
    },
    Idle,
    NothingAcked,
}

/// Mostly ordinary values, sometimes extreme ones.
fn amount() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..2_000_000u64, 1 => any::<u64>(), 1 => Just(0)]
}
fn span_ms() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 1..500u64, 1 => any::<u64>(), 1 => Just(0)]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (amount(), span_ms()).prop_map(|(delivered, rtt_ms)| Event::Ack { delivered, rtt_ms }),
        6 => (amount(), span_ms())
            .prop_map(|(delivered, rtt_ms)| Event::EraEnd { delivered, rtt_ms }),
        6 => (1..10usize, span_ms()).prop_map(|(count, rtt_ms)| Event::Rtt { count, rtt_ms }),
        2 => (0..100u64, 1..5u64).prop_map(|(gap, count)| Event::Loss { gap, count }),
        1 => Just(Event::Ce),
        1 => amount().prop_map(Event::Seed),
        4 => (0..3000u64).prop_map(Event::Time),
        1 => (1..9000u64, span_ms(), amount())
            .prop_map(|(mtu, smoothed_ms, peak)| Event::Path { mtu, smoothed_ms, peak }),
        1 => Just(Event::Idle),
        1 => Just(Event::NothingAcked),
    ]
}

fn apply(flow: &mut Flow, event: &Event) {
    match *event {
        Event::Ack { delivered, rtt_ms } => flow.deliver(delivered, rtt_ms),
        Event::EraEnd { delivered, rtt_ms } => flow.end_era(delivered, rtt_ms),
        Event::Rtt { count, rtt_ms } => flow.rtts(count, rtt_ms),
        Event::Loss { gap, count } => {
            let first = flow.path.next_packet + gap;
            flow.path.next_packet = first + count;
            flow.losses(first, count);
        }
        Event::Ce => flow.report_ecn(EcnCounts::default()),
        Event::Seed(window) => flow.report_seed(Bytes::new(window)),
        Event::Time(ms) => flow.work_for(ms),
        Event::Path {
            mtu,
            smoothed_ms,
            peak,
        } => {
            flow.path.mtu = Bytes::new(mtu);
            flow.path.smoothed_rtt = Duration::from_millis(smoothed_ms);
            flow.path.peak_rate = Rate::from_bytes_per_sec(peak);
        }
        Event::Idle => flow.path.last_idle = flow.now,
        Event::NothingAcked => flow.path.largest_acked = None,
    }
}

proptest! {
    #[test]
    fn window_pacing_and_quantum_are_never_zero(
        events in prop::collection::vec(event(), 1..200),
        version in prop::sample::select(VERSIONS.to_vec()),
        slips in prop::sample::select(vec![Slips::AS_PUBLISHED, Slips::REPAIRED]),
    ) {
        let mut flow = Flow::of_version(version);
        flow.controller.slips = slips;
        let mut smallest = MTU;
        for event in &events {
            apply(&mut flow, event);
            let control = flow.control();
            // The least nominal window is 3072; a slowdown halves it. Every acknowledgement brings the
            // window up to date with the packet size.
            smallest = smallest.min(flow.path.mtu);
            let mtu = match event {
                Event::Ack { .. } | Event::EraEnd { .. } => flow.path.mtu,
                _ => smallest,
            };
            let least = (WINDOW_MINIMUM / 2).max(mtu * 2);
            prop_assert!(control.window >= least, "{event:?}: {control:?}");
            prop_assert!(flow.controller.nominal >= WINDOW_MINIMUM);
            prop_assert!(!control.pacing.unwrap().is_zero(), "{event:?}: {control:?}");
            prop_assert!(!control.quantum.is_zero(), "{event:?}: {control:?}");
        }
        prop_assert!(!flow.shown().variables.is_empty());
    }

    #[test]
    fn the_same_events_give_the_same_decisions(
        events in prop::collection::vec(event(), 1..50),
        version in prop::sample::select(VERSIONS.to_vec()),
    ) {
        let run = || {
            let mut flow = Flow::of_version(version);
            events.iter().for_each(|event| apply(&mut flow, event));
            flow.shown()
        };
        prop_assert_eq!(run(), run());
    }

    #[test]
    fn v1_with_and_without_the_exit_differ_only_once_delay_has_ended_initial(
        deliveries in prop::collection::vec(1_000..200_000u64, 1..40),
    ) {
        // A path without any delay: the two variants are the same controller.
        let run = |version| {
            let mut flow = Flow::of_version(version);
            for delivered in &deliveries {
                flow.rtts(1, 80);
                flow.end_era(*delivered, 80);
                flow.work_for(80);
            }
            flow.shown()
        };
        prop_assert_eq!(run(VERSIONS[0]), run(VERSIONS[1]));
    }
}

proptest! {
    #[test]
    fn every_variant_keeps_window_pacing_and_quantum_finite_and_above_their_minimum(
        operations in prop::collection::vec(any_operation(), 1..200),
        variant in 0..VARIANTS.len(),
    ) {
        let name = format!("c4:variant={}", VARIANTS[variant].name);
        let controller = registry().read(&name).unwrap().build(&INIT);
        keeps_its_bounds(&mut fake_transport::Flow::of(controller, &INIT), &name, &operations)?;
    }
}

#[test]
fn this_crate_has_the_variants_that_c4_names_as_those_of_another() {
    let c4 = ENTRIES.iter().find(|entry| entry.name == "c4").unwrap();
    let mut kinds = c4.options.iter().map(|option| option.kind);
    let elsewhere = kinds.find_map(|kind| match kind {
        OptionKind::Variant { elsewhere, .. } => Some(elsewhere),
        _ => None,
    });
    let here: Vec<_> = VARIANTS.iter().map(|variant| variant.name).collect();
    assert_eq!(Some(&here[..]), elsewhere);
}

#[test]
fn bursts_of_paced_states_hold_two_packets_at_least() {
    for version in VERSIONS {
        let flow = Flow::cruising(version, 6000, 80);
        assert!(flow.control().quantum >= MTU * 2);
    }
}
