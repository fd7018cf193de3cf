//! The sending half of a stream (RFC 9000 section 3.1).

use crate::packet::{Frame, StreamId};
use crate::stream::range_set::RangeSet;
use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) struct SendStream {
    pub(crate) id: StreamId,
    /// Lower is more urgent.
    pub(crate) priority: u8,
    /// Whether streams of one priority are served in round robin, or in the order of their numbers
    /// (the `incremental` parameter of RFC 9218 section 4.2).
    pub(crate) incremental: bool,
    /// When it was last served, as a count; the least recently served goes first.
    pub(crate) served: u64,
    written: u64,
    fin: bool,
    sent: u64,
    fin_sent: bool,
    fin_acked: bool,
    /// The peer's limit.
    pub(crate) peer_limit: u64,
    /// Lost ranges, in the order in which they were lost.
    lost: VecDeque<(u64, u64)>,
    acked: RangeSet,
    /// Reset: nothing more is sent.
    pub(crate) reset: bool,
    /// A RESET_STREAM frame is due.
    pub(crate) reset_pending: bool,
    /// The RESET_STREAM frame was acknowledged.
    pub(crate) reset_acked: bool,
}

/// Where stream `id` is in a list sorted by number.
#[inline]
pub(crate) fn place_of(streams: &[SendStream], id: StreamId) -> Option<usize> {
    match streams.last() {
        // The newest stream is the likeliest, and often the only one.
        Some(newest) if newest.id == id => Some(streams.len() - 1),
        _ => streams.binary_search_by_key(&id, |stream| stream.id).ok(),
    }
}

impl SendStream {
    pub(crate) fn new(id: StreamId, priority: u8, incremental: bool, peer_limit: u64) -> Self {
        SendStream {
            id,
            priority,
            incremental,
            served: 0,
            written: 0,
            fin: false,
            sent: 0,
            fin_sent: false,
            fin_acked: false,
            peer_limit,
            lost: VecDeque::new(),
            acked: RangeSet::default(),
            reset: false,
            reset_pending: false,
            reset_acked: false,
        }
    }

    pub(crate) fn write(&mut self, bytes: u64, fin: bool) {
        self.written += bytes;
        self.fin |= fin;
    }

    /// The application takes back what has not been sent, and the end with it; nothing, if all has been sent.
    pub(crate) fn take_back(&mut self) -> u64 {
        let left = self.written - self.sent;
        if left > 0 {
            self.written = self.sent;
            self.fin = false;
        }
        left
    }

    /// The application or the peer has stopped it.
    pub(crate) fn abandon(&mut self) {
        self.reset = true;
        self.reset_pending = true;
        self.lost.clear();
    }

