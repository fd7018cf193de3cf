//! What every window-based controller keeps to, whatever happens to its packets.

use crate::test_flow::{Flow, MTU};
use proptest::prelude::*;
use thalweg_units::{Bytes, Duration, Rate};

const CONTROLLERS: [&str; 10] = [
    "reno",
    "reno:hystart=on",
    "reno:variant=picoquic",
    "cubic",
    "cubic:hystart=off,fast_convergence=off",
    "cubic:variant=picoquic",
    "cubic:variant=dcubic",
    "prague",
    "prague:rtt_transition=0,loss=cubic,hystart=on",
    "prague:undo=on,classic_fallback=on,hystart=on",
];

/// Something that happens to a flow. Indices pick a packet in flight, or sent.
#[derive(Clone, Debug)]
enum Operation {
    Fill,
    Send,
    Advance(u64),
    Ack(usize),
    AckAll,
    Lose(usize),
    LosePersistently(usize),
    Timeout,
    Spurious(u64),
    MarkCe(u64),
    AppLimited(bool),
    Idle,
    IdleRestart,
    Seed(u64),
    PeakRate(u64),
    Mtu(u64),
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    prop_oneof![
        4 => Just(Fill),
        2 => Just(Send),
        4 => (0u64..5_000_000_000).prop_map(Advance),
        4 => (0usize..100).prop_map(Ack),
        4 => Just(AckAll),
        2 => (0usize..100).prop_map(Lose),
        1 => (0usize..100).prop_map(LosePersistently),
        1 => Just(Timeout),
        1 => (0u64..1000).prop_map(Spurious),
        1 => (0u64..1000).prop_map(MarkCe),
        1 => any::<bool>().prop_map(AppLimited),
        1 => Just(Idle),
        1 => Just(IdleRestart),
        1 => (0u64..10_000_000).prop_map(Seed),
        1 => (0u64..10_000_000_000).prop_map(PeakRate),
        1 => (1_000u64..9_000).prop_map(Mtu),
    ]
}

/// The fixture sends at most this many packets at once, however large the window.
const FLIGHT: usize = 500;

fn apply(flow: &mut Flow, operation: &Operation) {
    let pick = |flow: &Flow, i: usize| flow.in_flight().get(i).copied();
    match *operation {
        Operation::Fill => {
            let room = FLIGHT.saturating_sub(flow.in_flight().len());
            for _ in 0..room {
                if flow.path.bytes_in_flight + MTU > flow.window() {
                    break;
                }
                flow.send();
            }
            flow.path.window_limited = true;
        }
        Operation::Send => {
            flow.send();
        }
        Operation::Advance(nanos) => flow.advance(Duration::from_nanos(nanos)),
        Operation::Ack(i) => pick(flow, i)
            .into_iter()
            .for_each(|packet| flow.ack(packet)),
        Operation::AckAll => flow.ack_all(&flow.in_flight()),
        Operation::Lose(i) => pick(flow, i)
            .into_iter()
            .for_each(|packet| flow.lose(packet)),
        Operation::LosePersistently(i) => {
            pick(flow, i)
                .into_iter()
                .for_each(|packet| flow.lose_persistently(packet));
        }
        Operation::Timeout => flow.timeout(),
        Operation::Spurious(packet) => flow.spurious(packet),
        Operation::MarkCe(packet) => flow.mark_ce(packet),
        Operation::AppLimited(limited) => flow.app_limited = limited,
        Operation::Idle => {
            flow.path.last_idle = flow.now;
            flow.path.window_limited = false;
            flow.call(|controller, cx| controller.on_app_limited(cx));
        }
        Operation::IdleRestart => {
            flow.call(|controller, cx| controller.on_idle_restart(cx));
        }
        Operation::Seed(window) => {
            flow.call(|controller, cx| controller.on_seed(Bytes::new(window), cx));
        }
        Operation::PeakRate(rate) => flow.path.peak_rate = Rate::from_bits_per_sec(rate),
        Operation::Mtu(mtu) => flow.path.mtu = flow.path.mtu.max(Bytes::new(mtu)),
    }
}

/// A controller learns of a larger packet from the next event, so the bound is the size at the start.
fn check(flow: &Flow) -> Result<(), TestCaseError> {
    let control = flow.control();
    prop_assert!(control.window >= MTU * 2, "{control:?}");
    prop_assert!(control.window < Bytes::new(1 << 60), "{control:?}");
    prop_assert!(control.pacing != Some(Rate::ZERO));
    prop_assert!(control.quantum >= MTU * 2, "{control:?}");
    Ok(())
}

proptest! {
    #[test]
    fn the_window_never_falls_below_two_packets_and_pacing_never_stops(
        operations in prop::collection::vec(operation(), 1..200),
        controller in prop::sample::select(&CONTROLLERS[..]),
    ) {
        let mut flow = Flow::new(controller);
        for operation in &operations {
            let acknowledged = !flow.in_flight().is_empty();
            apply(&mut flow, operation);
            check(&flow)?;
            if matches!(operation, Operation::AckAll) && acknowledged {
                prop_assert!(flow.window() >= flow.path.mtu * 2, "{}", flow.window());
            }
        }
    }

    #[test]
    fn the_window_of_the_rfcs_never_grows_on_a_loss_or_a_mark(
        operations in prop::collection::vec(operation(), 1..200),
        controller in prop::sample::select(&["reno", "reno:hystart=on", "cubic", "prague", "prague:loss=cubic", "prague:undo=on,classic_fallback=on"][..]),
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
