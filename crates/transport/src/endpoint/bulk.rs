//! Short ways for the usual packet of bulk data, at both ends.
//!
//! A short way does what the long one in `receive.rs` or `transmit.rs` does, for a fraction of the instructions, or
//! refuses and changes nothing. `tests/connection/short_ways.rs` runs both side by side.

use super::{Closing, Endpoint};
use crate::limits::LimitedBy;
use crate::packet::{Frame, Kind, PACKET_OVERHEAD, Packet, STREAM_FRAME_OVERHEAD};
use thalweg_units::Instant;

/// Where the packets of an endpoint go. No closure, since only what has a name can be told to be inlined.
pub trait Outlet {
    /// A packet leaves.
    fn send(&mut self, packet: Packet);
}

impl Endpoint {
    /// What [`Endpoint::receive`] does with the packet that has the next number and the next bytes of the newest stream,
    /// while there is nothing to send and nothing to tell the application. It leaves [`Endpoint::next`] as it is.
    /// False, and nothing is changed, for any other.
    #[inline]
    pub fn receive_next(&mut self, now: Instant, packet: &Packet) -> bool {
        let [
            Frame::Stream {
                id,
                offset,
                len,
                fin: false,
            },
            Frame::None,
            _,
        ] = packet.frames
        else {
            return false;
        };
        let (numbered, bytes) = (
            (packet.number, packet.ecn),
            (offset, offset + u64::from(len)),
        );
        let is_usual = self.at_rest.is_some()
            && packet.kind == Kind::Data
            && packet.ack.is_none()
            && self.receiver.take_next(now, numbered, id, bytes);
        if is_usual {
            self.handshake.on_received(packet.size);
        }
        is_usual
    }

    /// Gives all packets that may leave now to `outlet`: what [`Endpoint::transmit`] returns until it has nothing.
    #[inline]
    pub fn transmit_all(&mut self, now: Instant, outlet: &mut impl Outlet) {
        if self.rests(now) || self.sends_one_stream() && self.transmit_full(now, outlet) {
            return;
        }
        self.transmit_others(now, outlet);
    }

    #[inline(never)] // so that the usual packet is made where it goes
    fn transmit_others(&mut self, now: Instant, outlet: &mut impl Outlet) {
        while let Some(packet) = self.transmit(now) {
            outlet.send(packet);
        }
    }

    /// Whether only data of one stream can leave.
    #[inline]
    fn sends_one_stream(&self) -> bool {
        let other = self.handshake.finished_pending
            | self.mtu_probe_pending
            | self.ack_frequency_pending
            | self.resets_due
            | self.receiver.granted.pending
            | self.receiver.control_due
            | self.receiver.acks.has_news();
        !other
            && self.probes == 0
            && self.is_complete()
            && self.closing == Closing::Open
            && self.at_rest.is_none()
            && self.datagrams.front().is_none()
            && self.send_streams.len() == 1
    }

    /// Full packets of one stream, as window and pacer allow. Whether nothing is left that may leave now.
    #[inline]
    fn transmit_full(&mut self, now: Instant, outlet: &mut impl Outlet) -> bool {
        debug_assert!(
            self.handshake.validated,
            "so that no amplification is to be limited"
        );
        let size = self.sender.path.mtu.as_u64() as u32;
        let len = size - PACKET_OVERHEAD - STREAM_FRAME_OVERHEAD;
        loop {
            // More than a packet: the end of the data may come with the end of the stream.
            let left = self.send_streams[0].fresh().min(self.credit.left());
            if left <= u64::from(len) || self.sender.path.bytes_in_flight.is_zero() {
                return false;
            }
            let in_window = self.fits_window(size, now);
            self.sender.path.window_limited = !in_window;
            if !in_window || !self.pacer.is_ready(now) {
                self.pacing = in_window;
                let by = match in_window {
                    true => LimitedBy::Pacing,
                    false => LimitedBy::Window,
                };
                self.wait_for(now, by);
                return true;
            }
            self.serving += 1;
            self.credit.sent += u64::from(len);
            let frame = self.send_streams[0].take_full(len as u16, self.serving);
            let frames = [frame, Frame::None, Frame::None];
            let (number, ecn) = self.register(now, size, size, &frames);
            outlet.send(Packet {
                kind: Kind::Data,
                ecn,
                size,
                number,
                ack: None,
                frames,
            });
        }
    }
}
