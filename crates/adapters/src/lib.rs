//! Thalweg's controllers in other QUIC stacks: any controller of the registry behind the `Controller` traits of
//! quinn (feature `quinn`) and noq (feature `noq`).
//!
//! ```
//! # #[cfg(feature = "quinn")] {
//! use std::sync::Arc;
//! use thalweg_adapters::Factory;
//!
//! let factory: Factory = "c4".parse().expect("a controller of the registry");
//! let mut transport = quinn_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(factory));
//! # }
//! ```
//!
//! # Model
//! A stack tells its controller that packets left, arrived or were lost, and asks for a window. What our
//! controllers need in addition (delivery rates, RTT samples, bytes in flight, what was delivered since a packet left)
//! is measured from those reports, with the code of Thalweg's own endpoints (`bridge.rs`).
//!
//! # Limits
//! - quinn takes a window and nothing else: it paces at 5/4 of a window for each smoothed RTT, whatever rate the
//!   controller asks for, and names no lost packet; the oldest open ones are taken for them. noq takes the pacing
//!   rate and names each lost packet.
//! - Neither says how many CE marks came: one is counted for each report. Both send ECT(0) only.
//! - RTT samples include the delay of acknowledgements, which neither passes on.
//! - Packets of the handshake and packets that carry only acknowledgements are not distinguished from data when they
//!   leave; those that are never acknowledged are forgotten after two round trips.
//! - A new path gets a fresh controller (RFC 9000 section 9.4).

mod bridge;
#[cfg(feature = "noq")]
mod noq;
#[cfg(feature = "quinn")]
mod quinn;

pub use bridge::Factory;
