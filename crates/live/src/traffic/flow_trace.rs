//! The part of a trace that is about senders, with no more packets than there is room for.

use crate::sys::tcp::TcpInfo;
use serde::{Deserialize, Serialize};
use thalweg_sim::{RealConnection, SenderRecorder, SenderRow, VariableRow};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// States of the kernel's congestion control (TCP_CA_Open and so on, linux/tcp.h).
const STATES: [&str; 5] = ["open", "disorder", "window reduced", "recovery", "loss"];

/// Packet events beyond this are not kept: 40 MB of them, two for most packets. As many as of a client or server of
/// `thalweg_quic::net`.
const MOST_PACKETS: usize = 1_000_000;

/// What was seen of all connections, which stand for the flows of the trace.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct FlowTrace {
    pub(crate) senders: SenderRecorder,
    /// Packet events that were not kept.
    cut_packets: u64,
}

impl FlowTrace {
    /// Looks at a connection of the kernel's TCP that moves so much data.
    pub(crate) fn take_tcp(&mut self, now: Instant, number: usize, info: &TcpInfo, data: Bytes) {
        let segment = Bytes::new(u64::from(info.snd_mss));
        // What is in the network: tcp_packets_in_flight() of the kernel.
        let out = info.unacked.saturating_sub(info.sacked + info.lost) + info.retrans;
        let paced = info.pacing_rate != u64::MAX;
        self.senders.trace.samples.push(SenderRow {
            time: now,
            flow: number,
            event: "timer",
            window: segment * u64::from(info.snd_cwnd),
            in_flight: segment * u64::from(out),
            smoothed_rtt: Some(Duration::from_micros(u64::from(info.rtt))),
            latest_rtt: None,
            pacing: paced.then(|| Rate::from_bytes_per_sec(info.pacing_rate)),
            delivery_rate: Rate::from_bytes_per_sec(info.delivery_rate),
            // The kernel counts the start and the end of the stream as a byte each (RFC 9293 section 3.4).
            delivered: Bytes::new(info.bytes_acked).min(data),
            state: STATES.get(usize::from(info.ca_state)).unwrap_or(&""),
        });
        // "No threshold yet" is the largest value of a signed number.
        if info.snd_ssthresh < i32::MAX as u32 {
            self.senders.trace.variables.push(VariableRow {
                time: now,
                flow: number,
                name: "ssthresh",
                value: (segment * u64::from(info.snd_ssthresh)).as_u64() as f64,
            });
        }
    }

    /// Looks at a connection of the QUIC stack.
    pub(crate) fn take_quic(
        &mut self,
        now: Instant,
        number: usize,
        event: &'static str,
        connection: &mut RealConnection,
    ) {
        connection.sample(now, number, event, &mut self.senders);
        self.keep_few();
    }

    /// Keeps no more packet events than it may.
    fn keep_few(&mut self) {
        let packets = &mut self.senders.trace.packets;
        self.cut_packets += packets.len().saturating_sub(MOST_PACKETS) as u64;
        packets.truncate(MOST_PACKETS);
    }

    /// What is missing at its end, in words, if it became too long.
    pub(crate) fn cut(&self) -> Option<String> {
        let missing = self.cut_packets;
        (missing > 0).then(|| {
            format!("it has the first {MOST_PACKETS} packet events; the {missing} after them were not kept")
        })
    }

    /// The whole, in the order of time.
    pub(crate) fn close(mut self) -> FlowTrace {
        self.senders.trace.sort();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_sim::{PacketEvent, PacketFate};

    #[test]
    fn packet_events_are_kept_up_to_a_million_and_what_is_missing_is_told() {
        let event = |number: u64| PacketEvent {
            time: Instant::from_nanos(number),
            fate: PacketFate::Sent,
            first: number,
            last: number,
            size: 1200,
        };
        let mut trace = FlowTrace::default();
        let most = MOST_PACKETS as u64;
        trace
            .senders
            .trace
            .packets
            .extend((0..most).map(|number| (0, event(number))));
        trace.keep_few();
        assert_eq!(trace.cut(), None);
        for more in 0..3 {
            trace.senders.trace.packets.push((0, event(most + more)));
            trace.keep_few();
        }
        let trace = trace.close();
        assert_eq!(trace.senders.trace.packets.len(), MOST_PACKETS);
        assert_eq!(
            trace
                .senders
                .trace
                .packets
                .last()
                .map(|(_, event)| event.last),
            Some(most - 1)
        );
        let told = trace.cut().expect("what is missing");
        assert!(told.contains("first 1000000 packet events"), "{told}");
        assert!(told.contains("the 3 after them"), "{told}");
    }
}
