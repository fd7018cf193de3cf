//! Why a request came to nothing.

use crate::net::credentials::CredentialsError;
use crate::pinned::Fingerprint;
use std::io;
use std::net::SocketAddr;
use thalweg_units::{Bytes, Duration};

/// Why a request came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum GetError {
    /// The host has no address.
    #[error("{0} has no address: {1}")]
    Name(String, io::Error),
    /// No way leads to the server, or no socket.
    #[error("cannot reach {0}: {1}")]
    Unreachable(SocketAddr, io::Error),
    /// The host says that nobody is there.
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
        /// What it has.
        seen: Fingerprint,
    },
    /// The server takes no connection now.
    #[error("the server at {0} takes no more connections now")]
    Busy(SocketAddr),
    /// The server does not do that.
    #[error("the server at {0} refuses the request: {1}")]
    Refused(SocketAddr, String),
    /// What answers is not one of our servers.
    #[error("the server at {0} does not speak our protocol: {1}")]
    Foreign(SocketAddr, String),
    /// TLS cannot be set up.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The server is not there any more.
    #[error("the server at {0} stopped answering after {1} of data")]
    Vanished(SocketAddr, Bytes),
    /// The server has closed the connection.
    #[error("the server at {0} has ended the connection after {1} of data: {2}")]
    Ended(SocketAddr, Bytes, String),
    /// Asked to stop.
    #[error("interrupted after {0} of data")]
    Interrupted(Bytes),
}

impl GetError {
    /// Whether the request or its environment is at fault, before any data moved.
    pub fn is_refusal(&self) -> bool {
        !matches!(
            self,
            GetError::Vanished(..) | GetError::Ended(..) | GetError::Interrupted(_)
        )
    }
}
