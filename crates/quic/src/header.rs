//! Where the packets of a datagram start (RFC 9000 sections 12.2 and 17), and their least size.

/// Least overhead of stream data in a packet with a short header: flags, connection ID of 8 bytes, packet number
/// of one byte, and AEAD tag (section 17.3.1); type and identifier of a STREAM frame without offset and length
/// (section 19.8).
pub const LEAST_STREAM_OVERHEAD: u64 = 1 + 8 + 1 + 16 + 2;

/// A packet number space (RFC 9000 section 12.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Initial,
    Handshake,
    Data,
}

/// The packets of a datagram, with their lengths, up to the first whose header cannot be read. One with a short header
/// is the last.
pub(crate) fn packets(mut rest: &[u8]) -> impl Iterator<Item = (Space, usize)> {
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let (space, length) = match first & 0xb0 {
            0x80 => (Space::Initial, long_packet(first, rest)?),
            0x90 => (Space::Data, long_packet(first, rest)?),
            0xa0 => (Space::Handshake, long_packet(first, rest)?),
            0xb0 => return None, // Retry has no length
            _ => (Space::Data, rest.len()),
        };
        rest = rest.get(length..)?;
        Some((space, length))
    })
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
    fn packets_of_all_spaces_are_found_in_one_datagram() {
        let found = |datagram: &[u8]| packets(datagram).collect::<Vec<_>>();
        assert_eq!(found(&[0x40, 1, 2, 3]), [(Space::Data, 4)]);
        // Initial with an empty token and 2 bytes, 0-RTT with 1, Handshake with 3, then a short header of 5.
        let mut datagram = long(0xc0, &[0, 2, 9, 9]);
        datagram.extend(long(0xd0, &[1, 9]));
        datagram.extend(long(0xe0, &[3, 9, 9, 9]));
        datagram.extend([0x40, 1, 2, 3, 4]);
        let spaces = [Space::Initial, Space::Data, Space::Handshake, Space::Data];
        let lengths = [9 + 4, 9 + 2, 9 + 4, 5];
        assert_eq!(
            found(&datagram),
            spaces.into_iter().zip(lengths).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_datagram_cut_short_has_no_packet() {
        let whole = long(0xc0, &[0, 2, 9, 9]);
        for cut in 0..whole.len() {
            assert_eq!(packets(&whole[..cut]).count(), 0, "{cut}");
        }
        assert_eq!(packets(&long(0xf0, &[0, 2, 9, 9])).count(), 0); // Retry
    }
}
