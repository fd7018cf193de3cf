//! The server: many connections on one socket, within limits.

mod admission;
mod config;
mod connection;
mod serving;

pub use config::{Limits, ServeError, Served, ServerConfig, Totals};

use super::peer::Sender;
use super::udp::Udp;
use noq_proto::crypto::rustls::QuicServerConfig;
use std::net::SocketAddr;
use std::sync::Arc;

/// A server that listens.
pub struct Server {
    udp: Udp,
    address: SocketAddr,
    config: ServerConfig,
    crypto: Arc<QuicServerConfig>,
}

impl Server {
    /// Binds the socket; does not serve yet.
    ///
    /// # Errors
    /// If the address is in use or not local, or the certificate cannot be used.
    pub fn bind(config: ServerConfig) -> Result<Server, ServeError> {
        let crypto = config.credentials.server()?;
        let failed = |error| ServeError::Bind(config.address, error);
        let udp = Udp::bind(config.address).map_err(failed)?;
        let address = udp.local_address().map_err(failed)?;
        Ok(Server {
            udp,
            address,
            config,
            crypto,
        })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    fn template(&self, sender: &Sender) -> noq_proto::ServerConfig {
        let mut config = noq_proto::ServerConfig::with_crypto(self.crypto.clone());
        config.transport_config(sender.transport.clone());
        config.migration(false);
        config
    }
}
