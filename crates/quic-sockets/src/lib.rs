//! The QUIC stack of `thalweg-quic` over UDP sockets: a server, a client, and their transfers.
//!
//! # Model
//! One thread and one socket each: an event loop that receives, runs connections and applications, sends, and
//! waits with `poll`. One system call handles many datagrams if the kernel supports it. Controllers come
//! from scenarios, behind the same adapter, with the system clock.
//!
//! [`Server::bind`] and [`Server::serve`] answer requests of [`get`]: a download, an upload or a media call
//! (`request.rs`). The fingerprint of its certificate identifies a server (`credentials.rs`).
//!
//! # Defence
//! Half-open connections and connections are limited; beyond a number of half-open ones a client must prove its
//! address first (Retry, RFC 9000 section 8.1.2). Before that the stack sends at most three times what it has
//! received, with or without a connection. Handshake, request and silence
//! have timeouts. The windows bound the memory that a peer can use.
//!
//! # Limits
//! One request for each connection. No migration, no 0-RTT. Unix.

mod client;
mod credentials;
mod media;
mod peer;
mod report;
mod request;
mod samples;
mod server;
mod service;
mod transfer;
mod udp;

pub use client::{GetError, Order, RequestHandle, Summary, get};
pub use credentials::{Credentials, CredentialsError, client_crypto};
pub use media::{CallReport, TrackReport};
pub use report::SenderReport;
pub use request::{LONGEST_CALL, Workload};
pub use server::{Limits, ServeError, Served, Server, ServerConfig, Totals};
pub use thalweg_quic::{Fingerprint, FingerprintError, SERVER_NAME};
