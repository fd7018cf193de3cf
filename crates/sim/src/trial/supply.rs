//! The applications of a download whose data does not come all at once: chunks and think times of the client, a rate and
//! pauses of the server.
//!
//! # Model
//! The client requests a chunk, on a stream of its own, when it has all of the one before and has waited for the think time:
//! a video player, or the objects of a page on one connection.
//!
//! The server writes a chunk at once, or in pieces of a full packet at a rate: a piece when its last byte is there, so that a
//! chunk of `n` bytes ends `n / rate` after its request. In a pause it writes nothing, and the time does not count. A server
//! without a rate writes as fast as the transport takes it: what waits to be sent when a pause begins, it takes back until the
//! end of the pause; what has been sent is repeated if it is lost. A server with a rate has written what it has written.
//!
//! # Limits
//! The buffer between application and transport has no limit.

use crate::scenario::supply::Supply;
use crate::trial::connection::BULK;
use crate::trial::stack::Endpoint;
use thalweg_transport::StreamId;
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// The applications of one download.
pub(crate) struct Supplier {
    spec: Supply,
    /// Size of a request.
    request: u64,
    /// Most that is written at once, at a rate: what a full packet carries.
    piece: u64,
    /// When the flow starts, from which pauses count.
    start: Instant,
    /// Chunks that have been requested, and when the next one will be.
    requested: u32,
    ask_at: Instant,
    /// The chunk that is being written, and what of it is missing.
    chunk: StreamId,
    missing: u64,
    /// When the server acts next.
    write_at: Instant,
    /// Pauses that have ended.
    past: usize,
}

impl Supplier {
    pub(crate) fn new(spec: &Supply, request: Bytes, piece: Bytes, start: Instant) -> Self {
        Supplier {
            spec: spec.clone(),
            request: request.as_u64().max(1),
            piece: piece.as_u64().max(1),
            start,
            requested: 0,
            ask_at: Instant::NEVER,
            chunk: 0,
            missing: 0,
            write_at: Instant::NEVER,
            past: 0,
        }
    }

    /// Streams that the whole download takes.
    pub(crate) fn chunks(&self) -> u32 {
        self.spec.chunks.len() as u32
    }

    /// When one of the applications is due.
    pub(crate) fn next(&self) -> Instant {
        self.ask_at.min(self.write_at)
    }

    /// The client requests the next chunk.
    pub(crate) fn ask(&mut self, client: &mut Endpoint) {
        let id = self.requested;
        self.requested += 1;
        self.ask_at = Instant::NEVER;
        client.write(id, self.request, true, BULK, true);
    }

    /// A chunk has arrived at the client.
    pub(crate) fn on_chunk(&mut self, now: Instant, client: &mut Endpoint) {
        if self.requested == self.chunks() {
            return;
        }
        if self.spec.think.is_zero() {
            self.ask(client);
        } else {
            self.ask_at = now + self.spec.think;
        }
    }

    /// A request has arrived at the server.
    pub(crate) fn on_request(&mut self, now: Instant, id: StreamId, server: &mut Endpoint) {
        self.chunk = id;
        self.missing = self.spec.chunks[id as usize].as_u64();
        match self.spec.rate {
            Some(rate) => self.write_at = self.after(now, self.time_of_piece(rate)),
            None => self.write_all(now, server),
        }
    }

    /// The applications are due.
    pub(crate) fn tick(&mut self, now: Instant, client: &mut Endpoint, server: &mut Endpoint) {
        if self.ask_at <= now {
            self.ask(client);
        }
        if self.write_at > now {
            return;
        }
        match self.spec.rate {
            Some(rate) => self.write_piece(now, rate, server),
            None if self.missing == 0 => self.take_back(now, server),
            None => self.write_all(now, server),
        }
    }

    /// Writes what is missing, unless there is a pause; then at its end.
    fn write_all(&mut self, now: Instant, server: &mut Endpoint) {
        let (begin, end) = self.pause(now);
        if begin <= now {
            self.write_at = end;
            return;
        }
        let bytes = std::mem::take(&mut self.missing);
        server.write(self.chunk, bytes, true, BULK, true);
        self.write_at = begin;
    }

    /// A pause begins: what has not been sent waits for its end.
    fn take_back(&mut self, now: Instant, server: &mut Endpoint) {
        let (_, end) = self.pause(now);
        self.missing = server.take_back(self.chunk);
        self.write_at = match self.missing {
            0 => self.next_pause(), // all has been sent
            _ => end,
        };
    }

    fn write_piece(&mut self, now: Instant, rate: Rate, server: &mut Endpoint) {
        let bytes = self.missing.min(self.piece);
        self.missing -= bytes;
        let is_end = self.missing == 0;
        server.write(self.chunk, bytes, is_end, BULK, true);
        self.write_at = match is_end {
            true => Instant::NEVER,
            false => self.after(now, self.time_of_piece(rate)),
        };
    }

    fn time_of_piece(&self, rate: Rate) -> Duration {
        let bytes = Bytes::new(self.missing.min(self.piece));
        rate.time_for(bytes).max(Duration::from_nanos(1))
    }

    /// The first pause that has not ended at `now`.
    fn pause(&mut self, now: Instant) -> (Instant, Instant) {
        while let Some((begin, end)) = self.spec.pauses.get(self.past) {
            if self.start + *end > now {
                return (self.start + *begin, self.start + *end);
            }
            self.past += 1;
        }
        (Instant::NEVER, Instant::NEVER)
    }

    /// When the pause after the first that has not ended begins.
    fn next_pause(&self) -> Instant {
        let next = self.spec.pauses.get(self.past + 1);
        next.map_or(Instant::NEVER, |(begin, _)| self.start + *begin)
    }

    /// When so much time outside of pauses has passed since `now`.
    fn after(&mut self, mut now: Instant, mut span: Duration) -> Instant {
        loop {
            let (begin, end) = self.pause(now);
            let left = begin - now; // zero within a pause
            if span <= left {
                return now + span;
            }
            span -= left;
            now = end;
        }
    }
}
