//! What a host hands to its device at once: a packet, or several segments of one flow that it left uncut.
//!
//! # Model
//! The kernel spares itself work that a device can do (`struct virtio_net_hdr`, linux/virtio_net.h): it hands over
//! up to 64 KiB of a TCP or UDP flow as one *super packet* with the size of its segments, and leaves checksums
//! unfinished. A link drops, delays and marks each segment by itself, so a super packet is only cut in mind: a
//! segment is its number, and the bytes stay where they were read. Segments that leave together, unchanged in their
//! order and alike in their mark, are written as one super packet again (a *run*), with the headers that its first
//! segment would have had.
//!
//! Segment `i` starts `i` times the size of a segment after the first. In TCP its sequence number is higher by as much,
//! CWR belongs to the first segment (RFC 3168 section 6.1.2), FIN and PSH to the last; the IPv4 identification counts
//! up. In UDP each segment is a datagram.
//!
//! # Checksums
//! An unfinished checksum holds the sum over the pseudo-header (RFC 9293 section 3.1, RFC 768), and the kernel that
//! reads the packet knows that nothing can have damaged it on this machine. A checksum that the host has finished is
//! carried as it is.

use super::headers::{Headers, TCP, UDP, write_ecn};
use bytes::Bytes;
use std::net::IpAddr;
use std::ops::Range;
use thalweg_units::Ecn;

/// The most bytes that one read returns: the largest IP packet, after its offload header.
pub(crate) const MOST: usize = Offload::LENGTH + u16::MAX as usize;

/// Bits of `flags` and values of `gso_type` of `struct virtio_net_hdr`.
const UNFINISHED_CHECKSUM: u8 = 1;
const TCP_V4: u8 = 1;
const TCP_V6: u8 = 4;
const UDP_DATAGRAMS: u8 = 5;
const WITH_CWR: u8 = 0x80;

/// Bits of the TCP header, in its 13th byte.
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// `struct virtio_net_hdr`, which precedes each packet, in the byte order of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offload {
    pub(crate) flags: u8,
    pub(crate) kind: u8,
    /// Bytes that the kernel keeps in one piece: the headers of a super packet, and all of a single packet, which then
    /// costs it half the memory.
    pub(crate) headers: u16,
    pub(crate) segment: u16,
    pub(crate) checksum_from: u16,
    pub(crate) checksum_at: u16,
}

impl Offload {
    pub(crate) const LENGTH: usize = 10;

    fn read(bytes: &[u8]) -> Option<Offload> {
        let &[flags, kind, a, b, c, d, e, f, g, h] = bytes.first_chunk()?;
        Some(Offload {
            flags,
            kind,
            headers: u16::from_ne_bytes([a, b]),
            segment: u16::from_ne_bytes([c, d]),
            checksum_from: u16::from_ne_bytes([e, f]),
            checksum_at: u16::from_ne_bytes([g, h]),
        })
    }

    pub(crate) fn write(self) -> [u8; Offload::LENGTH] {
        let [a, b] = self.headers.to_ne_bytes();
        let [c, d] = self.segment.to_ne_bytes();
        let [e, f] = self.checksum_from.to_ne_bytes();
        let [g, h] = self.checksum_at.to_ne_bytes();
        [self.flags, self.kind, a, b, c, d, e, f, g, h]
    }
}

/// One packet, or several uncut segments.
#[derive(Debug)]
pub(crate) struct SuperPacket {
    /// As read: the offload header, then the packet.
    bytes: Bytes,
    pub(crate) headers: Headers,
    cut: Option<Cut>,
}

/// Where to cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// Value of `gso_type`, without CWR.
    kind: u8,
    /// Where the data of the first segment begins.
    data: usize,
    /// Bytes of data of each segment but the last.
    size: usize,
}

impl SuperPacket {
    /// Reads what a device returned; `None` if it is neither IPv4 nor IPv6, too short, or to be cut in a way that was
    /// not offered to the host.
    pub(crate) fn read(bytes: Bytes) -> Option<SuperPacket> {
        let offload = Offload::read(&bytes)?;
        let packet = &bytes[Offload::LENGTH..];
        let headers = Headers::read(packet)?;
        let cut = match offload.kind {
            0 => None,
            _ => Some(Cut::of(offload, &headers, packet)?),
        };
        Some(SuperPacket {
            bytes,
            headers,
            cut,
        })
    }

    fn packet(&self) -> &[u8] {
        &self.bytes[Offload::LENGTH..]
    }

    /// All of it, as read.
    pub(crate) fn as_read(&self) -> &[u8] {
        &self.bytes
    }

    /// How many packets it is for a link.
    pub(crate) fn segments(&self) -> usize {
        let Some(cut) = self.cut else { return 1 };
        (self.packet().len() - cut.data).div_ceil(cut.size)
    }

    /// Bytes of a segment as an IP packet with headers of its own.
    pub(crate) fn length_of(&self, segment: usize) -> usize {
        let Some(cut) = self.cut else {
            return self.packet().len();
        };
        let rest = self.packet().len() - cut.data - segment * cut.size;
        cut.data + rest.min(cut.size)
    }

    /// Bytes of a segment above the header of TCP or UDP; of other protocols above the header of IP.
    pub(crate) fn payload_of(&self, segment: usize) -> usize {
        let length = self.length_of(segment);
        if let Some(cut) = self.cut {
            return length - cut.data;
        }
        let transport = self.headers.transport;
        let above = self.packet().get(transport..).unwrap_or_default();
        let header = match (self.headers.protocol, above.get(12)) {
            (TCP, Some(offset)) => 4 * usize::from(offset >> 4),
            (UDP, _) => 8,
            _ => 0,
        };
        length.saturating_sub(transport + header)
    }

