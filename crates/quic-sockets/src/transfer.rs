//! Data transfer over a connection: bulk in one direction, or a call. Both ends have one.

use super::media::Call;
use noq_proto::{Connection, Dir, Event, ReadError, StreamEvent, StreamId, WriteError};
use std::time::Instant;
use thalweg_quic::zeros;
use thalweg_units::Duration;

/// The task of one end.
pub(super) enum Transfer {
    /// Sends bulk data.
    Sending(Outflow),
    /// Receives bulk data.
    Receiving(Inflow),
    /// Both.
    Calling(Box<Call>),
}

/// Bulk data sent on its own stream.
#[derive(Debug)]
pub(super) struct Outflow {
    id: Option<StreamId>,
    left: u64,
    is_written: bool,
    is_acked: bool,
}

/// Bulk data received on a stream of the peer.
#[derive(Debug, Default)]
pub(super) struct Inflow {
    pub(super) received: u64,
    pub(super) first_byte: Option<Instant>,
    pub(super) is_complete: bool,
}

impl Transfer {
    pub(super) fn send(bytes: u64) -> Transfer {
        Transfer::Sending(Outflow {
            id: None,
            left: bytes,
            is_written: false,
            is_acked: false,
        })
    }

    pub(super) fn receive() -> Transfer {
        Transfer::Receiving(Inflow::default())
    }

    /// A call that starts now.
    pub(super) fn call(length: Duration, now: Instant) -> Transfer {
        Transfer::Calling(Box::new(Call::new(length.into(), now)))
    }

    /// Processes an event of a stream or datagram of data.
    pub(super) fn on_event(&mut self, event: &Event, connection: &mut Connection, now: Instant) {
        match (self, event) {
            (Transfer::Sending(out), Event::Stream(StreamEvent::Finished { id })) => {
                out.is_acked |= out.id == Some(*id);
            }
            (Transfer::Receiving(inflow), Event::Stream(StreamEvent::Readable { id })) => {
                inflow.read(*id, connection, now);
            }
            (Transfer::Receiving(inflow), Event::Stream(StreamEvent::Opened { dir: Dir::Uni })) => {
                while let Some(id) = connection.streams().accept(Dir::Uni) {
                    inflow.read(id, connection, now);
                }
            }
            (Transfer::Calling(call), event) => call.on_event(event, connection, now),
            _ => {}
        }
    }

    /// Passes as much to the stack as it accepts.
    pub(super) fn advance(&mut self, connection: &mut Connection, now: Instant) {
        match self {
            Transfer::Sending(out) => out.write(connection),
            Transfer::Receiving(_) => {}
            Transfer::Calling(call) => call.advance(connection, now),
        }
    }

    /// When to call [`Transfer::advance`] without an event.
    pub(super) fn next(&self) -> Option<Instant> {
        match self {
            Transfer::Calling(call) => call.next(),
            _ => None,
        }
    }

    /// Whether everything that this end sends and receives has arrived.
    pub(super) fn is_done(&self, now: Instant) -> bool {
        match self {
            Transfer::Sending(out) => out.is_acked,
            Transfer::Receiving(inflow) => inflow.is_complete,
            Transfer::Calling(call) => call.is_over(now),
        }
    }

    /// Bytes of bulk data received, or passed to the stack.
    pub(super) fn moved(&self, wanted: u64) -> u64 {
        match self {
            Transfer::Sending(out) => wanted.saturating_sub(out.left),
            Transfer::Receiving(inflow) => inflow.received,
            Transfer::Calling(_) => 0,
        }
    }
}

impl Outflow {
    fn write(&mut self, connection: &mut Connection) {
        if self.is_written {
            return;
        }
        let id = match self.id {
            Some(id) => id,
            // The peer has not allowed a stream yet.
            None => match connection.streams().open(Dir::Uni) {
                Some(id) => *self.id.insert(id),
                None => return,
            },
        };
        let mut stream = connection.send_stream(id);
        while self.left > 0 {
            match stream.write_chunks(&mut &mut [zeros(self.left)][..]) {
                Ok(written) => self.left -= written as u64,
                Err(WriteError::Blocked) => return,
                // The peer has stopped the stream, or the connection has ended: nothing will be acknowledged.
                Err(_) => break,
            }
        }
        let _ = stream.finish();
        self.is_written = true;
    }
}

impl Inflow {
    fn read(&mut self, id: StreamId, connection: &mut Connection, now: Instant) {
        let mut stream = connection.recv_stream(id);
        // Unordered reads lose data in this version of the stack.
        let Ok(mut chunks) = stream.read(true) else {
            return;
        };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.received += chunk.bytes.len() as u64,
                Ok(None) => {
                    self.is_complete = true;
                    break;
                }
                Err(ReadError::Blocked | ReadError::Reset(_)) => break,
            }
        }
        // Flow-control credit is sent with the next packet anyway.
        let _ = chunks.finalize();
        if self.received > 0 {
            self.first_byte.get_or_insert(now);
        }
    }
}

/// A document that arrives on a stream.
#[derive(Debug, Default)]
pub(super) struct Document(Vec<u8>);

/// Progress of a document.
pub(super) enum Reading {
    Incomplete,
    Complete(Vec<u8>),
    /// Too long, or reset by the peer.
    Broken,
}

impl Document {
    /// Reads what has arrived, at most `most` bytes in total.
    pub(super) fn read(
        &mut self,
        id: StreamId,
        connection: &mut Connection,
        most: usize,
    ) -> Reading {
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else {
            return Reading::Incomplete;
        };
        let reading = loop {
            match chunks.next(most) {
                Ok(Some(chunk)) if self.0.len() + chunk.bytes.len() > most => {
                    break Reading::Broken;
                }
                Ok(Some(chunk)) => self.0.extend_from_slice(&chunk.bytes),
                Ok(None) => break Reading::Complete(std::mem::take(&mut self.0)),
                Err(ReadError::Blocked) => break Reading::Incomplete,
                Err(ReadError::Reset(_)) => break Reading::Broken,
            }
        };
        let _ = chunks.finalize();
        reading
    }
}

/// Writes a document that is shorter than any window, and ends the stream.
pub(super) fn write_document(id: StreamId, text: &[u8], connection: &mut Connection) {
    let mut stream = connection.send_stream(id);
    // Sent before data.
    let _ = stream.set_priority(1);
    // Fails only if the peer has stopped the stream.
    let _ = stream.write(text);
    let _ = stream.finish();
}
