//! What a server is given, and what it reports.

use crate::net::credentials::{Credentials, CredentialsError};
use crate::net::report::SenderReport;
use crate::net::request::Workload;
use std::io;
use std::net::SocketAddr;
use thalweg_control::ControllerSpec;
use thalweg_transport::SenderTrace;
use thalweg_units::{Bytes, Duration};

/// What a server allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time, half-open ones included. Each can make the server hold 16 MiB.
    pub connections: usize,
    /// Connections whose handshake is not complete; others are not answered meanwhile.
    pub half_open: usize,
    /// Half-open connections beyond which clients must prove their address.
    pub retry_above: usize,
    /// Time for a handshake, and then for the request.
    pub patience: Duration,
    /// Silence after which a connection is forgotten.
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

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Where to listen; port 0 is any free port.
    pub address: SocketAddr,
    /// Who it is.
    pub credentials: Credentials,
    /// The controller of its senders.
    pub controller: ControllerSpec,
    /// Whether a request may name another.
    pub clients_choose: bool,
    /// What it allows.
    pub limits: Limits,
    /// Whether to record the time series of each connection.
    pub trace: bool,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be had.
    #[error("cannot listen at {0}: {1}")]
    Bind(SocketAddr, io::Error),
    /// The certificate cannot be used.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The system refuses to wait for the socket.
    #[error("the socket has failed: {0}")]
    Socket(#[from] io::Error),
}

/// What a server has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Connections whose handshake was begun.
    pub accepted: u64,
    /// Those that were served to their end.
    pub completed: u64,
    /// Those that asked for something and did not get all of it.
    pub failed: u64,
    /// Those that never asked for anything.
    pub abandoned: u64,
    /// Clients that were told to prove their address.
    pub retried: u64,
    /// Clients that were turned away, with or without an answer.
    pub refused: u64,
}

/// A connection that is over.
#[derive(Debug)]
pub struct Served {
    /// Of the client.
    pub address: SocketAddr,
    /// What it asked for.
    pub workload: Workload,
    /// Bytes of data that moved.
    pub moved: Bytes,
    /// From the request to the answer, or to the end without one.
    pub elapsed: Duration,
    /// What went wrong.
    pub error: Option<String>,
    /// What the sender of the server measured.
    pub sender: SenderReport,
    /// Its time series, if they were asked for.
    pub samples: Option<SenderTrace>,
}
