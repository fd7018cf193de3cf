//! The client: one connection, one request.

mod error;
mod event_loop;
mod order;
mod session;

pub use error::GetError;
pub use order::{Order, RequestHandle, Summary};

use super::credentials::client as tls;
use super::peer::Sender;
use super::udp::Udp;
use event_loop::Client;
use noq_proto::{ClientConfig, Endpoint, EndpointConfig};
use session::Session;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Instant;
use thalweg_quic::SERVER_NAME;

/// Keep-alive interval: a client that downloads sends nothing otherwise, and its host could not report
/// that the server has gone.
const KEEP_ALIVE: std::time::Duration = std::time::Duration::from_secs(1);

/// Makes a request and transfers its data.
///
/// # Errors
/// See [`GetError`].
pub fn get(order: &Order, request: &RequestHandle) -> Result<Summary, GetError> {
    let address = resolve(&order.host, order.port)?;
    let unreachable = |error| GetError::Unreachable(address, error);
    let any: SocketAddr = match address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let udp = Udp::bind(any).map_err(unreachable)?;
    udp.connect(address).map_err(unreachable)?;
    let (crypto, other) = tls(order.fingerprint)?;
    let sender = Sender::new(&order.controller, order.idle, Some(KEEP_ALIVE));
    let mut config = ClientConfig::new(crypto);
    config.transport_config(sender.transport.clone());
    let mut stack = Endpoint::new(Arc::new(EndpointConfig::default()), None, true);
    let begin = Instant::now();
    let connected = stack.connect(begin, config, address, SERVER_NAME);
    let (handle, connection) = connected.map_err(|error| unreachable(io::Error::other(error)))?;
    let mut peer = sender.bind(handle, connection);
    if order.trace {
        peer.record();
    }
    let session = Session::new(order, address, other, begin);
    let mut client = Client {
        udp,
        stack,
        peer,
        session,
        heard: begin,
        is_refused: false,
    };
    client.run(request)
}

fn resolve(host: &str, port: u16) -> Result<SocketAddr, GetError> {
    let failed = |error| GetError::Name(host.to_owned(), error);
    let mut addresses = (host, port).to_socket_addrs().map_err(failed)?;
    let none = || io::Error::from(io::ErrorKind::NotFound);
    addresses.next().ok_or_else(|| failed(none()))
}
