//! The senders' part of a trace, with a bounded number of packet events.

use crate::sys::tcp::TcpInfo;
use serde::{Deserialize, Serialize};
use thalweg_sim::{RealConnection, SenderRecorder, SenderRow, SenderTrace, Senders};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// States of the kernel's congestion control (TCP_CA_Open and so on, linux/tcp.h).
const STATES: [&str; 5] = ["open", "disorder", "window reduced", "recovery", "loss"];

/// Most packet events to keep: 40 MB, two for most packets; the limit of a client or server of
/// `thalweg_quic_sockets`.
const MOST_PACKETS: usize = 1_000_000;

/// Samples of the senders of all connections.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct FlowTrace {
    pub(crate) senders: SenderTrace,
    /// Packet events not kept.
    cut_packets: u64,
}

/// Makes the trace while connections are at work.
#[derive(Debug, Default)]
pub(crate) struct FlowRecorder {
    senders: SenderRecorder,
    /// The places of calls whose media both ends send.
    places: Senders,
    cut_packets: u64,
}

impl FlowTrace {
    /// What it lacks, in words, if it became too long.
    pub(crate) fn cut(&self) -> Option<String> {
        let missing = self.cut_packets;
        (missing > 0)
            .then(|| format!("it has the first {MOST_PACKETS} packet events and lacks {missing}"))
    }
}

impl FlowRecorder {
    /// One whose senders have these places among the names of the trace.
    pub(crate) fn new(places: Senders) -> Self {
        FlowRecorder {
            places,
            ..FlowRecorder::default()
        }
    }

    /// Samples a connection of the kernel's TCP that transfers this much data.
    pub(crate) fn take_tcp(&mut self, now: Instant, number: usize, info: &TcpInfo, data: Bytes) {
        let segment = Bytes::new(u64::from(info.snd_mss));
        // As tcp_packets_in_flight() of the kernel.
        let out = info.unacked.saturating_sub(info.sacked + info.lost) + info.retrans;
        let paced = info.pacing_rate != u64::MAX;
        let state = self.senders.observe(now, number, |out| {
            out.state(STATES.get(usize::from(info.ca_state)).unwrap_or(&""));
            // "No threshold yet" is the largest value of a signed number.
            if info.snd_ssthresh < i32::MAX as u32 {
                let threshold = segment * u64::from(info.snd_ssthresh);
                out.variable("ssthresh", threshold.as_u64() as f64);
            }
        });
        self.senders.trace.samples.push(SenderRow {
            time: now,
            flow: number,
            event: "timer",
            window: segment * u64::from(info.snd_cwnd),
            in_flight: Some(segment * u64::from(out)),
            smoothed_rtt: Some(Duration::from_micros(u64::from(info.rtt))),
            latest_rtt: None,
            pacing: paced.then(|| Rate::from_bytes_per_sec(info.pacing_rate)),
            delivery_rate: Rate::from_bytes_per_sec(info.delivery_rate),
            // The kernel counts the start and the end of the stream as a byte each (RFC 9293 section 3.4).
            delivered: Bytes::new(info.bytes_acked).min(data),
            state,
            limited: "",
        });
    }

    /// Samples a connection of the QUIC stack.
    pub(crate) fn take_quic(
        &mut self,
        now: Instant,
        number: usize,
        events: [&'static str; 2],
        connection: &mut RealConnection,
    ) {
        let recorder = (&self.places, &mut self.senders);
        connection.sample(now, number, events, recorder);
        self.keep_few();
    }

    /// Drops packet events beyond the limit.
    fn keep_few(&mut self) {
        let packets = &mut self.senders.trace.packets;
        self.cut_packets += packets.len().saturating_sub(MOST_PACKETS) as u64;
        packets.truncate(MOST_PACKETS);
    }

    /// The trace, ordered by time.
    pub(crate) fn close(self) -> FlowTrace {
        let mut senders = self.senders.trace;
        senders.sort();
        FlowTrace {
            senders,
            cut_packets: self.cut_packets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_sim::{PacketEvent, PacketFate};

    #[test]
    fn the_threshold_of_the_kernel_is_kept_where_it_changes() {
        let mut recorder = FlowRecorder::default();
        let mut info = TcpInfo::default();
        info.snd_mss = 1000;
        // None yet, then 10 segments twice, then 5.
        for (ms, threshold) in [(0, i32::MAX as u32), (5, 10), (10, 10), (15, 5)] {
            info.snd_ssthresh = threshold;
            let now = Instant::START + Duration::from_millis(ms);
            recorder.take_tcp(now, 0, &info, Bytes::ZERO);
        }
        let senders = recorder.close().senders;
        assert_eq!(senders.samples.len(), 4);
        let values: Vec<f64> = senders.variables.iter().map(|row| row.value).collect();
        assert_eq!(values, [10_000.0, 5_000.0]);
    }

    #[test]
    fn packet_events_are_kept_up_to_a_million_and_the_rest_is_reported() {
        let event = |number: u64| PacketEvent {
            time: Instant::from_nanos(number),
            fate: PacketFate::Sent,
            first: number,
            last: number,
            size: 1200,
        };
        let most = MOST_PACKETS as u64;
        let trace_of = |count: u64| {
            let mut recorder = FlowRecorder::default();
            for number in 0..count {
                recorder.senders.trace.packets.push((0, event(number)));
                recorder.keep_few();
            }
            recorder.close()
        };
        assert_eq!(trace_of(most).cut(), None);
        let trace = trace_of(most + 3);
        assert_eq!(trace.senders.packets.len(), MOST_PACKETS);
        let last = trace.senders.packets.last();
        assert_eq!(last.map(|(_, event)| event.last), Some(most - 1));
        let told = trace.cut().expect("what is missing");
        assert!(told.contains("first 1000000 packet events"), "{told}");
        assert!(told.contains("lacks 3"), "{told}");
    }
}
