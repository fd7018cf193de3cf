//! What the emulator reads in the headers of an IP packet, and what it changes.
//!
//! A mark changes only the ECN bits of the IP header and keeps the DSCP; the IPv4 checksum is updated
//! incrementally (RFC 1624 section 3), IPv6 has none.
//!
//! The flow number is a hash of the 5-tuple (addresses, protocol, ports), so that fair queues classify
//! as a router does. Protocols without ports, and all fragments of a datagram, count as one flow between
//! their addresses: only the first fragment has the ports.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;
use thalweg_random::{Fnv1a, mix};
use thalweg_units::Ecn;

pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;
const SCTP: u8 = 132;

/// The fields of the headers of a packet that the emulator needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Headers {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) ecn: Ecn,
    pub(super) protocol: u8,
    /// Where the header of the transport begins.
    pub(super) transport: usize,
    /// Source and destination.
    ports: Option<[u16; 2]>,
}

impl Headers {
    /// Reads the headers of a packet; `None` if it is neither IPv4 nor IPv6, or too short.
    pub(crate) fn read(packet: &[u8]) -> Option<Headers> {
        match packet.first()? >> 4 {
            4 => Headers::read_v4(packet),
            6 => Headers::read_v6(packet),
            _ => None,
        }
    }

    /// RFC 791 section 3.1.
    fn read_v4(packet: &[u8]) -> Option<Headers> {
        let header: &[u8; 20] = packet.first_chunk()?;
        let words = usize::from(header[0] & 0xf);
        // More fragments, or an offset: bits 13 and 0 to 12 of the fourth word.
        let whole = u16::from_be_bytes([header[6], header[7]]) & 0x3fff == 0;
        let payload = packet.get(4 * words..)?;
        let address = |at: usize| {
            let bytes: [u8; 4] = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            IpAddr::V4(Ipv4Addr::from(bytes))
        };
        Some(Headers {
            source: address(12),
            destination: address(16),
            ecn: Ecn::from_bits(header[1]),
            protocol: header[9],
            transport: 4 * words,
            ports: whole.then(|| ports(header[9], payload)).flatten(),
        })
    }

    /// RFC 8200 sections 3 and 4.
    fn read_v6(packet: &[u8]) -> Option<Headers> {
        let header: &[u8; 40] = packet.first_chunk()?;
        let address = |range: Range<usize>| {
            let bytes: [u8; 16] = header[range].try_into().ok()?;
            Some(IpAddr::V6(Ipv6Addr::from(bytes)))
        };
        let (mut protocol, mut payload, mut whole) = (header[6], &packet[40..], true);
        loop {
            protocol = match protocol {
                // Hop-by-hop options, routing, destination options: length in 8 octets after the first.
                0 | 43 | 60 => {
                    let (Some(&next), Some(&length)) = (payload.first(), payload.get(1)) else {
                        break;
                    };
                    payload = payload
                        .get(8 * (1 + usize::from(length))..)
                        .unwrap_or_default();
                    next
                }
                // Fragment: of fixed length.
                44 => {
                    let Some(&next) = payload.first() else { break };
                    whole = false;
                    payload = payload.get(8..).unwrap_or(&[]);
                    next
                }
                _ => break,
            };
        }
        Some(Headers {
            source: address(8..24)?,
            destination: address(24..40)?,
            ecn: Ecn::from_bits(header[1] >> 4),
            protocol,
            transport: packet.len() - payload.len(),
            ports: whole.then(|| ports(protocol, payload)).flatten(),
        })
    }

    /// The port that identifies a connection, of either end, if it is within `known`.
    pub(crate) fn port_within(&self, known: &Range<u16>) -> Option<u16> {
        let [source, destination] = self.ports?;
        [destination, source]
            .into_iter()
            .find(|port| known.contains(port))
    }

    /// A hash of the 5-tuple, the same for all packets of a flow in one direction.
    pub(crate) fn hash(&self) -> u64 {
        let mut hash = Fnv1a::EMPTY;
        for address in [self.source, self.destination] {
            hash = match address {
                IpAddr::V4(address) => hash.and(&address.octets()),
                IpAddr::V6(address) => hash.and(&address.octets()),
            };
        }
        hash = hash.and(&[self.protocol]);
        for port in self.ports.unwrap_or_default() {
            hash = hash.and(&port.to_be_bytes());
        }
        mix(hash.value()) // queues take the low bits
    }
}

fn ports(protocol: u8, payload: &[u8]) -> Option<[u16; 2]> {
    if !matches!(protocol, TCP | UDP | SCTP) {
        return None;
    }
    let [a, b, c, d] = *payload.first_chunk()?;
    Some([u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])])
}

