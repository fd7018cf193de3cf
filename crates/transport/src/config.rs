//! Constants of the endpoint that a scenario may change.

use thalweg_units::{Bytes, Duration};

/// How an endpoint behaves. The defaults are those of the reference runs (picoquic, August 2026), so
/// that results can be compared with them; where RFC 9000 or RFC 9002 recommend another value, the
/// field says so.
#[derive(Clone, Debug, PartialEq)]
pub struct TransportConfig {
    /// Initial congestion window. RFC 9002 section 7.2 recommends ten datagrams, at most 14 720 bytes or
    /// two datagrams; the reference uses 10 x 1536.
    pub initial_window: Bytes,
    /// UDP payload of full packets until path MTU discovery succeeds.
    pub initial_mtu: Bytes,
    /// UDP payload that path MTU discovery probes for once, in the first flight; equal to
    /// `initial_mtu` for no discovery.
    pub max_mtu: Bytes,
    /// Largest delay of an acknowledgement (transport parameter `max_ack_delay`).
    pub max_ack_delay: Duration,
    /// Smallest delay that an ACK_FREQUENCY frame may ask for, and the delay in force until the first
    /// one arrives (draft-ietf-quic-ack-frequency).
    pub min_ack_delay: Duration,
    /// Ack-eliciting packets for each acknowledgement until ACK_FREQUENCY asks for more
    /// (RFC 9000 section 13.2.2).
    pub ack_every: u32,
    /// Whether the sender requests an acknowledgement frequency.
    pub ack_frequency: bool,
    /// Connection flow-control window at the start.
    pub initial_max_data: Bytes,
    /// Stream flow-control window at the start.
    pub initial_max_stream_data: Bytes,
    /// Whether the first request travels with the first packet (0-RTT).
    pub zero_rtt: bool,
    /// Congestion window remembered from an earlier connection, and the RTT it was measured with: it
    /// is offered to the controller when the first data is acknowledged, if the RTT lies within a quarter of it
    /// (careful resume).
    pub seed: Option<(Bytes, Duration)>,
    /// Largest lateness of a paced send, drawn uniformly for each wake-up: timers of real hosts are not
    /// exact. Zero for none. Lateness costs no capacity, since credit builds up meanwhile.
    pub wakeup_noise: Duration,
    /// Whether the application is told of every piece of a stream that can be read, or of its end alone.
    pub stream_progress: bool,
}

impl Default for TransportConfig {
    fn default() -> Self {
        TransportConfig {
            initial_window: Bytes::new(15_360),
            initial_mtu: Bytes::new(1252),
            max_mtu: Bytes::new(1440),
            max_ack_delay: Duration::from_millis(10),
            min_ack_delay: Duration::from_millis(1),
            ack_every: 2,
            ack_frequency: true,
            initial_max_data: Bytes::new(1 << 20),
            initial_max_stream_data: Bytes::new(2 << 20),
            zero_rtt: false,
            seed: None,
            wakeup_noise: Duration::ZERO,
            stream_progress: true,
        }
    }
}
