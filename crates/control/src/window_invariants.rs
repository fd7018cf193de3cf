//! Invariants of every controller, whatever happens to its packets.

use crate::Registry;
use crate::fake_transport::Flow;
use crate::fake_transport::any_operation::{
    Operation, any_controller, any_operation, apply, keeps_its_bounds, keeps_two_packets,
};
use proptest::prelude::*;

const CONTROLLERS: [&str; 11] = [
    "reno",
    "reno:start=hystart",
    "cubic",
    "cubic:start=classic,fast_convergence=off",
    "prague",
    "prague:rtt_transition=0,loss=cubic,hystart=on",
    "prague:undo=on,classic_fallback=on,hystart=on",
    "cbr",
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
    Delivery(u64, u64),
}

/// Numbers of all sizes below 2 to the power of `bits`.
fn magnitude(bits: u32) -> impl Strategy<Value = u64> {
    (0..bits).prop_flat_map(|n| 0..=(1u64 << n))
}

/// Any controller of the registry with any of its options, each at any of its values, bounds first.
fn any_controller() -> impl Strategy<Value = String> {
    let choices = prop::collection::vec(any::<(usize, usize)>(), 0..6);
    (0..ENTRIES.len(), choices).prop_map(|(entry, choices)| {
        let entry = &ENTRIES[entry];
        let mut values = BTreeMap::new();
        for (option, value) in choices {
            let option = &entry.options[option % entry.options.len()];
            let pick = |texts: &[&str]| texts[value % texts.len()].to_owned();
            let text = match option.kind {
                OptionKind::Choice(words) => pick(words),
                OptionKind::Flag => pick(&["on", "off"]),
                OptionKind::Number(low, high) => {
                    [low, high, (low + high) / 2.0][value % 3].to_string()
                }
                OptionKind::Rate => pick(&["1 bps", "5 Mbps", "100 Gbps"]),
                OptionKind::Duration => pick(&["0 s", "1 ns", "1 ms", "1 s", "1 h"]),
            };
            values.insert(option.name, text);
        }
        let options: Vec<String> = values.iter().map(|(k, v)| format!("{k}={v}")).collect();
        format!("{}:{}", entry.name, options.join(","))
    })
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
        2 => (magnitude(40), magnitude(34)).prop_map(|(rate, span)| Delivery(rate, span)),
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
        Operation::Delivery(rate, span) => {
            let (rate, interval) = (
                Rate::from_bits_per_sec(rate),
                Duration::from_nanos(span + 1),
            );
            flow.path.delivery_rate = rate;
            flow.rate = Some(RateSample {
                delivered: rate.bytes_in(interval),
                interval,
                rate,
                app_limited: flow.app_limited,
            });
        }
        Operation::Mtu(mtu) => flow.path.mtu = flow.path.mtu.max(Bytes::new(mtu)),
    }
}

/// A controller sees a larger packet size at the next event, so the bound is the size at the start.
fn check(flow: &Flow) -> Result<(), TestCaseError> {
    let control = flow.control();
    prop_assert!(control.window >= MTU * 2, "{control:?}");
    prop_assert!(control.window < Bytes::new(1 << 60), "{control:?}");
    prop_assert!(control.pacing != Some(Rate::ZERO));
    prop_assert!(control.quantum >= MTU * 2, "{control:?}");
    Ok(())
}

/// Packets that a document lets the window shrink to: two (RFC 9002 section 7.2; C4: "Setting pacing rate,
/// congestion window and quantum"), but one after a timeout in BBR (draft-ietf-ccwg-bbr-06 section 5.6.4.4,
/// draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.3.3).
fn least_packets(controller: &str) -> u64 {
    if controller.starts_with("bbr") { 1 } else { 2 }
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
        controller in prop::sample::select(&CONTROLLERS[..]),
    ) {
        keeps_two_packets(&mut Flow::new(controller), &operations)?;
    }

    #[test]
    fn the_window_of_the_rfcs_never_grows_on_a_loss_or_a_mark(
        operations in prop::collection::vec(any_operation(), 1..200),
        controller in prop::sample::select(&["reno", "reno:start=hystart", "cubic", "prague", "prague:loss=cubic", "prague:undo=on,classic_fallback=on"][..]),
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
