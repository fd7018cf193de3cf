//! Invariants of every controller, whatever happens to its packets.

use crate::Registry;
use crate::fake_transport::Flow;
use crate::fake_transport::any_operation::{
    Operation, any_controller, any_operation, apply, keeps_its_bounds, keeps_two_packets,
};
use crate::registry::ENTRIES;
use proptest::prelude::*;

/// All controllers but those whose window or bursts may be one packet, BBR after a timeout (draft-ietf-ccwg-bbr-06
/// section 5.6.4.4) and BBRv1 (draft-cardwell-iccrg-bbr-congestion-control-00 sections 4.2.2 and 4.2.3.4), and what
/// options make of some.
fn controllers() -> Vec<&'static str> {
    let entries = ENTRIES
        .iter()
        .filter(|entry| !entry.name.starts_with("bbr"));
    let mut found: Vec<_> = entries.map(|entry| entry.name).collect();
    found.extend([
        "reno:start=hystart",
        "cubic:start=classic,fast_convergence=off",
        "prague:rtt_transition=0,loss=cubic,hystart=on",
        "prague:undo=on,classic_fallback=on,hystart=on",
        "cubic:variant=cuback",
        "cubic:variant=linux",
        "cubic:variant=cuback,abe=on,rate_limited_increase=on",
        "reno:abe=on,rate_limited_increase=on",
        "screamv2:l4s=on,competing=off",
    ]);
    found
}

/// RFC 9000 section 14.3: after an acknowledged probe, packets are larger. The window after timeouts was of the size
/// before.
#[test]
fn the_window_after_timeouts_is_no_less_than_a_packet_that_has_become_larger() {
    for controller in ["bbr", "bbr1"] {
        let mut flow = Flow::new(controller);
        flow.send();
        flow.timeout_number(2);
        // BBRv3 adds one packet to what is in flight, BBRv1 does not.
        assert!(flow.window() <= flow.path.bytes_in_flight + flow.path.mtu);
        flow.path.mtu = flow.path.mtu * 3;
        flow.report_rtt();
        assert_eq!(flow.window(), flow.path.mtu, "{controller}");
    }
}

proptest! {
    #[test]
    fn every_controller_keeps_window_pacing_and_quantum_finite_and_above_their_minimum(
        operations in prop::collection::vec(any_operation(), 1..200),
        controller in any_controller(Registry::standard()),
    ) {
        keeps_its_bounds(&mut Flow::new(&controller), &controller, &operations)?;
    }

    #[test]
    fn the_window_never_falls_below_two_packets_and_pacing_never_stops(
        operations in prop::collection::vec(any_operation(), 1..200),
        controller in prop::sample::select(controllers()),
    ) {
        keeps_two_packets(&mut Flow::new(controller), &operations)?;
    }

    #[test]
    fn the_window_of_the_rfcs_never_grows_on_a_loss_or_a_mark(
        operations in prop::collection::vec(any_operation(), 1..200),
        controller in prop::sample::select(&["reno", "reno:start=hystart", "cubic", "prague", "dctcp", "ledbat-pp", "prague:loss=cubic", "prague:undo=on,classic_fallback=on"][..]),
    ) {
        let mut flow = Flow::new(controller);
        for operation in &operations {
            let before = flow.window();
            apply(&mut flow, operation);
            let reduces = matches!(
                operation,
                Operation::Lose(_) | Operation::LosePersistently(_) | Operation::MarkCe(_)
            );
            if reduces {
                // A packet size that grew meanwhile raises the minimum.
                prop_assert!(flow.window() <= before.max(flow.path.mtu * 2));
            }
        }
    }
}
