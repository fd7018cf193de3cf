//! Admission: a datagram goes to its connection, or opens one, or is answered within limits.

use super::connection::Connection;
use super::serving::Serving;
use crate::peer::{Sender, counted_as};
use crate::udp::Received;
use bytes::BytesMut;
use noq_proto::{ConnectionHandle, DatagramEvent, Incoming, Transmit};
use std::sync::Arc;
use std::time::Instant;

/// UDP payload of the smallest datagram that opens a connection (RFC 9000 section 14.1).
const SMALLEST_OPENING: usize = 1200;

impl Serving<'_> {
    pub(super) fn take_in(
        &mut self,
        now: Instant,
        from: &Received,
        datagram: BytesMut,
        buffer: &mut Vec<u8>,
    ) {
        let received = datagram.len();
        let ecn = from.ecn.map(counted_as);
        buffer.clear();
        match self.stack.handle(now, from.path, ecn, datagram, buffer) {
            Some(DatagramEvent::ConnectionEvent(ConnectionHandle(handle), event)) => {
                if let Some(client) = self.clients.get_mut(&handle) {
                    client.peer.take_in(event);
                    client.is_awake = true;
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.admit(incoming, now, received, buffer);
            }
            Some(DatagramEvent::Response(transmit)) => self.respond(&transmit, received, buffer),
            None => {}
        }
    }

    /// Answers a datagram without a connection: never with more than three times its size (RFC 9000
    /// section 8.1), and no Version Negotiation to a datagram that could not open a connection (section 5.2.2;
    /// the stack checks the version first). If the socket is full, the client will retransmit.
    fn respond(&self, transmit: &Transmit, received: usize, data: &[u8]) {
        if received < SMALLEST_OPENING && is_version_negotiation(data) {
            return;
        }
        if transmit.size <= 3 * received {
            let _ = self.server.udp.send(transmit, data);
        }
    }

    /// Accepts a client, sends it a Retry, or refuses it.
    fn admit(&mut self, incoming: Incoming, now: Instant, received: usize, buffer: &mut Vec<u8>) {
        let limits = self.server.config.limits;
        let is_proven = incoming.remote_address_validated();
        let half_open = self.clients.values().filter(|client| client.is_half_open());
        let half_open = half_open.count();
        if half_open >= limits.retry_above && !is_proven && incoming.may_retry() {
            self.totals.retried += 1;
            if let Ok(transmit) = self.stack.retry(incoming, buffer) {
                self.respond(&transmit, received, buffer);
            }
            return;
        }
        if half_open >= limits.half_open {
            self.totals.refused += 1;
            return self.stack.ignore(incoming);
        }
        if self.clients.len() >= limits.connections || self.is_stopping {
            self.totals.refused += 1;
            let transmit = self.stack.refuse(incoming, buffer);
            return self.respond(&transmit, received, buffer);
        }
        let sender = Sender::new(&self.server.config.controller, limits.idle, None);
        let config = Arc::new(self.server.template(&sender));
        let address = incoming.remote_address();
        match self.stack.accept(incoming, now, buffer, Some(config)) {
            Ok((handle, connection)) => {
                self.totals.accepted += 1;
                let peer = sender.bind(handle, connection);
                let client = Connection::new(address, peer, &self.server.config, now);
                self.clients.insert(handle.0, client);
            }
            Err(error) => {
                self.totals.refused += 1;
                if let Some(transmit) = error.response {
                    self.respond(&transmit, received, buffer);
                }
            }
        }
    }
}

/// Whether this is a Version Negotiation packet (RFC 9000 section 17.2.1): a long header of version 0.
fn is_version_negotiation(packet: &[u8]) -> bool {
    matches!(packet, [first, 0, 0, 0, 0, ..] if first & 0x80 != 0)
}
