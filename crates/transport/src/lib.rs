//! A modelled QUIC endpoint: everything of QUIC that affects congestion control, and nothing else.
//!
//! # Model
//! Packets carry lengths instead of bytes and frames instead of their encoding. What is modelled:
//! the 1-RTT handshake (0-RTT as an option) with the anti-amplification limit, path MTU discovery in
//! one step, acknowledgements with delay and requested frequency, RTT estimation, loss detection, probe
//! timeouts, spurious losses, persistent congestion (RFC 9002), delivery-rate samples, a pacing bucket,
//! streams with priorities, datagrams, flow control with auto-tuning, ECN counts and their validation, and idle
//! restart.
//!
//! # Units
//! Sizes are UDP payloads; the caller adds IP and UDP headers.
//!
//! # Limits
//! One path, no migration. Handshake packets are retransmitted on one timer per side. A packet
//! holds at most [`MAX_FRAMES`](packet::MAX_FRAMES) frames, an ACK frame reports the gaps since the eighth last one and
//! one range before them, an acknowledgement-only packet has no packet number, and there is no idle
//! timeout: an endpoint waits for a silent peer until the trial ends.

mod ack;
mod arrivals;
mod config;
mod counters;
mod datagrams;
mod delivery_rate;
mod ecn_validation;
mod endpoint;
mod event;
mod event_rtt;
mod foreign;
mod handshake;
mod host;
mod limits;
mod pacer;
pub mod packet;
mod packet_log;
mod receiver;
mod role;
mod rtt;
mod sender;
mod sender_trace;
mod sent_packets;
mod stream;

pub use ack::dishonest::AckConduct;
pub use ack::policy::ACK_REPEATS;
pub use config::{Rules, TransportConfig};
pub use counters::Counters;
pub use endpoint::{Endpoint, Outlet};
pub use event::AppEvent;
pub use event_rtt::EventRtt;
pub use foreign::StackFlow;
pub use host::{Bundle, Host, LARGEST_BUNDLE, Reading};
pub use limits::LimitedBy;
pub use packet::{Packet, StreamId};
pub use packet_log::{PacketEvent, PacketFate, PacketLog};
pub use role::Role;
pub use sender_trace::{Sampled, SenderRecorder, SenderRow, SenderTrace, VariableRow};
