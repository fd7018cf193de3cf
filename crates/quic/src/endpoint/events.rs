//! Events of the connection, passed on to its endpoint and to the application.

use super::{QuicEndpoint, TAG};
use crate::streams::app_id;
use bytes::Bytes as Buffer;
use noq_proto::{ConnectionError, Dir, Event, StreamEvent, VarInt};
use thalweg_transport::AppEvent;
use thalweg_units::Instant;

impl QuicEndpoint {
    /// Passes on the events of the connection to its endpoint and to the application.
    pub(super) fn process(&mut self, now: Instant) {
        let Some((handle, connection)) = &mut self.connection else {
            return;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            // The peer has answered our close, or has not for three probe timeouts (RFC 9000 section 10.2).
            if (event.is_draining() || event.is_drained()) && !self.closed {
                self.closed = true;
                self.events.push_back(AppEvent::Closed);
            }
            if let Some(answer) = self.stack.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => {
                    self.shared.flow().establish();
                    self.events.push_back(AppEvent::Connected);
                }
                Event::HandshakeConfirmed => {
                    self.is_confirmed = true;
                    self.shared.sent().unacked.confirm();
                    if self.is_closing {
                        let now = self.shared.clock.real(now);
                        connection.close(now, VarInt::from_u32(0), Buffer::new());
                    }
                }
                Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => {
                    while let Some(id) = connection.streams().accept(Dir::Bi) {
                        let (event, new) = self.streams.read(id, connection);
                        self.events.extend(event);
                        self.stream_bytes_received += new;
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => {
                    let (event, new) = self.streams.read(id, connection);
                    self.events.extend(event);
                    self.stream_bytes_received += new;
                }
                Event::Stream(StreamEvent::Stopped { id, .. }) => {
                    self.streams.abandon(app_id(id), connection);
                    self.events.push_back(AppEvent::StopSending(app_id(id)));
                }
                Event::Stream(StreamEvent::Writable { .. } | StreamEvent::Available { .. }) => {
                    self.streams.flush(connection);
                }
                Event::DatagramReceived => {
                    while let Some(data) = connection.datagrams().recv() {
                        let Some(tag) = data.first_chunk::<TAG>() else {
                            continue;
                        };
                        self.datagrams_received += 1;
                        self.events.push_back(AppEvent::Datagram {
                            tag: u64::from_be_bytes(*tag),
                            len: data.len() as u32,
                        });
                    }
                }
                Event::ConnectionLost { reason } if !is_regular(&reason) => {
                    self.failure.get_or_insert(reason);
                }
                _ => {}
            }
        }
        self.refresh();
    }

    pub(super) fn refresh(&mut self) {
        let mut flow = self.shared.flow();
        self.control = flow.control();
        self.path.clone_from(flow.path());
        self.counters = *flow.counters();
        self.counters.stream_bytes_received = self.stream_bytes_received;
        self.counters.datagrams_received = self.datagrams_received;
    }
}

/// Whether a connection ended as [`QuicEndpoint::close`] ends it, here or at the peer: without an error code (RFC 9000
/// section 10.2).
fn is_regular(reason: &ConnectionError) -> bool {
    match reason {
        ConnectionError::LocallyClosed => true,
        ConnectionError::ApplicationClosed(close) => close.error_code == VarInt::from_u32(0),
        _ => false,
    }
}
