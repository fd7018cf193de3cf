//! The short way, runs of segments, against the long one, packet by packet.

use super::long_way::{Made, has_true_checksums, segmented};
use super::*;
use proptest::prelude::*;
use thalweg_random::mix;

/// Any super packet of TCP or UDP, over IPv4 or IPv6, with and without options, of up to 20 segments.
pub(super) fn made() -> impl Strategy<Value = Made> {
    let headers = (any::<[bool; 2]>(), 0u8..=3, 0u8..=10, any::<u8>());
    let numbers = (any::<u16>(), any::<u32>(), any::<u8>(), any::<[u8; 2]>());
    let size = (1u16..=1448, 1usize..=20, any::<prop::sample::Index>());
    (headers, numbers, size, any::<u64>()).prop_map(|(headers, numbers, size, seed)| {
        let ([is_v6, is_tcp], ip_options, tcp_options, class) = headers;
        let (identification, sequence, flags, hosts) = numbers;
        let (segment, count, last) = size;
        let last = 1 + last.index(segment.into());
        let length = (count - 1) * usize::from(segment) + last;
        let data = (0..length as u64).map(|at| mix(seed ^ at) as u8).collect();
        Made {
            is_v6,
            is_tcp,
            ip_options,
            tcp_options,
            class,
            identification,
            sequence,
            flags,
            segment,
            data,
            hosts,
        }
    })
}

/// What becomes of a segment: it is lost, or arrives with this mark.
pub(super) fn fates() -> impl Strategy<Value = Vec<Option<Ecn>>> {
    let fate = prop_oneof![
        6 => Just(None),
        10 => Just(Some(false)),
        3 => Just(Some(true)),
    ];
    prop::collection::vec(fate, 20).prop_map(|fates| {
        let marked = |is_marked| if is_marked { Ecn::Ce } else { Ecn::Ect0 };
        fates.into_iter().map(|fate| fate.map(marked)).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_left_of_a_super_packet_arrives_as_it_would_packet_by_packet(
        made in made(), fates in fates(), splits in any::<u32>()
    ) {
        let read = made.bytes();
        let long = segmented(&read);
        let packet = SuperPacket::read(Bytes::from(read)).expect("a packet");
        prop_assert_eq!(packet.segments(), long.len());
        for (index, segment) in long.iter().enumerate() {
            prop_assert!(has_true_checksums(segment), "the long way is right itself");
            prop_assert_eq!(packet.length_of(index), segment.len());
        }
        let mut head = Vec::new();
        let mut from = 0;
        while from < long.len() {
            // A run ends before another fate, and anywhere else.
            let is_in_run = |at: &usize| fates[*at] == fates[from] && splits >> at & 1 == 0;
            let until = (from + 1..long.len()).find(|at| !is_in_run(at)).unwrap_or(long.len());
            if let Some(ecn) = fates[from] {
                let rest = packet.run(from..until, ecn, &mut head);
                let written = segmented(&[&head[..], rest].concat());
                let mut expected = long[from..until].to_vec();
                expected.iter_mut().for_each(|segment| write_ecn(segment, ecn));
                prop_assert!(written.iter().all(|segment| has_true_checksums(segment)));
                prop_assert_eq!(written, expected);
            }
            from = until;
        }
    }

    #[test]
    fn a_packet_that_nobody_touches_leaves_as_it_came(made in made(), flags in 0u8..=2) {
        let single = Made { segment: u16::MAX, ..made };
        let mut read = single.bytes();
        read[0] = flags;
        let packet = SuperPacket::read(Bytes::from(read.clone())).expect("a packet");
        prop_assert_eq!((packet.segments(), packet.length_of(0)), (1, read.len() - Offload::LENGTH));
        let mut head = Vec::new();
        let rest = packet.run(0..1, packet.headers.ecn, &mut head);
        let in_one_piece = (read.len() - Offload::LENGTH) as u16;
        read[2..4].copy_from_slice(&in_one_piece.to_ne_bytes());
        prop_assert_eq!([&head[..], rest].concat(), read);
    }

    #[test]
    fn no_bytes_make_the_reader_stumble(
        offload in any::<[u8; Offload::LENGTH]>(), kind in 0usize..6, made in made(), cut in any::<prop::sample::Index>(),
        bent in any::<prop::sample::Index>(), value in any::<u8>()
    ) {
        let mut bytes = made.bytes();
        bytes[..Offload::LENGTH].copy_from_slice(&offload);
        bytes[1] = [0, TCP_V4, TCP_V6, UDP_DATAGRAMS, 3, offload[1]][kind];
        let at = bent.index(bytes.len().min(100));
        bytes[at] = value;
        bytes.truncate(cut.index(bytes.len() + 1));
        if let Some(packet) = SuperPacket::read(Bytes::from(bytes)) {
            let mut head = Vec::new();
            let count = packet.segments();
            prop_assert!(count > 0);
            let lengths: usize = (0..count).map(|index| packet.length_of(index)).sum();
            prop_assert!(lengths > 0);
            let _ = packet.run(0..count, Ecn::Ce, &mut head);
            let _ = packet.run(count - 1..count, Ecn::Ce, &mut head);
        }
    }
}

#[test]
fn a_super_packet_of_a_kind_that_was_not_offered_is_refused() {
    let made = Made {
        is_v6: false,
        is_tcp: false,
        ip_options: 0,
        tcp_options: 0,
        class: 0,
        identification: 1,
        sequence: 0,
        flags: 0,
        segment: 100,
        data: vec![7; 250],
        hosts: [1, 1],
    };
    let mut read = made.bytes();
    assert_eq!(
        SuperPacket::read(Bytes::from(read.clone())).map(|it| it.segments()),
        Some(3)
    );
    // UDP fragmentation offload, which 3 stands for, makes fragments and not datagrams.
    for kind in [3, TCP_V4, TCP_V6, 7] {
        read[1] = kind;
        assert!(SuperPacket::read(Bytes::from(read.clone())).is_none());
    }
}