/// Sets the ECN bits of a packet.
pub(super) fn write_ecn(packet: &mut [u8], ecn: Ecn) {
    let bits = ecn as u8;
    match packet.first().map(|first| first >> 4) {
        Some(4) => {
            let Some(header) = packet.first_chunk_mut::<20>() else {
                return;
            };
            let before = u16::from_be_bytes([header[0], header[1]]);
            header[1] = header[1] & !0b11 | bits;
            let after = u16::from_be_bytes([header[0], header[1]]);
            // RFC 1624 equation 3: HC' = ~(~HC + ~m + m').
            let checksum = u16::from_be_bytes([header[10], header[11]]);
            let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
            let sum = (sum & 0xffff) + (sum >> 16);
            let sum = (sum & 0xffff) + (sum >> 16);
            [header[10], header[11]] = (!(sum as u16)).to_be_bytes();
        }
        // The traffic class straddles the first two bytes; its low bits are bits 5 and 4 of the second.
        Some(6) if packet.len() >= 2 => packet[1] = packet[1] & !0b0011_0000 | bits << 4,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An IPv4 header with a correct checksum, and eight bytes of a transport header.
    fn v4(tos: u8, protocol: u8, fragment: u16, ports: [u16; 2]) -> Vec<u8> {
        let mut packet = vec![0x45, tos, 0, 28, 0, 7, 0, 0, 64, protocol, 0, 0];
        packet.extend([192, 0, 2, 1, 198, 51, 100, 1]);
        packet.extend(ports.map(u16::to_be_bytes).concat());
        packet.extend([0; 4]);
        packet[6..8].copy_from_slice(&fragment.to_be_bytes());
        let sum = !checksum(&packet[..20]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    fn v6(class: u8, next: u8, rest: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x60 | class >> 4, class << 4, 0, 0, 0, 0, next, 64];
        packet.extend(
            "2001:db8:1::1"
                .parse::<Ipv6Addr>()
                .unwrap_or(Ipv6Addr::LOCALHOST)
                .octets(),
        );
        packet.extend(
            "2001:db8:2::1"
                .parse::<Ipv6Addr>()
                .unwrap_or(Ipv6Addr::LOCALHOST)
                .octets(),
        );
        packet.extend(rest);
        packet
    }

    /// The sum of RFC 1071: all ones for a header with a correct checksum.
    fn checksum(header: &[u8]) -> u16 {
        let mut sum: u32 = header
            .chunks(2)
            .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
            .sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    proptest! {
        #[test]
        fn a_mark_of_ipv4_keeps_the_dscp_and_a_right_checksum(
            tos in any::<u8>(), bits in 0u8..4, first in any::<u16>(), second in any::<u16>()
        ) {
            let mut packet = v4(tos, UDP, 0, [first, second]);
            prop_assert_eq!(checksum(&packet[..20]), 0xffff);
            write_ecn(&mut packet, Ecn::from_bits(bits));
            prop_assert_eq!(packet[1], tos & !3 | bits);
            prop_assert_eq!(checksum(&packet[..20]), 0xffff);
            let headers = Headers::read(&packet).expect("a packet");
            prop_assert_eq!(headers.ecn, Ecn::from_bits(bits));
            prop_assert_eq!(headers.ports, Some([first, second]));
        }

        #[test]
        fn a_mark_of_ipv6_changes_two_bits_of_the_traffic_class(class in any::<u8>(), bits in 0u8..4) {
            let packet = v6(class, UDP, &[0, 1, 0, 2, 0, 0, 0, 0]);
            let mut marked = packet.clone();
            prop_assert_eq!(Headers::read(&packet).map(|it| it.ecn), Some(Ecn::from_bits(class)));
            write_ecn(&mut marked, Ecn::from_bits(bits));
            prop_assert_eq!(marked, v6(class & !3 | bits, UDP, &packet[40..]));
        }

        #[test]
        fn no_bytes_make_the_reader_stumble(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            if let Some(headers) = Headers::read(&bytes) {
                prop_assert!(bytes.len() >= 20);
                let _ = headers.hash();
            }
        }
    }

    #[test]
    fn flows_differ_by_protocol_and_ports_and_fragments_stay_together() {
        let flow = |packet: &[u8]| Headers::read(packet).map(|headers| headers.hash());
        let tcp = flow(&v4(0, TCP, 0, [1000, 80]));
        assert_eq!(
            tcp,
            flow(&v4(3, TCP, 0, [1000, 80])),
            "ECN is not part of it"
        );
        assert_ne!(tcp, flow(&v4(0, TCP, 0, [1001, 80])));
        assert_ne!(tcp, flow(&v4(0, UDP, 0, [1000, 80])));
        // The first fragment has the ports (offset 0, more fragments), later ones have other bytes there.
        let first = flow(&v4(0, UDP, 0x2000, [1000, 80]));
        assert_eq!(first, flow(&v4(0, UDP, 0x2001, [4, 4])));
        assert_eq!(first, flow(&v4(0, UDP, 0x0002, [5, 5])));
    }

    #[test]
    fn ports_of_ipv6_stand_behind_extension_headers() {
        let udp = [0x03, 0xe8, 0, 80, 0, 0, 0, 0];
        let plain = Headers::read(&v6(0, UDP, &udp)).expect("a packet");
        assert_eq!(plain.ports, Some([1000, 80]));
        // Hop-by-hop options of 8 octets, then destination options of 16.
        let mut options = vec![60, 0, 0, 0, 0, 0, 0, 0, UDP, 1];
        options.extend([0; 14]);
        options.extend(udp);
        let behind = Headers::read(&v6(0, 0, &options)).expect("a packet");
        assert_eq!((behind.ports, behind.hash()), (plain.ports, plain.hash()));
        assert_eq!(plain.port_within(&(80..81)), Some(80));
        assert_eq!(plain.port_within(&(81..999)), None);
    }
}
