//! Measurements that a transport makes once for all controllers.

use crate::event::EcnCounts;
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// Measurements of one flow, kept by its transport. Packet numbers belong to the application space.
#[derive(Clone, Debug)]
pub struct PathState {
    /// Size of a full packet (UDP payload); it may grow by path MTU discovery.
    pub mtu: Bytes,
    /// Smoothed RTT (RFC 9002 section 5.3); the initial RTT before the first sample.
    pub smoothed_rtt: Duration,
    /// RTT variation (RFC 9002 section 5.3).
    pub rtt_var: Duration,
    /// Smallest RTT sample of the connection, or since persistent congestion was last established (RFC 9002 section
    /// 5.2); zero before the first.
    pub min_rtt: Duration,
    /// Latest RTT sample as measured (RFC 9002 section 5.1); by the rules of picoquic, less the acknowledgement delay
    /// that the peer reported. Zero before the first.
    pub latest_rtt: Duration,
    /// Ack-eliciting bytes that are neither acknowledged nor declared lost.
    pub bytes_in_flight: Bytes,
    /// Bytes acknowledged so far; by the rules of picoquic, without the 16 bytes of AEAD tag that a packet carries.
    pub delivered: Bytes,
    /// Bytes declared lost so far, less those that proved spurious; same counting as `delivered`.
    pub lost: Bytes,
    /// Latest complete sample of the interval-based delivery-rate estimator (see `thalweg-transport`,
    /// `delivery_rate`); zero before the first.
    pub delivery_rate: Rate,
    /// Largest rate that any pair of acknowledgements at least a millisecond apart has shown.
    pub peak_rate: Rate,
    /// Number of the next packet.
    pub next_packet: u64,
    /// Largest acknowledged packet number.
    pub largest_acked: Option<u64>,
    /// Oldest packet that is neither acknowledged nor declared lost; if there is none, `next_packet`.
    pub lowest_unacked: u64,
    /// ECN counts of the peer, as of the latest ACK frame.
    pub ecn: EcnCounts,
    /// Whether the handshake is complete.
    pub established: bool,
    /// Whether the congestion window limited the last attempt to send.
    pub window_limited: bool,
    /// Whether samples are currently marked as application-limited.
    pub app_limited: bool,
    /// The last time at which the sender could have sent but had no data (being blocked by
    /// flow control does not count as data); before the first, the start of the connection.
    pub last_idle: Instant,
    /// Send time of the newest acknowledged packet that carried stream or datagram data; before the first, the start of
    /// the connection.
    pub newest_acked_data_sent: Instant,
}

impl PathState {
    /// State of an unknown path, of a connection that starts at `start`. The initial RTT is from RFC 9002 section 6.2.2.
    pub fn new(mtu: Bytes, start: Instant) -> Self {
        PathState {
            mtu,
            smoothed_rtt: Duration::from_millis(333),
            rtt_var: Duration::from_micros(166_500),
            min_rtt: Duration::ZERO,
            latest_rtt: Duration::ZERO,
            bytes_in_flight: Bytes::ZERO,
            delivered: Bytes::ZERO,
            lost: Bytes::ZERO,
            delivery_rate: Rate::ZERO,
            peak_rate: Rate::ZERO,
            next_packet: 0,
            largest_acked: None,
            lowest_unacked: 0,
            ecn: EcnCounts::default(),
            established: false,
            window_limited: false,
            app_limited: false,
            last_idle: start,
            newest_acked_data_sent: start,
        }
    }

    /// Whether an RTT sample was ever taken.
    pub fn has_rtt(&self) -> bool {
        !self.min_rtt.is_zero()
    }

    /// Takes an RTT sample (RFC 9002 sections 5.2 and 5.3). `ack_delay` is what the peer reported, already limited to its
    /// `max_ack_delay`; it is taken off only where that leaves a plausible sample, and not off the first. Returns the
    /// adjusted sample.
    pub fn take_rtt(&mut self, raw: Duration, ack_delay: Duration) -> Duration {
        let raw = raw.max(Duration::from_nanos(1)); // zero stands for none
        self.latest_rtt = raw;
        if !self.has_rtt() {
            (self.min_rtt, self.smoothed_rtt, self.rtt_var) = (raw, raw, raw / 2);
            return raw;
        }
        self.min_rtt = self.min_rtt.min(raw);
        let is_plausible = raw >= self.min_rtt + ack_delay;
        let adjusted = if is_plausible { raw - ack_delay } else { raw };
        self.rtt_var = (self.rtt_var * 3 + self.smoothed_rtt.abs_diff(adjusted)) / 4;
        self.smoothed_rtt = (self.smoothed_rtt * 7 + adjusted) / 8;
        adjusted
    }
}
