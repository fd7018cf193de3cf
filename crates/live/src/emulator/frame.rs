//! A packet in a link: a segment of what a host handed over, and the mark that it has got since.
//!
//! The link sees the size of the IP packet with all its headers, the ECN bits of the IP header and a flow number.

use super::super_packet::{Offload, SuperPacket};
use bytes::{Bytes, BytesMut};
use std::rc::Rc;
use thalweg_units::Ecn;

/// The largest packet.
pub(crate) const MTU: usize = 1500;

/// A packet in transit.
#[derive(Debug)]
pub(crate) struct Frame {
    packet: Rc<SuperPacket>,
    segment: usize,
    ecn: Ecn,
    flow: u64,
    /// Its destination.
    pub(crate) to: usize,
    /// Number of packets read before it: its name in logs.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests keep a log"))]
    pub(crate) number: u64,
}

impl Frame {
    /// The packets that a host has handed over at once, of this flow and for this destination. They are numbered from
    /// `number` on.
    pub(crate) fn all_of(
        packet: SuperPacket,
        flow: u64,
        to: usize,
        number: u64,
    ) -> impl Iterator<Item = Frame> {
        let packet = Rc::new(packet);
        (0..packet.segments()).map(move |segment| Frame {
            ecn: packet.headers.ecn,
            packet: Rc::clone(&packet),
            segment,
            flow,
            to,
            number: number + segment as u64,
        })
    }

    /// Whether it may be written together with `before`, right behind it.
    pub(crate) fn continues(&self, before: &Frame) -> bool {
        Rc::ptr_eq(&self.packet, &before.packet)
            && self.segment == before.segment + 1
            && self.ecn == before.ecn
    }

    /// Bytes above the header of TCP or UDP.
    pub(crate) fn payload(&self) -> thalweg_units::Bytes {
        thalweg_units::Bytes::new(self.packet.payload_of(self.segment) as u64)
    }

    /// Whether it is of IPv6.
    pub(crate) fn is_v6(&self) -> bool {
        self.packet.headers.source.is_ipv6()
    }

    /// Appends its first bytes to `room`, at most `most`; `head` is for what comes between.
    pub(crate) fn copy_to(&self, most: usize, head: &mut Vec<u8>, room: &mut Vec<u8>) {
        let rest = self.write_with(1, head);
        let packet = head[Offload::LENGTH..].iter().chain(rest);
        room.extend(packet.take(most));
    }

    /// What to write for it and those that continue it, `count` in all: `head`, and the bytes returned.
    pub(crate) fn write_with(&self, count: usize, head: &mut Vec<u8>) -> &[u8] {
        let run = self.segment..self.segment + count;
        self.packet.run(run, self.ecn, head)
    }
}

impl thalweg_path::Packet for Frame {
    fn size(&self) -> thalweg_units::Bytes {
        thalweg_units::Bytes::new(self.packet.length_of(self.segment) as u64)
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }
    fn flow(&self) -> u64 {
        self.flow
    }
}

/// Memory for what is read, in large pieces. Each packet takes as much of a piece as it needs, and a piece lives as long
/// as any packet in it.
#[derive(Debug, Default)]
pub(crate) struct Memory(BytesMut);

impl Memory {
    /// Packets of the largest size that share a piece.
    const SHARE: usize = 4;

    /// Room for `most` bytes.
    pub(crate) fn room(&mut self, most: usize) -> &mut [u8] {
        if self.0.len() < most {
            self.0 = BytesMut::zeroed(Self::SHARE * most);
        }
        &mut self.0[..most]
    }

    /// The first `length` bytes of the room.
    pub(crate) fn take(&mut self, length: usize) -> Bytes {
        self.0.split_to(length).freeze()
    }
}
