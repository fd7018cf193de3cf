//! Events of an endpoint for its application.

use crate::packet::StreamId;

/// Events of an endpoint for its application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppEvent {
    /// Streams can be used: the handshake is complete, or 0-RTT is enabled.
    Connected,
    /// More of a stream can be read in order.
    StreamData {
        /// Which stream.
        id: StreamId,
        /// Bytes readable since the start of the stream.
        contiguous: u64,
        /// Whether that is all of it.
        complete: bool,
    },
    /// The sender abandoned a stream.
    StreamReset(StreamId),
    /// The receiver stopped a stream.
    StopSending(StreamId),
    /// A datagram arrived.
    Datagram {
        /// Tag set by the sending application.
        tag: u64,
        /// Number of bytes.
        len: u32,
    },
    /// A packet with a datagram is lost, if [`report_lost_datagrams`](crate::Endpoint::report_lost_datagrams) asked.
    DatagramLost {
        /// Its tag.
        tag: u64,
        /// Number of bytes.
        len: u32,
    },
    /// A datagram that was to be sent again was dropped, since its time was over.
    DatagramExpired {
        /// Its tag.
        tag: u64,
        /// Number of bytes.
        len: u32,
    },
    /// The connection is closed on both sides.
    Closed,
}
