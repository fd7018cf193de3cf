//! Ports, which identify connections for the kernel, the emulator and this process.

/// The port at which the servers of flow 0 listen; the ports of the other flows follow.
pub(super) const SERVER_PORT: u16 = 5201;
/// The port of the client of connection 0; the ports of the other connections follow.
pub(crate) const FIRST_PORT: u16 = 16384;
/// Most flows: their ports stay below the ports of clients.
pub(crate) const MOST_FLOWS: usize = 10_000;
/// Most connections: one port each.
pub(crate) const MOST_CONNECTIONS: usize = (u16::MAX - FIRST_PORT) as usize;
/// The port of the client of a connection; with QUIC also of its server.
pub(crate) fn port_of(connection: usize) -> u16 {
    FIRST_PORT + connection as u16
}
