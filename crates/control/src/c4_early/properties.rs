//! What holds for every variant after any sequence of events.

use super::bench::{Bench, MTU, VARIANTS};
use super::constants::WINDOW_MINIMUM;
use super::slips::Slips;
use crate::Controller;
use proptest::prelude::*;
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

/// Mostly ordinary values, now and then extreme ones.
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

fn apply(bench: &mut Bench, event: &Event) {
    match *event {
        Event::Ack { delivered, rtt_ms } => bench.ack(delivered, rtt_ms),
        Event::EraEnd { delivered, rtt_ms } => bench.end_era(delivered, rtt_ms),
        Event::Rtt { count, rtt_ms } => bench.rtts(count, rtt_ms),
        Event::Loss { gap, count } => {
            let first = bench.path.next_packet + gap;
            bench.path.next_packet = first + count;
            bench.losses(first, count);
        }
        Event::Ce => bench.ce(),
        Event::Seed(window) => bench.seed(window),
        Event::Time(ms) => bench.advance(ms),
        Event::Path {
            mtu,
            smoothed_ms,
            peak,
        } => {
            bench.path.mtu = Bytes::new(mtu);
            bench.path.smoothed_rtt = Duration::from_millis(smoothed_ms);
            bench.path.peak_rate = Rate::from_bytes_per_sec(peak);
        }
        Event::Idle => bench.path.last_idle = bench.now,
        Event::NothingAcked => bench.path.largest_acked = None,
    }
}

proptest! {
    #[test]
    fn window_pacing_and_quantum_are_never_zero(
        events in prop::collection::vec(event(), 1..200),
        variant in prop::sample::select(VARIANTS.to_vec()),
        slips in prop::sample::select(vec![Slips::AS_PUBLISHED, Slips::REPAIRED]),
    ) {
        let mut bench = Bench::new(variant);
        bench.c4.slips = slips;
        let mut smallest = MTU;
        for event in &events {
            apply(&mut bench, event);
            let control = bench.c4.control();
            // The least nominal window is 3072; a slowdown halves it. Every acknowledgement brings the
            // window up to date with the packet size.
            smallest = smallest.min(bench.path.mtu);
            let mtu = match event {
                Event::Ack { .. } | Event::EraEnd { .. } => bench.path.mtu,
                _ => smallest,
            };
            let least = (WINDOW_MINIMUM / 2).max(mtu * 2);
            prop_assert!(control.window >= least, "{event:?}: {control:?}");
            prop_assert!(bench.c4.nominal >= WINDOW_MINIMUM);
            prop_assert!(!control.pacing.unwrap().is_zero(), "{event:?}: {control:?}");
            prop_assert!(!control.quantum.is_zero(), "{event:?}: {control:?}");
        }
        prop_assert!(!bench.observed().is_empty());
    }

    #[test]
    fn the_same_events_give_the_same_decisions(
        events in prop::collection::vec(event(), 1..50),
        variant in prop::sample::select(VARIANTS.to_vec()),
    ) {
        let run = || {
            let mut bench = Bench::new(variant);
            events.iter().for_each(|event| apply(&mut bench, event));
            bench.observed()
        };
        prop_assert_eq!(run(), run());
    }

    #[test]
    fn v1_with_and_without_the_exit_differ_only_once_delay_has_ended_initial(
        deliveries in prop::collection::vec(1_000..200_000u64, 1..40),
    ) {
        // A path without any delay: the two variants are the same controller.
        let run = |variant| {
            let mut bench = Bench::new(variant);
            for delivered in &deliveries {
                bench.rtts(1, 80);
                bench.end_era(*delivered, 80);
                bench.advance(80);
            }
            bench.observed()
        };
        prop_assert_eq!(run(VARIANTS[0]), run(VARIANTS[1]));
    }
}

#[test]
fn bursts_of_paced_states_hold_two_packets_at_least() {
    for variant in VARIANTS {
        let bench = Bench::cruising(variant, 6000, 80);
        assert!(bench.c4.control().quantum >= MTU * 2);
    }
}
