//! Streams: what the application still has to write, and what it has read.
//!
//! The application counts bytes; the stack needs actual bytes. They are zeros, in chunks shared by all streams.

use bytes::Bytes;
use noq_proto::{Connection, Dir, ReadError, ReadableError, Side, StreamId as Id, VarInt};
use std::sync::OnceLock;
use thalweg_transport::{AppEvent, StreamId};

/// Size of a shared chunk of zeros: long, since the stack searches its chunks one by one.
const CHUNK: usize = 1 << 20;

/// At most `len` bytes of zeros, at least one if it is not zero: what to write to a stream whose content is only counted.
pub fn zeros(len: u64) -> Bytes {
    static ZEROS: OnceLock<Bytes> = OnceLock::new();
    let all = ZEROS.get_or_init(|| Bytes::from(vec![0; CHUNK]));
    all.slice(..usize::try_from(len).map_or(CHUNK, |len| len.min(CHUNK)))
}

/// The stream of the stack that both applications call `id`: all are bidirectional and opened by the client.
pub(crate) fn stack_id(id: StreamId) -> Id {
    Id::new(Side::Client, Dir::Bi, u64::from(id))
}

/// The identifier that the applications use for a stream of the stack.
pub(crate) fn app_id(id: Id) -> StreamId {
    id.index() as StreamId
}

/// Priority of the stack, where higher is more urgent. Streams of one level are served in round robin; those
/// that are not incremental in the order of their numbers (RFC 9218 section 4.2), each on its own level.
pub(crate) fn level(id: StreamId, priority: u8, incremental: bool) -> i32 {
    let turn = if incremental {
        0
    } else {
        id.min(0xffff) as i32
    };
    -(i32::from(priority) << 16) - turn
}

/// A stream that the application writes to.
#[derive(Debug)]
struct Writing {
    id: StreamId,
    level: i32,
    left: u64,
    fin: bool,
}

/// The streams of one endpoint.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    writing: Vec<Writing>,
    /// Streams that the client has opened.
    opened: u64,
    /// Bytes read of each stream that is not finished.
    reading: Vec<(StreamId, u64)>,
}

impl Streams {
    pub(crate) fn write(&mut self, id: StreamId, bytes: u64, fin: bool, level: i32) {
        match self.writing.iter_mut().find(|stream| stream.id == id) {
            Some(stream) => {
                stream.left += bytes;
                stream.fin |= fin;
            }
            None => self.writing.push(Writing {
                id,
                level,
                left: bytes,
                fin,
            }),
        }
    }

    /// Passes as much to the stack as it accepts.
    pub(crate) fn flush(&mut self, connection: &mut Connection) {
        if self.writing.is_empty() {
            return;
        }
        let opened = &mut self.opened;
        self.writing
            .retain_mut(|stream| !stream.flush(connection, opened));
    }

    /// The peer has stopped a stream.
    pub(crate) fn abandon(&mut self, id: StreamId, connection: &mut Connection) {
        self.writing.retain(|stream| stream.id != id);
        // Fails if the stream has ended meanwhile.
        let _ = connection
            .send_stream(stack_id(id))
            .reset(VarInt::from_u32(0));
    }

    /// Reads all that has arrived in order. Returns the event for the application and the number of bytes.
    pub(crate) fn read(&mut self, id: Id, connection: &mut Connection) -> (Option<AppEvent>, u64) {
        let mut stream = connection.recv_stream(id);
        // Unordered reads lose data in this version of the stack.
        let mut chunks = match stream.read(true) {
            Ok(chunks) => chunks,
            Err(ReadableError::ClosedStream | ReadableError::IllegalOrderedRead) => {
                return (None, 0);
            }
        };
        let (mut new, mut complete, mut reset) = (0, false, false);
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => new += chunk.bytes.len() as u64,
                Ok(None) => {
                    complete = true;
                    break;
                }
                Err(ReadError::Blocked) => break,
                Err(ReadError::Reset(_)) => {
                    reset = true;
                    break;
                }
            }
        }
        // Flow-control credit is sent with the next packet anyway.
        let _ = chunks.finalize();
        let id = app_id(id);
        let position = self.reading.iter().position(|(known, _)| *known == id);
        let position = position.unwrap_or_else(|| {
            self.reading.push((id, 0));
            self.reading.len() - 1
        });
        self.reading[position].1 += new;
        let contiguous = self.reading[position].1;
        if complete || reset {
            self.reading.swap_remove(position);
        }
        if reset {
            return (Some(AppEvent::StreamReset(id)), new);
        }
        let news = new > 0 || complete;
        let event = AppEvent::StreamData {
            id,
            contiguous,
            complete,
        };
        (news.then_some(event), new)
    }

    /// The application stops a stream.
    pub(crate) fn stop(&mut self, id: StreamId, connection: &mut Connection) {
        self.reading.retain(|(known, _)| *known != id);
        // Fails if the stream has ended meanwhile.
        let _ = connection
            .recv_stream(stack_id(id))
            .stop(VarInt::from_u32(0));
    }
}

impl Writing {
    /// Whether the application has no more to write to the stream.
    fn flush(&mut self, connection: &mut Connection, opened: &mut u64) -> bool {
        if connection.side() == Side::Client {
            // A stream opens all below it (RFC 9000 section 3.2).
            while *opened <= u64::from(self.id) {
                if connection.streams().open(Dir::Bi).is_none() {
                    return false;
                }
                *opened += 1;
            }
        }
        let mut stream = connection.send_stream(stack_id(self.id));
        // Fails if the peer has stopped the stream, as writing does.
        let _ = stream.set_priority(self.level);
        while self.left > 0 {
            match stream.write_chunks(&mut &mut [zeros(self.left)][..]) {
                Ok(written) => self.left -= written as u64,
                Err(noq_proto::WriteError::Blocked) => return false,
                Err(_) => return true,
            }
        }
        if self.fin {
            let _ = stream.finish();
        }
        true
    }
}
