//! Segmentation as the kernel does it in software (`tcp_gso_segment`, `__udp_gso_segment`, `inet_gso_segment`): packet by
//! packet, with finished checksums. Tests set the short way against it.

use super::super::headers::{Headers, TCP};
use super::*;

/// The packets of what was read from a device, or is to be written to one.
pub(crate) fn segmented(read: &[u8]) -> Vec<Vec<u8>> {
    let offload = Offload::read(read).expect("an offload header");
    let packet = &read[Offload::LENGTH..];
    if offload.kind == 0 {
        let mut packet = packet.to_vec();
        if offload.flags & UNFINISHED_CHECKSUM != 0 {
            finish(&mut packet, offload);
        }
        return vec![packet];
    }
    let headers = Headers::read(packet).expect("headers");
    let transport = headers.transport;
    let is_tcp = headers.protocol == TCP;
    assert_eq!(usize::from(offload.checksum_from), transport);
    assert_eq!(offload.checksum_at, if is_tcp { 16 } else { 6 });
    let above = if is_tcp {
        4 * usize::from(packet[transport + 12] >> 4)
    } else {
        8
    };
    let (head, data) = packet.split_at(transport + above);
    assert_eq!(usize::from(offload.headers), head.len());
    let pieces: Vec<&[u8]> = data.chunks(offload.segment.into()).collect();
    let mut packets = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let mut segment = [head, piece].concat();
        let length = segment.len();
        if segment[0] >> 4 == 4 {
            let identification =
                u16::from_be_bytes([segment[4], segment[5]]).wrapping_add(index as u16);
            segment[2..4].copy_from_slice(&(length as u16).to_be_bytes());
            segment[4..6].copy_from_slice(&identification.to_be_bytes());
            segment[10..12].fill(0);
            let sum = !ones_sum(&segment[..transport]);
            segment[10..12].copy_from_slice(&sum.to_be_bytes());
        } else {
            segment[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
        }
        let of_transport = &mut segment[transport..];
        if is_tcp {
            let first = u32::from_be_bytes(of_transport[4..8].try_into().expect("four bytes"));
            let sequence = first.wrapping_add(index as u32 * u32::from(offload.segment));
            of_transport[4..8].copy_from_slice(&sequence.to_be_bytes());
            if index > 0 {
                of_transport[13] &= !0x80;
            }
            if index + 1 < pieces.len() {
                of_transport[13] &= !0x09;
            }
        } else {
            let length = (8 + piece.len()) as u16;
            of_transport[4..6].copy_from_slice(&length.to_be_bytes());
        }
        // The sum that the packet came with, for another length (RFC 1624 section 3).
        let at = usize::from(offload.checksum_at);
        let before = (packet.len() - transport) as u16;
        let now = of_transport.len() as u16;
        let unfinished = [
            &of_transport[at..at + 2],
            &(!before).to_be_bytes(),
            &now.to_be_bytes(),
        ];
        let unfinished = ones_sum(&unfinished.concat());
        of_transport[at..at + 2].copy_from_slice(&unfinished.to_be_bytes());
        finish(&mut segment, offload);
        packets.push(segment);
    }
    packets
}

fn finish(packet: &mut [u8], offload: Offload) {
    let (from, at) = (offload.checksum_from, offload.checksum_at);
    let covered = &mut packet[from.into()..];
    let sum = match !ones_sum(covered) {
        // Zero would say that there is none (RFC 768).
        0 if at == 6 => 0xffff,
        sum => sum,
    };
    let at = usize::from(at);
    covered[at..at + 2].copy_from_slice(&sum.to_be_bytes());
}

/// Whether the checksums of a packet match its bytes: their sums are all ones (RFC 1071).
pub(crate) fn has_true_checksums(packet: &[u8]) -> bool {
    let headers = Headers::read(packet).expect("headers");
    let covered = &packet[headers.transport..];
    let (addresses, header) = match packet[0] >> 4 {
        4 => (&packet[12..20], ones_sum(&packet[..headers.transport])),
        _ => (&packet[8..40], 0xffff),
    };
    let mut all = addresses.to_vec();
    all.extend([0, headers.protocol]);
    all.extend((covered.len() as u16).to_be_bytes());
    all.extend(covered);
    header == 0xffff && ones_sum(&all) == 0xffff
}

