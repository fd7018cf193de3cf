//! Any sequence of events, consistent with one another or not, for properties that hold whatever a transport reports.

use super::Flow;
use crate::Init;
use crate::event::{
    Ack, Arrival, EcnCounts, Lost, RateSample, RttSample, Sent, Snapshot, SpuriousLoss, Timeout,
};
use proptest::prelude::*;
use thalweg_units::{Bytes, Duration, Instant, Rate};

const MTU: Bytes = Bytes::new(1_200);

/// What the events are reported to: a flow of packets of 1200 bytes.
pub const INIT: Init = Init {
    now: Instant::START,
    mtu: MTU,
    initial_window: Bytes::new(12_000),
    media: None,
};

/// One event: its kind, the time since the last, and two numbers that size what it reports.
pub type Step = (u8, u64, u64, u64);

/// Reports the events and holds what the controller decides and shows after each: usable by a transport, and numbers.
///
/// # Errors
/// Which decision no transport could use.
pub fn stays_usable(flow: &mut Flow, steps: &[Step]) -> Result<(), TestCaseError> {
    for &(kind, nanos, a, b) in steps {
        flow.advance(Duration::from_nanos(nanos));
        let (now, path) = (flow.now, &mut flow.path);
        path.next_packet += a % 5;
        path.bytes_in_flight = Bytes::new(b);
        path.app_limited = a % 3 == 0;
        let snapshot = Snapshot {
            sent: now - Duration::from_nanos(b),
            in_flight_at_send: Bytes::new(a),
            delivered_at_send: Bytes::new(b.min(path.delivered.as_u64())),
            lost_at_send: Bytes::ZERO,
            delivered_since_sent: Bytes::new(a),
            lost_since_sent: Bytes::new(b),
            app_limited: b % 2 == 0,
            window_limited: b % 3 == 0,
        };
        let packet = b % (path.next_packet + 1);
        let rate = Rate::over(Bytes::new(a), Duration::from_nanos(b));
        path.delivery_rate = rate;
        path.peak_rate = path.peak_rate.max(rate);
        match kind % 11 {
            0 => {
                let prior_in_flight = Bytes::new(b);
                let was_idle = b == 0;
                let event = Sent {
                    packet: path.next_packet,
                    size: MTU,
                    prior_in_flight,
                    was_idle,
                };
                flow.call(|controller, cx| controller.on_sent(&event, cx));
            }
            1 => {
                let size = Bytes::new(a);
                let persistent_congestion = a % 16 == 0;
                let event = Lost {
                    packet,
                    size,
                    snapshot,
                    persistent_congestion,
                };
                flow.call(|controller, cx| controller.on_lost(&event, cx));
            }
            2 => {
                let count = 1 + (a % 4) as u32;
                let event = Timeout {
                    count,
                    packet,
                    snapshot,
                };
                flow.call(|controller, cx| controller.on_timeout(&event, cx));
            }
            3 => {
                let (sent, timeout_only) = (snapshot.sent, a % 2 == 0);
                let event = SpuriousLoss {
                    packet,
                    size: MTU,
                    sent,
                    timeout_only,
                };
                flow.call(|controller, cx| controller.on_spurious_loss(&event, cx));
            }
            4 => {
                let event = EcnCounts {
                    ect0: a,
                    ect1: 0,
                    ce: b,
                    largest_acked: packet,
                };
                flow.call(|controller, cx| controller.on_ecn(&event, cx));
            }
            5 => {
                let rtt = Duration::from_nanos(b.max(1));
                path.latest_rtt = rtt;
                path.smoothed_rtt = rtt;
                path.min_rtt = if path.has_rtt() {
                    path.min_rtt.min(rtt)
                } else {
                    rtt
                };
                flow.call(|controller, cx| controller.on_rtt(&RttSample { rtt, raw: rtt }, cx));
            }
            6 => flow.call(|controller, cx| controller.on_idle_restart(cx)),
            7 => flow.report_seed(Bytes::new(a)),
            8 => {
                let event = Arrival {
                    packet,
                    size: Bytes::new(a),
                    sent: snapshot.sent,
                    arrived: now - Duration::from_nanos(a / 2),
                };
                flow.call(|controller, cx| controller.on_arrival(&event, cx));
            }
            _ => {
                path.delivered += Bytes::new(a);
                path.largest_acked = Some(packet);
                let (delivered, interval) = (Bytes::new(a), Duration::from_nanos(b));
                let app_limited = snapshot.app_limited;
                let event = Ack {
                    largest: packet,
                    newly_acked: Bytes::new(a),
                    newly_acked_packets: 1,
                    newly_lost: Bytes::new(b),
                    lost_ranges: (a % 9) as u32,
                    rtt: Some(now - snapshot.sent),
                    snapshot,
                    rate: (b % 5 != 0).then_some(RateSample {
                        delivered,
                        interval,
                        rate,
                        app_limited,
                    }),
                    prior_in_flight: Bytes::new(b),
                };
                flow.call(|controller, cx| controller.on_ack(&event, cx));
                prop_assert!(flow.control().window >= MTU * 2);
            }
        }
        let control = flow.control();
        prop_assert!(control.window >= MTU, "{control:?}");
        prop_assert!(control.quantum >= MTU, "{control:?}");
        prop_assert!(
            control.pacing.is_none_or(|rate| !rate.is_zero()),
            "{control:?}"
        );
        let shown = flow.shown();
        prop_assert!(
            shown.variables.iter().all(|(_, value)| !value.is_nan()),
            "{shown}"
        );
    }
    Ok(())
}

/// Any events.
pub fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((any::<u8>(), quantity(), quantity(), quantity()), 1..200)
}

/// Sizes and times of ordinary paths, sometimes extreme ones.
fn quantity() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0u64..10_000_000, 2 => 0u64..10_000_000_000, 1 => any::<u64>()]
}