    /// Bytes sent so far, each counted once.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    fn needs_fin(&self) -> bool {
        self.fin && !self.fin_sent && self.sent == self.written
    }

    /// Whether a frame can be made, given the credit of the connection.
    pub(crate) fn is_ready(&self, credit: u64) -> bool {
        let fresh = self.sent < self.written.min(self.peer_limit) && credit > 0;
        !self.reset && (!self.lost.is_empty() || fresh || self.needs_fin())
    }

    /// Builds a frame of at most `room` bytes; returns it and how many bytes of it are new.
    pub(crate) fn take_frame(&mut self, room: u32, credit: u64) -> Option<(Frame, u64)> {
        let room = u64::from(room);
        if !self.lost.is_empty()
            && let Some(frame) = self.repeat_lost(room)
        {
            return Some((frame, 0));
        }
        let to = self
            .written
            .min(self.peer_limit)
            .min(self.sent + room.min(credit));
        let (from, new) = (self.sent, to - self.sent);
        self.sent = to;
        let fin = self.needs_fin();
        if new == 0 && !fin {
            return None;
        }
        self.fin_sent |= fin;
        Some((self.frame(from, to, fin), new))
    }

    /// A frame of lost data, if any of it is still missing.
    #[inline(never)] // so that it takes no registers from a frame of new data
    fn repeat_lost(&mut self, room: u64) -> Option<Frame> {
        while let Some((start, end)) = self.lost.pop_front() {
            // Data acknowledged since it was declared lost is not retransmitted.
            let Some((from, to)) = self.acked.first_missing(start, end) else {
                continue;
            };
            let to = to.min(from + room);
            if to < end {
                self.lost.push_front((to, end));
            }
            let fin = self.fin && to == self.written && to == self.sent && !self.fin_sent;
            self.fin_sent |= fin;
            return Some(self.frame(from, to, fin));
        }
        None
    }

    /// Whether the peer's limits hold back what has never been sent, if nothing of it can be sent.
    pub(crate) fn is_held(&self) -> bool {
        !self.reset && self.sent < self.written
    }

    /// How many bytes that were never sent may be, if nothing else of it has to leave.
    #[inline]
    pub(crate) fn fresh(&self) -> u64 {
        if self.reset || !self.lost.is_empty() {
            return 0;
        }
        self.written.min(self.peer_limit) - self.sent
    }

    /// Bytes that wait to be sent, anew or again; more than all if the end waits for them.
    pub(crate) fn pending(&self) -> u64 {
        if self.reset {
            return 0;
        }
        let lost = self.lost.iter().map(|(from, to)| to - from);
        lost.sum::<u64>() + self.written.min(self.peer_limit) - self.sent
    }

    /// A frame of `len` of the [`SendStream::fresh`] bytes, which are more.
    #[inline]
    pub(crate) fn take_full(&mut self, len: u16, served: u64) -> Frame {
        self.served = served;
        let from = self.sent;
        self.sent += u64::from(len);
        self.frame(from, self.sent, false)
    }

    fn frame(&self, from: u64, to: u64, fin: bool) -> Frame {
        Frame::Stream {
            id: self.id,
            offset: from,
            len: (to - from) as u16,
            fin,
        }
    }

    pub(crate) fn on_acked(&mut self, offset: u64, len: u16, fin: bool) {
        self.acked.insert(offset, offset + u64::from(len));
        self.fin_acked |= fin;
    }

    pub(crate) fn on_lost(&mut self, offset: u64, len: u16, fin: bool) {
        if self.reset {
            return;
        }
        if fin && !self.fin_acked {
            self.fin_sent = false;
        }
        let end = offset + u64::from(len);
        match self.lost.back_mut() {
            Some(last) if last.1 == offset => last.1 = end,
            _ if len > 0 => self.lost.push_back((offset, end)),
            _ => {}
        }
    }

    /// Whether everything has been acknowledged, so that the stream can be removed.
    pub(crate) fn is_done(&self) -> bool {
        self.reset_acked || (self.fin_acked && self.acked.prefix() == self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(bytes: u64) -> SendStream {
        let mut stream = SendStream::new(0, 9, true, 1 << 20);
        stream.write(bytes, true);
        stream
    }

    #[test]
    fn data_leaves_in_order_and_the_last_frame_ends_the_stream() {
        let mut stream = stream(2500);
        let frame = |offset, len, fin| Frame::Stream {
            id: 0,
            offset,
            len,
            fin,
        };
        assert_eq!(
            stream.take_frame(1406, 9999),
            Some((frame(0, 1406, false), 1406))
        );
        assert_eq!(
            stream.take_frame(1406, 9999),
            Some((frame(1406, 1094, true), 1094))
        );
        assert!(!stream.is_ready(9999));
        stream.on_lost(0, 1406, false);
        assert_eq!(stream.take_frame(1000, 0), Some((frame(0, 1000, false), 0)));
        stream.on_acked(1000, 406, false);
        assert_eq!(stream.take_frame(1000, 0), None);
        stream.on_acked(0, 1000, false);
        assert!(!stream.is_done());
        stream.on_acked(1406, 1094, true);
        assert!(stream.is_done());
    }

    #[test]
    fn a_lost_end_is_sent_again() {
        let mut stream = stream(100);
        stream.take_frame(1406, 9999);
        stream.on_lost(0, 100, true);
        let (frame, new) = stream.take_frame(1406, 0).unwrap();
        assert_eq!(
            (frame, new),
            (
                Frame::Stream {
                    id: 0,
                    offset: 0,
                    len: 100,
                    fin: true
                },
                0
            )
        );
    }

    #[test]
    fn flow_control_holds_new_data_but_not_repeats() {
        let mut stream = stream(5000);
        stream.peer_limit = 1000;
        assert_eq!(stream.take_frame(1406, 600).unwrap().1, 600);
        assert_eq!(stream.take_frame(1406, 9999).unwrap().1, 400);
        assert!(!stream.is_ready(9999));
        stream.on_lost(0, 600, false);
        assert!(stream.is_ready(0));
    }

    #[test]
    fn what_has_not_been_sent_is_taken_back_with_the_end() {
        let mut stream = stream(2500);
        stream.take_frame(1406, 9999).unwrap();
        assert_eq!(stream.take_back(), 1094);
        assert!(!stream.is_ready(9999));
        assert_eq!(stream.take_back(), 0);
        stream.write(10, true);
        let (frame, _) = stream.take_frame(1406, 9999).unwrap();
        assert!(matches!(
            frame,
            Frame::Stream {
                offset: 1406,
                len: 10,
                fin: true,
                ..
            }
        ));
    }
}