/// The sum of 16-bit words in ones' complement.
fn ones_sum(bytes: &[u8]) -> u16 {
    let mut sum = 0u32;
    for pair in bytes.chunks(2) {
        let low = pair.get(1).copied().unwrap_or(0);
        sum += u32::from(pair[0]) << 8 | u32::from(low);
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// A super packet as a host makes it.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) is_v6: bool,
    pub(crate) is_tcp: bool,
    /// Words of options: of IPv4, or eight octets of a header between IPv6 and the transport.
    pub(crate) ip_options: u8,
    pub(crate) tcp_options: u8,
    pub(crate) class: u8,
    pub(crate) identification: u16,
    pub(crate) sequence: u32,
    pub(crate) flags: u8,
    pub(crate) segment: u16,
    pub(crate) data: Vec<u8>,
    /// The last bytes of source and destination.
    pub(crate) hosts: [u8; 2],
}

impl Made {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let above = if self.is_tcp {
            20 + 4 * usize::from(self.tcp_options)
        } else {
            8
        };
        let carried = above + self.data.len();
        let next = if self.is_tcp { TCP } else { UDP };
        let [source, destination] = self.hosts;
        let mut packet = Vec::new();
        if self.is_v6 {
            let options = 8 * usize::from(self.ip_options);
            let first = if options > 0 { 60 } else { next };
            packet.extend([0x60 | self.class >> 4, self.class << 4, 0, 0]);
            packet.extend(((options + carried) as u16).to_be_bytes());
            packet.extend([first, 64]);
            packet.extend([0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, source]);
            packet.extend([
                0x20,
                1,
                0xd,
                0xb8,
                0,
                2,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                destination,
            ]);
            if options > 0 {
                packet.extend([next, self.ip_options - 1]);
                packet.resize(40 + options, 1);
            }
        } else {
            let options = 4 * usize::from(self.ip_options);
            packet.extend([0x45 + self.ip_options, self.class]);
            packet.extend(((20 + options + carried) as u16).to_be_bytes());
            packet.extend(self.identification.to_be_bytes());
            packet.extend([
                0x40,
                0,
                64,
                next,
                0,
                0,
                192,
                0,
                2,
                source,
                198,
                51,
                100,
                destination,
            ]);
            packet.resize(20 + options, 1);
            let sum = !ones_sum(&packet);
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        let transport = packet.len();
        packet.extend([0x27, 0x10, 0, 80]);
        if self.is_tcp {
            packet.extend(self.sequence.to_be_bytes());
            packet.extend([0, 0, 0, 7, (5 + self.tcp_options) << 4, self.flags, 1, 0]);
            packet.extend([0; 4]);
            packet.resize(transport + above, 1);
        } else {
            packet.extend((carried as u16).to_be_bytes());
            packet.extend([0; 2]);
        }
        packet.extend(&self.data);
        let at = if self.is_tcp { 16 } else { 6 };
        let addresses = if self.is_v6 { 8..40 } else { 12..20 };
        let pseudo = [
            &packet[addresses],
            &[0, next],
            &(carried as u16).to_be_bytes(),
        ];
        let unfinished = ones_sum(&pseudo.concat());
        packet[transport + at..transport + at + 2].copy_from_slice(&unfinished.to_be_bytes());
        let is_super = self.data.len() > usize::from(self.segment);
        let kind = match (self.is_tcp, self.is_v6) {
            (true, false) => 1,
            (true, true) => 4,
            (false, _) => 5,
        };
        let cwr = if self.is_tcp && self.flags & 0x80 != 0 {
            0x80
        } else {
            0
        };
        let offload = Offload {
            flags: 1,
            kind: if is_super { kind | cwr } else { 0 },
            headers: (transport + above) as u16,
            segment: if is_super { self.segment } else { 0 },
            checksum_from: transport as u16,
            checksum_at: at as u16,
        };
        [&offload.write()[..], &packet].concat()
    }
}
