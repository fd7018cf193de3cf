//! Invariants for any acknowledgements and any share of marks.

use crate::fake_transport::{Flow, MTU};
use proptest::prelude::*;
use thalweg_units::Duration;

proptest! {
    #[test]
    fn marks_alone_take_at_most_half_in_a_round_trip_and_leave_a_sixteenth_of_a_packet(
        rounds in prop::collection::vec((1u64..200, 0u64..=10), 1..150),
        name in prop::sample::select(&["prague", "prague:rtt_transition=0", "prague:rtt_independence=off"][..]),
    ) {
        let mtu = MTU.as_u64() as f64;
        let mut flow = Flow::new(name);
        for (rtt, tenths) in rounds {
            let before = flow.variable("fractional_window").unwrap();
            flow.fill_window();
            flow.advance(Duration::from_millis(rtt));
            let sent = flow.in_flight();
            let sent = &sent[..sent.len().min(200)];
            flow.ack_marked(sent, sent.len() as u64 * tenths / 10);
            let after = flow.variable("fractional_window").unwrap();
            prop_assert!(after >= (before / 2.0 - 1e-6).max(mtu / 16.0), "{before} {after}");
            prop_assert!(flow.variable("alpha").is_none_or(|alpha| (0.0..=1.0).contains(&alpha)));
            if flow.control().startup_done {
                // A packet for each window; this flow does not pace, so it sends two at least.
                let growth = mtu * (2.0 * mtu / before.max(mtu)).max(1.0);
                prop_assert!(after <= before + growth + 1e-6, "{before} {after}");
            }
            // The window of the transport is the fraction, in whole bytes, or two packets.
            prop_assert_eq!(flow.window().as_u64(), (after as u64).max(2 * MTU.as_u64()));
        }
    }

    #[test]
    fn a_round_trip_with_marks_and_losses_takes_at_most_the_larger_of_the_two(
        warm_up in 1usize..6,
        events in prop::collection::vec(any::<bool>(), 1..8),
        name in prop::sample::select(&["prague", "prague:loss=cubic"][..]),
    ) {
        let mut flow = Flow::new(name);
        for _ in 0..warm_up {
            flow.round(Duration::from_millis(40));
        }
        flow.fill_window();
        let before = flow.variable("fractional_window").unwrap();
        let sent = flow.in_flight();
        for (loss, packet) in events.iter().zip(&sent) {
            if *loss {
                flow.lose(*packet);
            } else {
                flow.mark_ce(*packet);
            }
        }
        // Alpha of one halves; a loss takes no more than that.
        prop_assert!(flow.variable("fractional_window").unwrap() >= before / 2.0 - 1e-6);
        let lost_first = events[0] && name == "prague:loss=cubic";
        let expected = if lost_first { before * 0.7 } else { before / 2.0 };
        prop_assert!((flow.variable("fractional_window").unwrap() - expected).abs() < 1e-6);
    }
}
