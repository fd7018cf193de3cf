//! The receiving half of an endpoint: received data, acknowledgements, and flow-control credit of the peer.
//!
//! It is separate from the sending half because most packets at a receiver of bulk data concern
//! nothing else, and the memory touched per packet limits the speed of simulations with many flows.

use crate::TransportConfig;
use crate::ack::policy::AckPolicy;
use crate::arrivals::Arrivals;
use crate::event::AppEvent;
use crate::packet::StreamId;
use crate::stream::flow_control::Granted;
use crate::stream::receive::RecvStream;
use std::collections::VecDeque;
use thalweg_control::PathState;
use thalweg_units::{Bytes, Ecn, Instant};

#[derive(Debug)]
#[repr(C)] // fields of the sending half first
pub(crate) struct Receiver {
    pub(crate) granted: Granted,
    /// A stream may have a control frame to send.
    pub(crate) control_due: bool,
    /// Whether the application gets an event for all readable data, or only for the end of a stream.
    tells_progress: bool,
    /// Whether each packet has to be looked at: for that, or for `arrivals`.
    looks_at_all: bool,
    /// Every stream below is closed and removed.
    closed_below: StreamId,
    pub(crate) acks: AckPolicy,
    /// In the order of their numbers.
    streams: VecDeque<RecvStream>,
    /// Stream bytes that arrived for the first time.
    pub(crate) stream_bytes: u64,
    pub(crate) datagrams: u64,
    stream_limit: u64,
    /// Where times of arrival are written down, if the peer wants them.
    arrivals: Option<Arrivals>,
}

impl Receiver {
    pub(crate) fn new(config: &TransportConfig) -> Self {
        Receiver {
            acks: AckPolicy::new(config),
            granted: Granted::new(
                config.initial_max_data.as_u64(),
                config.receive_window.map(Bytes::as_u64),
            ),
            control_due: false,
            tells_progress: config.stream_progress,
            looks_at_all: config.stream_progress,
            closed_below: 0,
            streams: VecDeque::new(),
            stream_bytes: 0,
            datagrams: 0,
            stream_limit: config.initial_max_stream_data.as_u64(),
            arrivals: None,
        }
    }

    /// Writes down when packets arrive from now on.
    pub(crate) fn report_arrivals(&mut self, to: Arrivals) {
        self.arrivals = Some(to);
        self.looks_at_all = true;
    }

    /// A packet that is not a duplicate has arrived.
    #[inline]
    pub(crate) fn note_arrival(&self, number: u64, now: Instant) {
        if let Some(arrivals) = &self.arrivals {
            arrivals.notes().write(number, now);
        }
    }

    /// Takes in a packet with `number` and, as its only frame, the STREAM frame that goes from `offset` to `end`, if both are
    /// the next and can only change the time of the next ACK frame.
    #[inline]
    pub(crate) fn take_next(
        &mut self,
        now: Instant,
        (number, ecn): (u64, Ecn),
        id: StreamId,
        (offset, end): (u64, u64),
    ) -> bool {
        let bytes = end - offset;
        if self.looks_at_all || self.control_due || !self.granted.covers(bytes) {
            return false;
        }
        let Some(stream) = self.streams.back_mut() else {
            return false;
        };
        let is_usual = stream.id == id && stream.expects(offset, end);
        if !is_usual || !self.acks.on_next(now, number, ecn) {
            return false;
        }
        stream.append(end);
        self.granted.append(bytes);
        self.stream_bytes += bytes;
        true
    }

    /// Processes a STREAM frame; returns the event for the application, if any.
    pub(crate) fn on_stream_frame(
        &mut self,
        id: StreamId,
        offset: u64,
        len: u16,
        fin: bool,
        path: &PathState,
    ) -> Option<AppEvent> {
        let stream = self.open(id)?;
        let progress = stream.on_frame(offset, len, fin, path);
        let (contiguous, ended) = (stream.contiguous(), stream.ended);
        let limit_pending = stream.limit_pending;
        self.control_due |= limit_pending;
        self.stream_bytes += progress.new;
        self.granted.on_received(progress.new, path);
        if ended {
            self.forget();
        }
        let complete = progress.complete;
        let tells = progress.readable && (complete || self.tells_progress);
        tells.then_some(AppEvent::StreamData {
            id,
            contiguous,
            complete,
        })
    }

    /// The sender abandons a stream of `final_size` bytes. What is missing counts as received, so that both
    /// sides agree on the credit of the connection (RFC 9000 section 4.5).
    pub(crate) fn on_reset(
        &mut self,
        id: StreamId,
        final_size: u64,
        path: &PathState,
    ) -> Option<AppEvent> {
        let stream = self.open(id)?;
        let open = !stream.closed;
        let missing = stream.on_reset(final_size);
        self.granted.on_received(missing, path);
        self.forget();
        open.then_some(AppEvent::StreamReset(id))
    }

    /// Stream `id`, created at its first frame; `None` if it is long closed.
    #[inline]
    fn open(&mut self, id: StreamId) -> Option<&mut RecvStream> {
        if id < self.closed_below {
            return None;
        }
        // The newest stream is the likeliest, and often the only one.
        if self.streams.back().is_some_and(|stream| stream.id == id) {
            return self.streams.back_mut();
        }
        self.open_among_many(id)
    }

    #[inline(never)]
    fn open_among_many(&mut self, id: StreamId) -> Option<&mut RecvStream> {
        let position = match self.streams.binary_search_by_key(&id, |stream| stream.id) {
            Ok(position) => position,
            Err(position) => {
                let stream = RecvStream::new(id, self.stream_limit);
                self.streams.insert(position, stream);
                position
            }
        };
        Some(&mut self.streams[position])
    }

    /// Stream `id`, if it is known and not removed.
    pub(crate) fn stream(&mut self, id: StreamId) -> Option<&mut RecvStream> {
        let position = self
            .streams
            .binary_search_by_key(&id, |stream| stream.id)
            .ok()?;
        Some(&mut self.streams[position])
    }

    /// All streams that are not removed.
    pub(crate) fn streams(&mut self) -> impl Iterator<Item = &mut RecvStream> {
        self.streams.iter_mut()
    }

    /// Whether any stream has a control frame to send.
    pub(crate) fn has_control(&self) -> bool {
        let due = |stream: &RecvStream| stream.limit_pending || stream.stop_pending;
        self.streams.iter().any(due)
    }

    /// Removes ended streams below the oldest open one. A stream without any frame yet is open: its
    /// packets may be late (RFC 9000 section 3.2).
    fn forget(&mut self) {
        while let Some(stream) = self.streams.front()
            && stream.ended
            && stream.id == self.closed_below
        {
            self.closed_below = stream.id + 1;
            self.streams.pop_front();
        }
    }
}
