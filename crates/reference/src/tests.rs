//! What every variant of this crate keeps, and the flows that tests of one use.

use crate::{VARIANTS, registry};
use proptest::prelude::*;
use thalweg_control::fake_transport::any_operation::{
    any_controller, any_operation, keeps_its_bounds, keeps_two_packets,
};
use thalweg_control::fake_transport::{Bottleneck, Flow, INIT, PICOQUIC, any_events};
use thalweg_control::registry::ENTRIES;
use thalweg_control::{Init, OptionKind};
use thalweg_units::Bytes;

/// A flow that starts at one second with a window of ten packets, driven by the controller of that name.
pub(crate) fn flow(name: &str) -> Flow {
    named(name, &INIT)
}

/// A flow over one bottleneck, driven by the controller of that name.
pub(crate) fn bottleneck(name: &str, mbps: u64, delay_ms: u64, buffer: Bytes) -> Bottleneck {
    Bottleneck::of(named(name, &PICOQUIC), mbps, delay_ms, buffer)
}

fn named(name: &str, init: &Init) -> Flow {
    Flow::of(registry().read(name).unwrap().build(init), init)
}

#[test]
fn this_crate_has_the_variants_that_its_controllers_name_as_those_of_another() {
    let mut named = Vec::new();
    for entry in ENTRIES {
        for option in entry.options {
            if let OptionKind::Variant {
                elsewhere, whence, ..
            } = option.kind
                && whence.contains(env!("CARGO_PKG_NAME"))
            {
                named.extend(elsewhere.iter().map(|variant| (entry.name, *variant)));
            }
        }
    }
    let here: Vec<_> = VARIANTS
        .iter()
        .map(|variant| (variant.controller, variant.name))
        .collect();
    assert_eq!(here, named);
}

const OF_A_WINDOW: [&str; 3] = [
    "reno:variant=picoquic",
    "cubic:variant=picoquic",
    "cubic:variant=dcubic",
];

proptest! {
    #[test]
    fn every_variant_keeps_window_pacing_and_quantum_finite_and_above_their_minimum(
        operations in prop::collection::vec(any_operation(), 1..200),
        controller in any_controller(registry()),
    ) {
        keeps_its_bounds(&mut flow(&controller), &controller, &operations)?;
    }

    #[test]
    fn the_window_never_falls_below_two_packets_and_pacing_never_stops(
        operations in prop::collection::vec(any_operation(), 1..200),
        controller in prop::sample::select(&OF_A_WINDOW[..]),
    ) {
        keeps_two_packets(&mut flow(controller), &operations)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_sequence_of_events_leaves_a_window_a_quantum_and_a_pacing_rate(
        steps in any_events::any_steps(),
    ) {
        for name in ["bbr:variant=picoquic", "bbr1:variant=picoquic"] {
            any_events::stays_usable(&mut named(name, &any_events::INIT), &steps)?;
        }
    }
}
