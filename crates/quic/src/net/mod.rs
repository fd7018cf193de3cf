//! The stack over UDP sockets: a server, a client, and what they move.
//!
//! # Model
//! One thread and one socket each: an event loop that receives, lets connections and applications act, sends, and
//! waits with `poll`. Many datagrams cross the border to the kernel at once where it can do that. Controllers are
//! those of scenarios, bound by the same adapter, with the clock of the system.
//!
//! [`Server::bind`] and [`Server::serve`] answer requests of [`get`]: a download, an upload or a media call
//! (`request.rs`). A server is known by the fingerprint of its certificate (`credentials.rs`, `pinned.rs`).
//!
//! # Defence
//! Half-open connections and connections are limited; beyond a number of half-open ones a client must prove its
//! address first (Retry, RFC 9000 section 8.1.2). Before that the stack sends at most three times what it has
//! received, and what it sends without a connection is held to the same. A handshake, a request and a silence
//! have their times. What a peer can make the server hold is bounded by its windows.
//!
//! # Limits
//! One request for each connection. No migration, no 0-RTT. Unix.

mod client;
mod credentials;
pub mod hostile;
mod media;
mod peer;
mod report;
mod request;
mod samples;
mod server;
mod service;
mod transfer;
mod udp;

pub use crate::pinned::{Fingerprint, FingerprintError};
pub use client::{GetError, Order, Progress, Summary, get};
pub use credentials::{Credentials, CredentialsError};
pub use media::{CallReport, TrackReport};
pub use report::SenderReport;
pub use request::{LONGEST_CALL, Workload};
pub use server::{Limits, ServeError, Served, Server, ServerConfig, Totals};
