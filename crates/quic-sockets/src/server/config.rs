//! Configuration and reports of a server.

use crate::credentials::{Credentials, CredentialsError};
use crate::report::SenderReport;
use crate::request::Workload;
use std::io;
use std::net::SocketAddr;
use thalweg_control::{ControllerSpec, Registry};
use thalweg_transport::SenderTrace;
use thalweg_units::{Bytes, Duration};

/// Limits of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Concurrent connections, including half-open ones. Each can use 16 MiB of memory.
    pub connections: usize,
    /// Connections whose handshake is not complete; at this number new ones get no answer.
    pub half_open: usize,
    /// Half-open connections beyond which clients get a Retry.
    pub retry_above: usize,
    /// Time for a handshake, and then for the request.
    pub patience: Duration,
    /// Idle timeout of a connection.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections: 64,
            half_open: 32,
            retry_above: 8,
            patience: Duration::from_secs(5),
            idle: Duration::from_secs(10),
        }
    }
}

/// Configuration of a server.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Address to listen on; port 0 is any free port.
    pub address: SocketAddr,
    /// Its certificate and key.
    pub credentials: Credentials,
    /// The controller of its senders.
    pub controller: ControllerSpec,
    /// The controllers of which a request may select another, if it may.
    pub offered: Option<Registry>,
    /// Its limits.
    pub limits: Limits,
    /// Whether to record the time series of each connection.
    pub trace: bool,
}

/// Why a server failed.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be bound.
    #[error("cannot listen at {0}: {1}")]
    Bind(SocketAddr, io::Error),
    /// The certificate cannot be used.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The system refuses to wait for the socket.
    #[error("the socket has failed: {0}")]
    Socket(#[from] io::Error),
}

/// Counters of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Connections whose handshake started.
    pub accepted: u64,
    /// Requests served completely.
    pub completed: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Connections without a request.
    pub abandoned: u64,
    /// Clients that got a Retry.
    pub retried: u64,
    /// Clients refused, with or without an answer.
    pub refused: u64,
}

/// A finished connection.
#[derive(Debug)]
pub struct Served {
    /// The address of the client.
    pub address: SocketAddr,
    /// Its request.
    pub workload: Workload,
    /// Bytes of data transferred.
    pub moved: Bytes,
    /// From the request to the answer, or to the end without one.
    pub elapsed: Duration,
    /// The error, if any.
    pub error: Option<String>,
    /// Statistics of the server's sender.
    pub sender: SenderReport,
    /// Its time series, if requested.
    pub samples: Option<SenderTrace>,
}
