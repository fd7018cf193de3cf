//! Starting a connection: a client connects, and a server of the kernel's TCP accepts.

use super::connection::Ends;
use super::event_loop::{CLIENT, PLACES, SERVER, Traffic, Transport};
use super::ports::{FIRST_PORT, port_of};
use super::quic_ends::QuicEnds;
use super::socket::Socket;
use super::tcp_ends::TcpEnds;
use crate::sys::events::Interest;
use crate::sys::tcp;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, SocketAddrV4};
use thalweg_sim::Transfer;
use thalweg_units::Bytes;

impl Traffic<'_> {
    /// Connects the client of a connection.
    pub(super) fn connect(&mut self, index: usize) -> io::Result<()> {
        let numbers = [CLIENT, SERVER].map(|position| PLACES * index as u64 + position);
        let connection = &mut self.connections[index];
        let server = match &mut self.flows[connection.flow].transport {
            Transport::Kernel(server) => server,
            Transport::Program => {
                return match &mut connection.ends {
                    Ends::Program(ends) => ends.begin(),
                    _ => Err(ErrorKind::NotFound.into()),
                };
            }
            Transport::Quic(following) => {
                if matches!(connection.ends, Ends::None) {
                    let next = following.next().ok_or(ErrorKind::NotFound)?;
                    let is_traced = self.trace.is_some();
                    let ends = QuicEnds::new(index, next, self.hosts, is_traced)?;
                    connection.ends = Ends::Quic(Box::new(ends));
                }
                if let Ends::Quic(quic) = &mut connection.ends {
                    quic.begin();
                    for (end, number) in quic.ends.iter().zip(numbers) {
                        self.epoll.add(&end.udp.socket, number, end.waits_for)?;
                    }
                }
                return Ok(());
            }
        };
        let transfer = connection.transfer;
        let (to_write, to_read, congestion) = match transfer {
            Transfer::Download { bytes, request } => (request, bytes, None),
            Transfer::Upload { bytes } => (bytes, Bytes::ZERO, Some(server.congestion.as_str())),
            Transfer::Call => return Err(ErrorKind::Unsupported.into()),
        };
        let from = SocketAddrV4::new(self.hosts[0].v4, port_of(index));
        let stream = tcp::connect(from, server.address, congestion)?;
        self.epoll.add(&stream, numbers[0], Interest::ReadWrite)?;
        let mut client = Socket::new(stream, to_write.as_u64(), to_read.as_u64());
        client.closes_behind = matches!(transfer, Transfer::Upload { .. });
        connection.ends = Ends::Tcp(TcpEnds {
            number: index,
            transfer,
            client,
            server: None,
        });
        Ok(())
    }

    /// Accepts the connection of a client of a flow, and returns its number.
    pub(super) fn accept(&mut self, flow: usize) -> io::Result<Option<usize>> {
        let Transport::Kernel(server) = &self.flows[flow].transport else {
            return Ok(None);
        };
        let (stream, peer) = match server.listener.accept() {
            Ok(accepted) => accepted,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        };
        let SocketAddr::V4(peer) = peer else {
            return Ok(None);
        };
        let index = usize::from(peer.port().wrapping_sub(FIRST_PORT));
        let Some(connection) = self.connections.get_mut(index) else {
            return Ok(None);
        };
        let Ends::Tcp(ends) = &mut connection.ends else {
            return Ok(None);
        };
        if connection.flow != flow || ends.server.is_some() || connection.ended {
            return Ok(None);
        }
        stream.set_nonblocking(true)?;
        let number = PLACES * index as u64 + SERVER;
        self.epoll.add(&stream, number, Interest::Read)?;
        let to_read = match connection.transfer {
            Transfer::Download { request, .. } => request,
            Transfer::Upload { bytes } => bytes,
            Transfer::Call => Bytes::ZERO,
        };
        let mut socket = Socket::new(stream, 0, to_read.as_u64());
        socket.is_connected = true;
        ends.server = Some(socket);
        Ok(Some(index))
    }
}
