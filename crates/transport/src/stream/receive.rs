//! The receiving half of a stream (RFC 9000 section 3.2).

use crate::packet::StreamId;
use crate::stream::flow_control;
use crate::stream::range_set::RangeSet;
use thalweg_control::PathState;

/// The end of a stream whose length is not known.
const UNKNOWN: u64 = u64::MAX;

#[derive(Debug)]
#[repr(align(64))] // one cache line
pub(crate) struct RecvStream {
    pub(crate) id: StreamId,
    received: RangeSet,
    /// Length, or [`UNKNOWN`].
    end: u64,
    limit: u64,
    /// A MAX_STREAM_DATA frame is due.
    pub(crate) limit_pending: bool,
    /// A STOP_SENDING frame is due.
    pub(crate) stop_pending: bool,
    /// Finished for the application: complete, reset or stopped.
    pub(crate) closed: bool,
    /// The sender has ended it, by its last byte or by a reset: it may be removed.
    pub(crate) ended: bool,
}

/// What a frame changed in the stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FrameEffect {
    /// Bytes never seen before.
    pub(crate) new: u64,
    /// Whether more can be read in order than before.
    pub(crate) readable: bool,
    /// Whether the stream is now complete.
    pub(crate) complete: bool,
}

impl RecvStream {
    pub(crate) fn new(id: StreamId, limit: u64) -> Self {
        RecvStream {
            id,
            received: RangeSet::default(),
            end: UNKNOWN,
            limit,
            limit_pending: false,
            stop_pending: false,
            closed: false,
            ended: false,
        }
    }

    /// Bytes that can be read in order.
    pub(crate) fn contiguous(&self) -> u64 {
        self.received.prefix()
    }

    pub(crate) fn on_frame(
        &mut self,
        offset: u64,
        len: u16,
        fin: bool,
        path: &PathState,
    ) -> FrameEffect {
        let end = offset + u64::from(len);
        let before = self.received.prefix();
        let new = self.received.insert(offset, end);
        let had_end = self.end != UNKNOWN;
        if fin {
            self.end = end;
        }
        let after = self.received.prefix();
        self.ended |= self.end == after;
        if self.closed {
            return FrameEffect {
                new,
                readable: false,
                complete: false,
            };
        }
        if after >= self.limit / 2 && self.end == UNKNOWN {
            self.limit = flow_control::grown(self.limit, path.min_rtt);
            self.limit_pending = true;
        }
        self.closed = self.ended;
        FrameEffect {
            new,
            readable: after > before || (self.closed && !had_end),
            complete: self.closed,
        }
    }

    /// Whether bytes from `offset` to `end` come next and mean nothing else: no end of the stream, no new limit.
    #[inline]
    pub(crate) fn expects(&self, offset: u64, end: u64) -> bool {
        let open = !self.closed && self.end == UNKNOWN;
        open && end < self.limit / 2 && self.received.ends_at(offset)
    }

    /// Accepts the expected bytes up to `end`.
    #[inline]
    pub(crate) fn append(&mut self, end: u64) {
        self.received.append(end);
    }

    /// The sender has reset the stream after `final_size` bytes. Returns how many of them will never
    /// arrive: they count for the credit of the connection as if they had (RFC 9000 section 4.5).
    pub(crate) fn on_reset(&mut self, final_size: u64) -> u64 {
        (self.closed, self.ended) = (true, true);
        self.stop_pending = false;
        self.received.insert(0, final_size)
    }

    /// The limit for a MAX_STREAM_DATA frame; clears the pending flag.
    pub(crate) fn take_update(&mut self) -> u64 {
        self.limit_pending = false;
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_takes_one_cache_line() {
        // ranges 40, end 8, limit 8, number 4, four flags
        assert_eq!(size_of::<RecvStream>(), 64);
    }
}
