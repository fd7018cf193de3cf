//! Events that a transport reports to a controller, one plain struct each.

use crate::PathState;
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// A packet left.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Its packet number.
    pub packet: u64,
    /// Its size (UDP payload).
    pub size: Bytes,
    /// Bytes in flight just before it left.
    pub prior_in_flight: Bytes,
    /// Whether the sender had nothing in flight.
    pub was_idle: bool,
}

/// The state of the transport when a packet was sent, and its change since. Given for the
/// largest newly acknowledged packet and for each lost packet.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// When the packet left.
    pub sent: Instant,
    /// Bytes in flight right after it left, the packet included.
    pub in_flight_at_send: Bytes,
    /// Total delivered when it left.
    pub delivered_at_send: Bytes,
    /// Total lost when it left.
    pub lost_at_send: Bytes,
    /// Bytes delivered since the packet left; an acknowledged packet counts itself.
    pub delivered_since_sent: Bytes,
    /// Bytes declared lost since the packet left; a lost packet counts itself.
    pub lost_since_sent: Bytes,
    /// Whether the sender was application-limited when it left.
    pub app_limited: bool,
    /// Whether the sender was limited by the congestion window when it left.
    pub window_limited: bool,
}

impl Snapshot {
    /// The state when a packet leaves: `path` counts it as in flight.
    pub fn at_send(sent: Instant, path: &PathState) -> Snapshot {
        Snapshot {
            sent,
            in_flight_at_send: path.bytes_in_flight,
            delivered_at_send: path.delivered,
            lost_at_send: path.lost,
            delivered_since_sent: Bytes::ZERO,
            lost_since_sent: Bytes::ZERO,
            app_limited: path.app_limited,
            window_limited: path.window_limited,
        }
    }

    /// The same packet, compared with the path as it is later.
    pub fn compare(&self, path: &PathState) -> Snapshot {
        Snapshot {
            delivered_since_sent: path.delivered - self.delivered_at_send,
            lost_since_sent: path.lost - self.lost_at_send,
            ..self.clone()
        }
    }
}

/// A delivery-rate sample of one ACK (draft-ietf-ccwg-bbr, delivery rate sampling; formerly
/// draft-cheng-iccrg-delivery-rate-estimation section 3).
#[derive(Clone, Debug)]
pub struct RateSample {
    /// Bytes delivered over `interval`.
    pub delivered: Bytes,
    /// The longer of the send interval and the ACK interval.
    pub interval: Duration,
    /// `delivered / interval`.
    pub rate: Rate,
    /// Whether the newest packet of the sample left while the sender was application-limited.
    pub app_limited: bool,
}

/// An acknowledged packet, and when it arrived (draft-smith-quic-receive-ts section 3; for RTP, RFC 8888 section 3.1).
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Its packet number.
    pub packet: u64,
    /// Its size (UDP payload).
    pub size: Bytes,
    /// When it left.
    pub sent: Instant,
    /// When it arrived, by the clock of the receiver; only differences of such times mean anything.
    pub arrived: Instant,
}

/// One ACK frame newly acknowledged one or more packets.
#[derive(Clone, Debug)]
pub struct Ack {
    /// Largest packet number that this ACK newly acknowledges.
    pub largest: u64,
    /// Bytes newly acknowledged (by the rules of picoquic without AEAD tags), including spurious losses.
    pub newly_acked: Bytes,
    /// Number of packets newly acknowledged.
    pub newly_acked_packets: u64,
    /// Bytes declared lost since the last reported ACK, including by the timer.
    pub newly_lost: Bytes,
    /// Number of separate runs of packet numbers among them.
    pub lost_ranges: u32,
    /// RTT sample of this ACK, if it gave one.
    pub rtt: Option<Duration>,
    /// Memory of the largest newly acknowledged packet.
    pub snapshot: Snapshot,
    /// Delivery-rate sample, unless the interval was shorter than the minimum RTT.
    pub rate: Option<RateSample>,
    /// Bytes in flight before this ACK was processed.
    pub prior_in_flight: Bytes,
}

impl Ack {
    /// Whether the sender lacked data to fill its window, so that the window must not grow
    /// (RFC 9002 section 7.8): the packet was sent application-limited, and the window limited neither
    /// it nor the last attempt to send. A sender that only waits for its pacer does use its
    /// window.
    pub fn window_was_underused(&self, path: &PathState) -> bool {
        let at_send = &self.snapshot;
        at_send.app_limited && !at_send.window_limited && !path.window_limited
    }
}

/// One packet was declared lost.
#[derive(Clone, Debug)]
pub struct Lost {
    /// Its packet number.
    pub packet: u64,
    /// Its size (UDP payload).
    pub size: Bytes,
    /// Memory of the packet.
    pub snapshot: Snapshot,
    /// Whether this loss completes a period of persistent congestion (RFC 9002 section 7.6).
    pub persistent_congestion: bool,
}

/// A probe timeout fired (RFC 9002 section 6.2).
#[derive(Clone, Debug)]
pub struct Timeout {
    /// Consecutive timeouts, this one included: 1 at the first.
    pub count: u32,
    /// Oldest packet outstanding.
    pub packet: u64,
    /// Memory of that packet.
    pub snapshot: Snapshot,
}

/// A packet that was declared lost, or for which a probe timeout fired, was acknowledged.
#[derive(Clone, Debug)]
pub struct SpuriousLoss {
    /// Its packet number.
    pub packet: u64,
    /// Its size (UDP payload).
    pub size: Bytes,
    /// When it left.
    pub sent: Instant,
    /// Whether it was only timed out (the packet was never declared lost).
    pub timeout_only: bool,
}

/// ECN counters of the application space, cumulative as the peer reports them (RFC 9000 section 13.4),
/// given when the count of CE marks has grown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// Packets received with ECT(0).
    pub ect0: u64,
    /// Packets received with ECT(1).
    pub ect1: u64,
    /// Packets received with CE.
    pub ce: u64,
    /// Largest packet number acknowledged by the ACK that brought the counts.
    pub largest_acked: u64,
}

impl EcnCounts {
    /// Packets counted in all.
    pub fn total(&self) -> u64 {
        self.ect0 + self.ect1 + self.ce
    }
}

/// A new round-trip time sample.
#[derive(Clone, Debug)]
pub struct RttSample {
    /// The sample, less the acknowledgement delay where RFC 9002 section 5.3 allows it.
    pub rtt: Duration,
    /// The raw sample.
    pub raw: Duration,
}
