//! A real QUIC stack (`noq-proto`, sans-I/O) as an endpoint of the simulator.
//!
//! # Model
//! [`QuicEndpoint`] has the calls of `thalweg_transport::Endpoint`: what is modelled there is real here. Packets
//! are bytes, encrypted with the keys of a TLS handshake; acknowledgements, loss recovery, pacing, streams,
//! datagrams, path MTU discovery and ECN validation come from the stack. The controller is one of
//! `thalweg-control`, behind the stack's `Controller` trait (`adapter.rs`), or one of the stack's
//! own (`steering.rs`). Delivery rates and application limits, which the stack does not report, are derived from
//! what it does report (`thalweg_transport::StackFlow`).
//!
//! # Determinism
//! Sizes and times of all packets depend only on the seed. The stack's random numbers, connection IDs and
//! reset keys come from the generator of the trial, virtual time from `clock.rs`; validation tokens and session
//! tickets are off, and the handshake has one length (`identity.rs`). Contents differ from run to run,
//! since TLS draws its keys from the system.
//!
//! # Limits
//! No 0-RTT, no migration. Flow-control windows are fixed and wide. ACK_FREQUENCY requests one fixed threshold.
//! The stack's own controllers block when a full packet would reach the window; ours may fill it, as RFC 9002 section 7
//! allows. A connection that is closed during its handshake closes when that is confirmed, since the stack builds an
//! invalid CONNECTION_CLOSE packet before (see [`QuicEndpoint::close`]). Virtual instants are rounded to the
//! resolution of the system's instants (a nanosecond on Linux).

/// Ranges of packet numbers that a receiver keeps: `MAX_ACK_BLOCKS` of noq-proto 1.3, `connection/spaces.rs`.
pub const ACK_RANGES: usize = 64;

mod adapter;
mod clock;
mod endpoint;
mod header;
mod identity;
mod pinned;
mod seeded;
mod steering;
mod streams;
mod unacked;

pub use adapter::SharedSender;
pub use endpoint::{Datagram, QuicEndpoint, Train};
pub use header::LEAST_STREAM_OVERHEAD;
pub use identity::{SERVER_NAME, is_available};
pub use pinned::{Fingerprint, FingerprintError, Pinned};
pub use steering::{StackController, Steering};
pub use streams::zeros;
