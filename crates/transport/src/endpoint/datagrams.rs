//! Datagrams of the application (RFC 9221), which a transport does not repeat: whoever sends them may.

use super::Endpoint;
use crate::AppEvent;
use crate::packet::{
    ACK_FRAME_SIZE, DATAGRAM_FRAME_OVERHEAD, Frame, MAX_FRAMES, PACKET_OVERHEAD, used,
};
use thalweg_units::Instant;

impl Endpoint {
    /// Queues a datagram of `len` bytes; the receiving application gets its `tag`. A datagram larger than
    /// a packet is truncated.
    pub fn send_datagram(&mut self, len: u32, tag: u64, priority: u8) {
        self.end_rest();
        self.datagrams
            .push(priority, tag, len.min(self.largest_datagram()));
    }

    /// Sends a datagram again that was lost: before all others of its priority, as lost data of streams, and only
    /// until `until`. One that is still here then is reported by [`AppEvent::DatagramExpired`].
    pub fn repeat_datagram(&mut self, len: u32, tag: u64, priority: u8, until: Instant) {
        self.end_rest();
        self.datagrams.push_first(priority, tag, len, until);
    }

    /// Has [`AppEvent::DatagramLost`] report the datagrams that are lost from now on (RFC 9221 section 5.2: a sender
    /// may tell its application).
    pub fn report_lost_datagrams(&mut self) {
        self.datagrams.reports_losses = true;
    }

    /// Gives each datagram from now on a packet of its own, so that a loss takes one of them, as of RTP over UDP.
    pub fn keep_datagrams_apart(&mut self) {
        self.datagrams.are_apart = true;
    }

    /// A packet with these frames is lost.
    #[inline(never)] // of few senders
    pub(super) fn lose_datagrams(&mut self, frames: &[Frame; MAX_FRAMES]) {
        for frame in used(frames) {
            if let Frame::Datagram { tag, len } = *frame {
                self.events.push_back(AppEvent::DatagramLost { tag, len });
            }
        }
    }

    /// Drops datagrams which are of no use any more.
    #[cold]
    pub(super) fn expire_datagrams(&mut self, now: Instant) {
        let events = &mut self.events;
        self.datagrams.expire(now, |tag, len| {
            events.push_back(AppEvent::DatagramExpired { tag, len });
        });
    }

    /// The largest datagram that fits a packet of any size that this path has been used with.
    fn largest_datagram(&self) -> u32 {
        let mtu = self.config.initial_mtu.as_u64() as u32;
        mtu - PACKET_OVERHEAD - ACK_FRAME_SIZE - DATAGRAM_FRAME_OVERHEAD
    }
}
