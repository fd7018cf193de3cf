//! Why a request failed.

use crate::credentials::CredentialsError;
use std::io;
use std::net::SocketAddr;
use thalweg_quic::Fingerprint;
use thalweg_units::{Bytes, Duration};

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum GetError {
    /// The host has no address.
    #[error("cannot resolve {0}: {1}")]
    Name(String, io::Error),
    /// There is no route to the server, or no socket.
    #[error("cannot reach {0}: {1}")]
    Unreachable(SocketAddr, io::Error),
    /// The host reports that the port is closed.
    #[error("nothing listens at {0} (UDP)")]
    NothingListens(SocketAddr),
    /// The handshake was not answered.
    #[error("no answer from {0} within {1}")]
    NoAnswer(SocketAddr, Duration),
    /// Another server.
    #[error("the server at {address} has another certificate: its fingerprint is {seen}")]
    Fingerprint {
        /// Its address.
        address: SocketAddr,
        /// Its fingerprint.
        seen: Fingerprint,
    },
    /// The server accepts no more connections.
    #[error("the server at {0} accepts no more connections")]
    Busy(SocketAddr),
    /// The server refuses the request.
    #[error("the server at {0} refuses the request: {1}")]
    Refused(SocketAddr, String),
    /// The peer is not one of our servers.
    #[error("the server at {0} does not speak our protocol: {1}")]
    Foreign(SocketAddr, String),
    /// TLS cannot be set up.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The server has stopped answering.
    #[error("the server at {0} stopped answering after {1} of data")]
    Vanished(SocketAddr, Bytes),
    /// The server has closed the connection.
    #[error("the server at {0} closed the connection after {1} of data: {2}")]
    Ended(SocketAddr, Bytes, String),
    /// Interrupted.
    #[error("interrupted after {0} of data")]
    Interrupted(Bytes),
}

impl GetError {
    /// Whether it failed before any data was transferred.
    pub fn is_refusal(&self) -> bool {
        !matches!(
            self,
            GetError::Vanished(..) | GetError::Ended(..) | GetError::Interrupted(_)
        )
    }
}
