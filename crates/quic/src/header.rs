//! Where the packets of a datagram start (RFC 9000 sections 12.2 and 17), and their least size.

/// Least overhead of stream data in a packet with a short header: flags, connection ID of 8 bytes, packet number
/// of one byte, and AEAD tag (section 17.3.1); type and identifier of a STREAM frame without offset and length
/// (section 19.8).
pub const LEAST_STREAM_OVERHEAD: u64 = 1 + 8 + 1 + 16 + 2;

/// Length of the packet with a short header, which is the last of its datagram; `None` if there is none or the
/// headers cannot be read.
pub(crate) fn short_packet(mut rest: &[u8]) -> Option<usize> {
    loop {
        let first = *rest.first()?;
        if first & 0x80 == 0 {
            return Some(rest.len());
        }
        rest = rest.get(long_packet(first, rest)?..)?;
    }
}

/// Length of the packet with a long header at the start of `packet` (section 17.2).
fn long_packet(first: u8, packet: &[u8]) -> Option<usize> {
    let mut at = 5; // flags and version
    for _ in 0..2 {
        at += 1 + usize::from(*packet.get(at)?); // connection IDs
    }
    let is_initial = first & 0x30 == 0;
    if is_initial {
        let (token, size) = varint(packet.get(at..)?)?;
        at += size + usize::try_from(token).ok()?;
    }
    let (length, size) = varint(packet.get(at..)?)?;
    at.checked_add(size)?
        .checked_add(usize::try_from(length).ok()?)
}

/// Whether this is a Version Negotiation packet (section 17.2.1): a long header of version 0.
pub(crate) fn is_version_negotiation(packet: &[u8]) -> bool {
    matches!(packet, [first, 0, 0, 0, 0, ..] if first & 0x80 != 0)
}

/// A variable-length integer and its size (section 16).
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    let size = 1 << (first >> 6);
    let rest = bytes.get(1..size)?;
    let value = rest.iter().fold(u64::from(first & 0x3f), |value, byte| {
        value << 8 | u64::from(*byte)
    });
    Some((value, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Version 1, connection IDs of one byte each, then `rest`.
    fn long(first: u8, rest: &[u8]) -> Vec<u8> {
        [&[first, 0, 0, 0, 1, 1, 7, 1, 8], rest].concat()
    }

    #[test]
    fn varints_follow_the_examples_of_rfc_9000_appendix_a_1() {
        assert_eq!(varint(&[0x25]), Some((37, 1)));
        assert_eq!(varint(&[0x7b, 0xbd]), Some((15_293, 2)));
        assert_eq!(varint(&[0x9d, 0x7f, 0x3e, 0x7d]), Some((494_878_333, 4)));
        assert_eq!(varint(&[0x9d, 0x7f]), None);
    }

    #[test]
    fn a_short_header_is_found_alone_and_behind_long_ones() {
        assert_eq!(short_packet(&[0x40, 1, 2, 3]), Some(4));
        // Initial with an empty token and 2 bytes, Handshake with 3, then a short header of 5.
        let mut datagram = long(0xc0, &[0, 2, 9, 9]);
        datagram.extend(long(0xe0, &[3, 9, 9, 9]));
        assert_eq!(short_packet(&datagram), None);
        datagram.extend([0x40, 1, 2, 3, 4]);
        assert_eq!(short_packet(&datagram), Some(5));
    }

    #[test]
    fn a_datagram_cut_short_has_no_packet() {
        let whole = long(0xc0, &[0, 2, 9, 9]);
        for cut in 0..whole.len() {
            assert_eq!(short_packet(&whole[..cut]), None, "{cut}");
        }
    }
}
