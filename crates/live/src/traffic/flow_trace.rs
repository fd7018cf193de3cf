//! The part of a trace that is about flows: samples of senders, variables of their controllers, and what became of
//! packets where the sender tells.

use crate::sys::tcp::TcpInfo;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use thalweg_sim::{PacketFate, RealConnection, Recorder};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// States of the kernel's congestion control (TCP_CA_Open and so on, linux/tcp.h).
const STATES: [&str; 5] = ["open", "disorder", "window reduced", "recovery", "loss"];

/// Packet events beyond this are not kept: 40 MB of them, two for most packets. As many as of a client or server of
/// `thalweg_quic::net`.
const MOST_PACKETS: usize = 1_000_000;

/// A word that this process knows, or that another has told.
type Word = Cow<'static, str>;

/// One look at one connection, in the columns of a trace.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct FlowSample {
    time_s: f64,
    /// Number of the connection, as below.
    flow: usize,
    event: Word,
    window_bytes: u64,
    in_flight_bytes: u64,
    smoothed_rtt_s: Option<f64>,
    latest_rtt_s: Option<f64>,
    pacing_bps: Option<f64>,
    delivery_bps: f64,
    delivered_bytes: u64,
    state: Word,
}

/// A variable of a controller that has changed.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct VariableRow {
    time_s: f64,
    flow: usize,
    variable: Word,
    value: f64,
}

/// What became of packets.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct PacketRow {
    time_s: f64,
    flow: usize,
    event: Word,
    first_packet: u64,
    last_packet: u64,
    size_bytes: u64,
}

/// What was seen of all connections.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct FlowTrace {
    flows: Vec<FlowSample>,
    variables: Vec<VariableRow>,
    packets: Vec<PacketRow>,
    /// Packet events that were not kept.
    cut_packets: u64,
    /// What the QUIC stack shows, in the terms of the simulator, until it is all over.
    #[serde(skip)]
    quic: Recorder,
}

impl FlowTrace {
    /// Looks at a connection of the kernel's TCP that moves so much data.
    pub(crate) fn take_tcp(&mut self, now: Instant, number: usize, info: &TcpInfo, data: Bytes) {
        let segment = u64::from(info.snd_mss);
        // What is in the network: tcp_packets_in_flight() of the kernel.
        let out = info.unacked.saturating_sub(info.sacked + info.lost) + info.retrans;
        let per_second = |bytes: u64| (bytes != u64::MAX).then_some(8.0 * bytes as f64);
        let state = STATES.get(usize::from(info.ca_state)).unwrap_or(&"");
        let time_s = now.as_secs_f64();
        self.flows.push(FlowSample {
            time_s,
            flow: number,
            event: "timer".into(),
            window_bytes: u64::from(info.snd_cwnd) * segment,
            in_flight_bytes: u64::from(out) * segment,
            smoothed_rtt_s: Some(f64::from(info.rtt) / 1e6),
            latest_rtt_s: None,
            pacing_bps: per_second(info.pacing_rate),
            delivery_bps: 8.0 * info.delivery_rate as f64,
            // The kernel counts the start and the end of the stream as a byte each (RFC 9293 section 3.4).
            delivered_bytes: info.bytes_acked.min(data.as_u64()),
            state: (*state).into(),
        });
        // "No threshold yet" is the largest value of a signed number.
        if info.snd_ssthresh < i32::MAX as u32 {
            self.variables.push(VariableRow {
                time_s,
                flow: number,
                variable: "ssthresh".into(),
                value: (u64::from(info.snd_ssthresh) * segment) as f64,
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
        connection.sample(now, number, event, &mut self.quic);
        self.keep_few();
    }

    /// Keeps no more packet events than it may.
    fn keep_few(&mut self) {
        let packets = &mut self.quic.trace.packets;
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
        let seconds = Duration::as_secs_f64;
        let bits = |rate: Rate| rate.as_bits_per_sec() as f64;
        let quic = std::mem::take(&mut self.quic.trace);
        self.flows
            .extend(quic.flows.into_iter().map(|row| FlowSample {
                time_s: row.time.as_secs_f64(),
                flow: row.flow,
                event: row.event.into(),
                window_bytes: row.window.as_u64(),
                in_flight_bytes: row.in_flight.as_u64(),
                smoothed_rtt_s: row.smoothed_rtt.map(seconds),
                latest_rtt_s: row.latest_rtt.map(seconds),
                pacing_bps: row.pacing.map(bits),
                delivery_bps: bits(row.delivery_rate),
                delivered_bytes: row.delivered.as_u64(),
                state: row.state.into(),
            }));
        let variables = quic.variables.into_iter();
        self.variables
            .extend(variables.map(|(time, flow, name, value)| VariableRow {
                time_s: time.as_secs_f64(),
                flow,
                variable: name.into(),
                value,
            }));
        let packets = quic.packets.into_iter();
        self.packets.extend(packets.map(|(flow, event)| {
            PacketRow {
                time_s: event.time.as_secs_f64(),
                flow,
                event: match event.fate {
                    PacketFate::Sent => "sent",
                    PacketFate::Acknowledged => "acknowledged",
                    PacketFate::Lost => "lost",
                }
                .into(),
                first_packet: event.first,
                last_packet: event.last,
                size_bytes: event.size,
            }
        }));
        self.flows.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        self.variables.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        self.packets.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_sim::PacketEvent;

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
            .quic
            .trace
            .packets
            .extend((0..most).map(|number| (0, event(number))));
        trace.keep_few();
        assert_eq!(trace.cut(), None);
        for more in 0..3 {
            trace.quic.trace.packets.push((0, event(most + more)));
            trace.keep_few();
        }
        let trace = trace.close();
        assert_eq!(trace.packets.len(), MOST_PACKETS);
        assert_eq!(
            trace.packets.last().map(|row| row.last_packet),
            Some(most - 1)
        );
        let told = trace.cut().expect("what is missing");
        assert!(told.contains("first 1000000 packet events"), "{told}");
        assert!(told.contains("the 3 after them"), "{told}");
    }
}
