//! Constants and rules of the endpoint that a scenario may change.

use crate::Host;
use crate::ack::dishonest::AckConduct;
use crate::packet::AEAD_TAG;
use thalweg_units::{Bytes, Duration};

/// Which rules an endpoint follows where implementations differ from the RFCs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// RFC 9000 and RFC 9002: no packet exceeds the window, every second packet is acknowledged, at once if
    /// it is out of order or marked, and whole packets are counted as delivered.
    #[default]
    Rfc,
    /// The rules of picoquic (August 2026), for comparison with its results: the last packet may exceed the
    /// window, about four acknowledgements per window, not expedited by marks and reordering, and bytes
    /// are counted as delivered without AEAD tags.
    Picoquic,
}

impl Rules {
    /// Initial congestion window of a connection whose first packets are of `mtu` bytes: RFC 9002 section 7.2,
    /// or the 10 x 1536 of picoquic.
    pub fn initial_window(self, mtu: Bytes) -> Bytes {
        match self {
            Rules::Rfc => (mtu * 10).min((mtu * 2).max(Bytes::new(14_720))),
            Rules::Picoquic => Bytes::new(15_360),
        }
    }

    /// Bytes of a packet that deliveries and losses do not count.
    pub(crate) fn uncounted(self) -> u32 {
        match self {
            Rules::Rfc => 0,
            Rules::Picoquic => AEAD_TAG,
        }
    }
}

/// How an endpoint behaves. The default follows the RFCs.
#[derive(Clone, Debug, PartialEq)]
pub struct TransportConfig {
    /// Which rules it follows.
    pub rules: Rules,
    /// Initial congestion window.
    pub initial_window: Bytes,
    /// UDP payload of full packets until path MTU discovery succeeds.
    pub initial_mtu: Bytes,
    /// UDP payload that path MTU discovery probes for once, in the first flight; equal to
    /// `initial_mtu` for no discovery.
    pub max_mtu: Bytes,
    /// Whether an endpoint returns to `initial_mtu`, and probes anew, when eleven full packets are lost and none is
    /// acknowledged meanwhile, and at a probe timeout. Of picoquic.
    pub mtu_fallback: bool,
    /// Largest delay of an acknowledgement (transport parameter `max_ack_delay`, RFC 9000 section 18.2).
    pub max_ack_delay: Duration,
    /// Smallest delay that an ACK_FREQUENCY frame may request (draft-ietf-quic-ack-frequency), and, by the rules
    /// of picoquic, the delay in force until the first one arrives.
    pub min_ack_delay: Duration,
    /// Ack-eliciting packets per acknowledgement until ACK_FREQUENCY requests more
    /// (RFC 9000 section 13.2.2).
    pub ack_every: u32,
    /// Whether the sender requests an acknowledgement frequency.
    pub ack_frequency: bool,
    /// Whether packets that only acknowledge have numbers, count in flight, and need pacing credit, as in picoquic.
    pub counted_acks: bool,
    /// Connection flow-control window at the start.
    pub initial_max_data: Bytes,
    /// Stream flow-control window at the start.
    pub initial_max_stream_data: Bytes,
    /// Connection flow-control window that does not grow, instead of that at the start.
    pub receive_window: Option<Bytes>,
    /// Whether the first packet carries the first request (0-RTT).
    pub zero_rtt: bool,
    /// Congestion window remembered from an earlier connection, and the RTT it was measured with: it
    /// is offered to the controller when the first data is acknowledged, if the RTT lies within a quarter of it
    /// (careful resume).
    pub seed: Option<(Bytes, Duration)>,
    /// Whether the endpoint paces a controller that sets no pacing rate (RFC 9002 section 7.7). Without, such a controller
    /// sends what its window allows at once, as TCP does; a rate that a controller sets is part of its algorithm, and obeyed.
    pub pacing: bool,
    /// What the host does to its packets and timers. The endpoint sends in its bundles; its driver has to read as it does.
    pub host: Host,
    /// Largest lateness of a paced send, drawn uniformly for each wake-up: timers of real hosts are not
    /// exact. Zero for none. Lateness costs no capacity, since credit accumulates meanwhile.
    pub wakeup_noise: Duration,
    /// Bytes that the server's Handshake messages have beyond the usual: the lengths of signatures and connection IDs
    /// differ from connection to connection. Both ends have the same.
    pub handshake_excess: Bytes,
    /// How it reports what has arrived.
    pub ack_conduct: AckConduct,
    /// Whether it leaves packet numbers out, to find peers that acknowledge what has not arrived (RFC 9000 section 21.4).
    pub skip_packet_numbers: bool,
    /// Whether the application gets an event for every readable part of a stream, or only for its end.
    pub stream_progress: bool,
}

impl Default for TransportConfig {
    fn default() -> Self {
        TransportConfig::new(Rules::Rfc)
    }
}

impl TransportConfig {
    /// The defaults of the rules. Picoquic negotiates a `max_ack_delay` of 10 ms, requests a frequency, and reads all that
    /// has arrived; RFC 9000 section 18.2 has 25 ms.
    pub fn new(rules: Rules) -> Self {
        let asks = rules == Rules::Picoquic;
        let initial_mtu = Bytes::new(1252);
        TransportConfig {
            rules,
            initial_window: rules.initial_window(initial_mtu),
            initial_mtu,
            max_mtu: Bytes::new(1440),
            mtu_fallback: false,
            max_ack_delay: Duration::from_millis(if asks { 10 } else { 25 }),
            min_ack_delay: Duration::from_millis(1),
            ack_every: 2,
            ack_frequency: asks,
            counted_acks: false,
            initial_max_data: Bytes::new(1 << 20),
            initial_max_stream_data: Bytes::new(2 << 20),
            receive_window: None,
            zero_rtt: false,
            seed: None,
            pacing: true,
            host: if asks { Host::PICOQUIC } else { Host::IDEAL },
            wakeup_noise: Duration::ZERO,
            handshake_excess: Bytes::ZERO,
            ack_conduct: AckConduct::Honest,
            skip_packet_numbers: false,
            stream_progress: true,
        }
    }
    /// The first connection flow-control limit of a peer with the same configuration.
    pub(crate) fn first_limit(&self) -> Bytes {
        self.receive_window.unwrap_or(self.initial_max_data)
    }
}
