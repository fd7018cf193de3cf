//! The application of a client: request, data, answer.

use super::error::GetError;
use super::order::Order;
use crate::peer::Peer;
use crate::request::{MOST, Request, Workload};
use crate::transfer::{Document, Reading, Transfer, write_document};
use noq_proto::{ConnectionError, Dir, Event, StreamEvent, StreamId, TransportErrorCode};
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use thalweg_quic::Fingerprint;
use thalweg_units::Bytes;

/// The application.
pub(super) struct Session<'a> {
    pub(super) order: &'a Order,
    pub(super) address: SocketAddr,
    pub(super) other: Arc<OnceLock<Fingerprint>>,
    pub(super) begin: Instant,
    pub(super) connected: Option<Instant>,
    pub(super) control: Option<StreamId>,
    pub(super) document: Document,
    pub(super) transfer: Option<Transfer>,
    /// When the last byte of a download arrived.
    pub(super) finished: Option<Instant>,
    pub(super) answer: Option<(Instant, Vec<u8>)>,
    pub(super) lost: Option<ConnectionError>,
}

impl Session<'_> {
    /// Before the handshake; `other` receives the certificate of a wrong server.
    pub(super) fn new(
        order: &Order,
        address: SocketAddr,
        other: Arc<OnceLock<Fingerprint>>,
        begin: Instant,
    ) -> Session<'_> {
        Session {
            order,
            address,
            other,
            begin,
            connected: None,
            control: None,
            document: Document::default(),
            transfer: None,
            finished: None,
            answer: None,
            lost: None,
        }
    }

    pub(super) fn moved(&self) -> u64 {
        let wanted = match self.order.workload {
            Workload::Download(bytes) | Workload::Upload(bytes) => bytes.as_u64(),
            Workload::Call(_) => 0,
        };
        self.transfer
            .as_ref()
            .map_or(0, |transfer| transfer.moved(wanted))
    }

    pub(super) fn on_event(&mut self, event: &Event, peer: &mut Peer, now: Instant) {
        match event {
            Event::Connected => {
                self.connected = Some(now);
                peer.shared.flow().establish();
                self.ask(peer, now);
            }
            Event::HandshakeConfirmed => peer.is_confirmed = true,
            Event::ConnectionLost { reason } => self.lost = Some(reason.clone()),
            Event::Stream(StreamEvent::Readable { id }) if self.control == Some(*id) => {
                if let Reading::Complete(text) = self.document.read(*id, &mut peer.connection, MOST)
                {
                    self.answer = Some((now, text));
                }
            }
            _ => {}
        }
        if let Some(transfer) = &mut self.transfer {
            transfer.on_event(event, &mut peer.connection, now);
            if matches!(transfer, Transfer::Receiving(_)) && transfer.is_done(now) {
                self.finished.get_or_insert(now);
            }
        }
    }

    fn ask(&mut self, peer: &mut Peer, now: Instant) {
        let request = Request {
            workload: self.order.workload,
            controller: self
                .order
                .server_controller
                .as_ref()
                .map(ToString::to_string),
        };
        self.control = peer.connection.streams().open(Dir::Bi);
        if let (Some(id), Ok(text)) = (self.control, serde_json::to_vec(&request)) {
            write_document(id, &text, &mut peer.connection);
        }
        self.transfer = Some(match self.order.workload {
            Workload::Download(_) => Transfer::receive(),
            Workload::Upload(bytes) => Transfer::send(bytes.as_u64()),
            Workload::Call(length) => Transfer::call(length, now),
        });
    }

    pub(super) fn advance(&mut self, peer: &mut Peer, now: Instant) {
        if let Some(transfer) = &mut self.transfer {
            transfer.advance(&mut peer.connection, now);
        }
    }

    pub(super) fn vanished(&self) -> GetError {
        GetError::Vanished(self.address, Bytes::new(self.moved()))
    }

    /// Why the connection was lost, if it was.
    pub(super) fn failure(&self) -> Option<GetError> {
        let address = self.address;
        let reason = self.lost.as_ref()?;
        if let Some(seen) = self.other.get() {
            let seen = *seen;
            return Some(GetError::Fingerprint { address, seen });
        }
        let is_early = self.connected.is_none();
        Some(match reason {
            ConnectionError::TimedOut | ConnectionError::Reset if !is_early => self.vanished(),
            ConnectionError::TimedOut => GetError::NoAnswer(address, self.order.idle),
            ConnectionError::ConnectionClosed(close)
                if is_early && close.error_code == TransportErrorCode::CONNECTION_REFUSED =>
            {
                GetError::Busy(address)
            }
            reason if is_early => GetError::Foreign(address, reason.to_string()),
            ConnectionError::ApplicationClosed(close) => {
                let words = String::from_utf8_lossy(&close.reason).into_owned();
                GetError::Ended(address, Bytes::new(self.moved()), words)
            }
            reason => GetError::Ended(address, Bytes::new(self.moved()), reason.to_string()),
        })
    }
}
