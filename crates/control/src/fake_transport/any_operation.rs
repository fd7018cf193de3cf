//! Anything that may happen to a flow and its packets, for properties that hold whatever happens.

use super::{Flow, MTU};
use crate::event::RateSample;
use crate::{OptionKind, Registry};
use proptest::prelude::*;
use std::collections::BTreeMap;
use thalweg_units::{Bytes, Duration, Rate};

/// Something that happens to a flow. Indices pick a packet in flight, or sent.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Sends until the window is full.
    Fill,
    /// Sends one packet.
    Send,
    /// So many nanoseconds pass.
    Advance(u64),
    /// A packet is acknowledged.
    Ack(usize),
    /// All packets in flight are acknowledged.
    AckAll,
    /// A packet is lost.
    Lose(usize),
    /// A packet is lost in persistent congestion.
    LosePersistently(usize),
    /// A probe timeout fires, so many in a row.
    Timeout(u32),
    /// A loss proves spurious.
    Spurious(u64),
    /// A packet is marked.
    MarkCe(u64),
    /// The application limits the sender from now on, or not.
    AppLimited(bool),
    /// The sender has nothing to send.
    Idle,
    /// It sends again.
    IdleRestart,
    /// An earlier connection had this window.
    Seed(u64),
    /// This was the largest delivery rate.
    PeakRate(u64),
    /// Packets may be as large as this.
    Mtu(u64),
    /// The rate sample of later ACKs: rate and interval.
    Delivery(u64, u64),
}

/// Numbers of all sizes below 2 to the power of `bits`.
fn magnitude(bits: u32) -> impl Strategy<Value = u64> {
    (0..bits).prop_flat_map(|n| 0..=(1u64 << n))
}

/// Any of them.
pub fn any_operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    prop_oneof![
        4 => Just(Fill),
        2 => Just(Send),
        4 => (0u64..5_000_000_000).prop_map(Advance),
        4 => (0usize..100).prop_map(Ack),
        4 => Just(AckAll),
        2 => (0usize..100).prop_map(Lose),
        1 => (0usize..100).prop_map(LosePersistently),
        1 => (1u32..4).prop_map(Timeout),
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

/// Lets it happen.
pub fn apply(flow: &mut Flow, operation: &Operation) {
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
        Operation::Timeout(count) => flow.timeout_number(count),
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

/// Any controller of a registry with any of its options, each at any of its values, bounds first.
pub fn any_controller(registry: Registry) -> impl Strategy<Value = String> {
    let choices = prop::collection::vec(any::<(usize, usize)>(), 0..6);
    (0..registry.entries().len(), choices).prop_map(move |(entry, choices)| {
        let entry = &registry.entries()[entry];
        let mut values = BTreeMap::new();
        for (option, value) in choices {
            let option = &entry.options[option % entry.options.len()];
            let pick = |texts: &[&str]| texts[value % texts.len()].to_owned();
            let text = match option.kind {
                OptionKind::Choice(_) | OptionKind::Variant { .. } => {
                    pick(&registry.choices(entry, option))
                }
                OptionKind::Flag => pick(&["on", "off"]),
                OptionKind::Number(low, high) | OptionKind::NumberOr(_, low, high) => {
                    [low, high, (low + high) / 2.0][value % 3].to_string()
                }
                OptionKind::Rate | OptionKind::RateOr(_) => pick(&["1 bps", "5 Mbps", "100 Gbps"]),
                OptionKind::Duration => pick(&["0 s", "1 ns", "1 ms", "1 s", "1 h"]),
            };
            values.insert(option.name, text);
        }
        let options: Vec<String> = values.iter().map(|(k, v)| format!("{k}={v}")).collect();
        format!("{}:{}", entry.name, options.join(","))
    })
}

/// Packets that a document lets the window shrink to: two (RFC 9002 section 7.2; C4: "Setting pacing rate,
/// congestion window and quantum"), but one after a timeout in BBR (draft-ietf-ccwg-bbr-06 section 5.6.4.4,
/// draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.3.4), and so in mutants of BBR.
fn least_packets(controller: &str) -> u64 {
    let name = controller.split(':').next();
    if matches!(name, Some("bbr" | "bbr1" | "mutant")) {
        1
    } else {
        2
    }
}

/// Applies the operations and holds the decision after each: finite, and no less than the documents allow.
///
/// # Errors
/// Which operation left a decision that no transport could use.
pub fn keeps_its_bounds(
    flow: &mut Flow,
    controller: &str,
    operations: &[Operation],
) -> Result<(), TestCaseError> {
    for operation in operations {
        // C4 takes half its window over the rate for its max RTT: at 4 bps that is years, and the window after a jump
        // to 19 Gbps 10^18 bytes.
        if controller.starts_with("c4") && matches!(operation, Operation::Delivery(1..1_000, _)) {
            continue;
        }
        apply(flow, operation);
        let control = flow.control();
        let least = MTU * least_packets(controller);
        prop_assert!(control.window >= least, "{operation:?}: {control:?}");
        prop_assert!(
            control.window < Bytes::new(1 << 60),
            "{operation:?}: {control:?}"
        );
        prop_assert!(control.quantum >= MTU, "{operation:?}: {control:?}");
        prop_assert!(
            control.quantum < Bytes::new(1 << 60),
            "{operation:?}: {control:?}"
        );
        if let Some(pacing) = control.pacing {
            prop_assert!(!pacing.is_zero(), "{operation:?}: {control:?}");
            prop_assert!(
                pacing.as_bits_per_sec() < 1 << 60,
                "{operation:?}: {control:?}"
            );
        }
    }
    Ok(())
}

/// The same for controllers of a window, which stays at two packets or more, of the size at the start: a controller sees
/// a larger one at the next event.
///
/// # Errors
/// As [`keeps_its_bounds`].
pub fn keeps_two_packets(flow: &mut Flow, operations: &[Operation]) -> Result<(), TestCaseError> {
    for operation in operations {
        let acknowledged = !flow.in_flight().is_empty();
        apply(flow, operation);
        let control = flow.control();
        prop_assert!(control.window >= MTU * 2, "{control:?}");
        prop_assert!(control.window < Bytes::new(1 << 60), "{control:?}");
        prop_assert!(control.pacing != Some(Rate::ZERO));
        prop_assert!(control.quantum >= MTU * 2, "{control:?}");
        if matches!(operation, Operation::AckAll) && acknowledged {
            prop_assert!(flow.window() >= flow.path.mtu * 2, "{}", flow.window());
        }
    }
    Ok(())
}