    /// What to write for the segments `run`, marked `ecn`: the offload header and headers, which replace what is in
    /// `head`, and the bytes after them.
    pub(crate) fn run(&self, run: Range<usize>, ecn: Ecn, head: &mut Vec<u8>) -> &[u8] {
        head.clear();
        let packet = self.packet();
        let Some(cut) = self.cut else {
            let fixed = match self.headers.source {
                IpAddr::V4(_) => 20,
                IpAddr::V6(_) => 40,
            };
            head.extend_from_slice(&self.bytes[..Offload::LENGTH + fixed]);
            head[2..4].copy_from_slice(&(packet.len() as u16).to_ne_bytes());
            if ecn != self.headers.ecn {
                write_ecn(&mut head[Offload::LENGTH..], ecn);
            }
            return &packet[fixed..];
        };
        let skipped = run.start * cut.size;
        let end = packet.len().min(cut.data + run.end * cut.size);
        let data = &packet[cut.data + skipped..end];
        head.extend_from_slice(&[0; Offload::LENGTH]);
        head.extend_from_slice(&packet[..cut.data]);
        let (offload, headers) = head.split_at_mut(Offload::LENGTH);
        let transport = self.headers.transport;
        let (ip, above) = headers.split_at_mut(transport);
        let length = (above.len() + data.len()) as u16;
        let checksum_at = if cut.kind == UDP_DATAGRAMS {
            above[4..6].copy_from_slice(&length.to_be_bytes());
            6
        } else {
            let sequence = [above[4], above[5], above[6], above[7]];
            let sequence = u32::from_be_bytes(sequence).wrapping_add(skipped as u32);
            above[4..8].copy_from_slice(&sequence.to_be_bytes());
            if run.start > 0 {
                above[13] &= !CWR;
            }
            if end < packet.len() {
                above[13] &= !(FIN | PSH);
            }
            16
        };
        let sum = pseudo_header(&self.headers, length);
        above[checksum_at..checksum_at + 2].copy_from_slice(&sum.to_be_bytes());
        let is_tcp = cut.kind != UDP_DATAGRAMS;
        let cwr = if is_tcp && above[13] & CWR != 0 {
            WITH_CWR
        } else {
            0
        };
        let is_super = run.len() > 1;
        let in_one_piece = cut.data + if is_super { 0 } else { data.len() };
        let described = Offload {
            flags: UNFINISHED_CHECKSUM,
            kind: if is_super { cut.kind | cwr } else { 0 },
            headers: in_one_piece as u16,
            segment: if is_super { cut.size as u16 } else { 0 },
            checksum_from: transport as u16,
            checksum_at: checksum_at as u16,
        };
        offload.copy_from_slice(&described.write());
        rewrite_ip(ip, length, run.start as u16, ecn);
        data
    }
}

impl Cut {
    fn of(offload: Offload, headers: &Headers, packet: &[u8]) -> Option<Cut> {
        let kind = offload.kind & !WITH_CWR;
        let above = packet.get(headers.transport..)?;
        let least = match headers.source {
            IpAddr::V4(_) => 20,
            IpAddr::V6(_) => 40,
        };
        let length = match (kind, headers.protocol, headers.source) {
            (TCP_V4, TCP, IpAddr::V4(_)) | (TCP_V6, TCP, IpAddr::V6(_)) => {
                Some(4 * usize::from(*above.get(12)? >> 4)).filter(|length| *length >= 20)?
            }
            (UDP_DATAGRAMS, UDP, _) => 8,
            _ => return None,
        };
        let data = headers.transport + length;
        let is_whole = headers.transport >= least && data < packet.len() && offload.segment > 0;
        is_whole.then_some(Cut {
            kind,
            data,
            size: usize::from(offload.segment),
        })
    }
}

/// Sets what differs in the IP header of a segment: the length, from the length of what it carries, the identification,
/// higher by `skipped`, and the mark.
fn rewrite_ip(ip: &mut [u8], carried: u16, skipped: u16, ecn: Ecn) {
    if ip[0] >> 4 == 6 {
        // Extension headers count as payload (RFC 8200 section 3).
        let length = (ip.len() - 40) as u16 + carried;
        ip[4..6].copy_from_slice(&length.to_be_bytes());
        write_ecn(ip, ecn);
        return;
    }
    let length = ip.len() as u16 + carried;
    ip[2..4].copy_from_slice(&length.to_be_bytes());
    let identification = u16::from_be_bytes([ip[4], ip[5]]).wrapping_add(skipped);
    ip[4..6].copy_from_slice(&identification.to_be_bytes());
    ip[10..12].copy_from_slice(&[0; 2]);
    let sum = fold(sum(ip));
    ip[10..12].copy_from_slice(&(!sum).to_be_bytes());
    write_ecn(ip, ecn);
}

/// The sum over the pseudo-header of a packet whose transport header and data have this length.
fn pseudo_header(headers: &Headers, length: u16) -> u16 {
    let of_address = |address: IpAddr| match address {
        IpAddr::V4(address) => sum(&address.octets()),
        IpAddr::V6(address) => sum(&address.octets()),
    };
    let addresses = of_address(headers.source) + of_address(headers.destination);
    fold(addresses + u32::from(headers.protocol) + u32::from(length))
}

/// The sum of 16-bit words of RFC 1071, with its carries still above.
fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks(2).map(|pair| match *pair {
        [high, low] => u16::from_be_bytes([high, low]),
        _ => u16::from_be_bytes([pair[0], 0]),
    });
    words.map(u32::from).sum()
}

/// Adds the carries (RFC 1071).
fn fold(sum: u32) -> u16 {
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

#[cfg(test)]
mod by_kernel;
#[cfg(test)]
pub(crate) mod long_way;
#[cfg(test)]
mod tests;
