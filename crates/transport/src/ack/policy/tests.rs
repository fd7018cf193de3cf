//! When an acknowledgement is sent, and what it reports.

use super::*;
use crate::sent_packets::{Fate, SentPackets, tests::sent_at};
use proptest::prelude::*;
use std::collections::BTreeSet;

const DELAY: Duration = Duration::from_millis(1);

fn at(us: u64) -> Instant {
    Instant::START + Duration::from_micros(us)
}

fn policy(rules: Rules, every: u32) -> AckPolicy {
    AckPolicy::new(&TransportConfig {
        ack_every: every,
        ..TransportConfig::new(rules)
    })
}

/// A policy of picoquic that has sent its first ACK frame.
fn started(every: u32) -> AckPolicy {
    let mut acks = policy(Rules::Picoquic, every);
    acks.acknowledged = true;
    acks
}

#[test]
fn by_the_rfc_the_first_mark_is_acknowledged_at_once_whatever_was_asked_for() {
    let mut acks = policy(Rules::Rfc, 2);
    acks.request(0, 18, Duration::from_millis(10));
    acks.on_packet(at(0), 0, Ecn::Ect0, false);
    assert_eq!(acks.deadline(), at(10_000));
    acks.on_packet(at(1), 1, Ecn::Ce, false);
    assert_eq!(acks.deadline(), at(1));
    acks.take(at(1));
    acks.on_packet(at(2), 2, Ecn::Ce, false);
    assert_eq!(acks.deadline(), at(10_002));
}

#[test]
fn by_the_rfc_the_second_packet_is_acknowledged_at_once_and_a_single_one_after_25_ms() {
    let mut acks = policy(Rules::Rfc, 2);
    acks.on_packet(at(0), 0, Ecn::Ect0, false);
    assert_eq!(acks.deadline(), at(25_000)); // RFC 9000 section 18.2
    acks.on_packet(at(10), 1, Ecn::Ect0, false);
    assert_eq!(acks.deadline(), at(10)); // section 13.2.2
}

#[test]
fn the_first_acknowledgement_waits_for_its_delay() {
    let mut acks = policy(Rules::Picoquic, 2);
    acks.on_packet(at(0), 0, Ecn::Ect0, false);
    acks.on_packet(at(500), 1, Ecn::Ect0, false);
    assert_eq!(acks.deadline(), at(1000));
}

#[test]
fn every_second_packet_is_acknowledged_at_once_and_a_single_one_after_the_delay() {
    let mut acks = started(2);
    acks.on_packet(at(0), 0, Ecn::Ect1, false);
    assert_eq!(acks.deadline(), at(1000));
    acks.on_packet(at(10), 1, Ecn::Ce, false);
    assert_eq!(acks.deadline(), at(10));
    let frame = acks.take(at(30)).unwrap();
    assert_eq!((frame.largest, numbers(&frame)), (1, vec![0, 1]));
    assert_eq!((frame.ecn.ect1, frame.ecn.ce), (1, 1));
    assert_eq!(frame.delay(), Duration::from_micros(20));
    assert_eq!((acks.deadline(), acks.take(at(40))), (Instant::NEVER, None));
}

#[test]
fn a_gap_is_reported_at_once_unless_the_sender_waived_it() {
    let mut acks = started(10);
    acks.on_packet(at(0), 0, Ecn::Ect0, false);
    acks.on_packet(at(1), 2, Ecn::Ect0, false);
    assert_eq!(acks.deadline(), at(1));
    acks.take(at(1));
    acks.request(2, 10, DELAY);
    acks.on_packet(at(2), 4, Ecn::Ect0, false);
    assert_eq!(acks.deadline(), at(1002));
}

#[test]
fn a_requested_frequency_waits_for_128_packets_with_those_of_the_handshake() {
    let mut acks = started(2);
    acks.request(0, 18, Duration::from_millis(10));
    let mut frames = 0;
    for n in 0..304 {
        acks.on_packet(at(n), n, Ecn::Ect0, false);
        if acks.deadline() <= at(n) {
            acks.take(at(n)).unwrap();
            frames += 1;
        }
    }
    // Every second of 125 packets, which are 128 with three of the handshake; the one that is left
    // over and 179 more make ten times 18.
    assert_eq!(frames, 62 + 10);
}

#[test]
fn what_waits_when_a_request_arrives_waits_for_the_new_delay() {
    let mut acks = started(2);
    acks.on_packet(at(500), 0, Ecn::Ect0, false);
    assert_eq!(acks.deadline(), at(1500));
    acks.request(3, 18, Duration::from_millis(10));
    assert_eq!(acks.deadline(), at(10_500));
    acks.request(2, 4, Duration::from_millis(2)); // overtaken
    assert_eq!(acks.deadline(), at(10_500));
    acks.on_packet(at(700), 1, Ecn::Ect0, true);
    acks.request(4, 18, Duration::from_millis(5));
    assert_eq!(acks.deadline(), at(700)); // what is due stays due
}

fn numbers(frame: &AckFrame) -> Vec<u64> {
    let bits = |(index, word): (u64, u64)| {
        (0..64)
            .filter(move |bit| word >> bit & 1 == 1)
            .map(move |bit| index * 64 + bit)
    };
    frame.words(0, frame.largest).flat_map(bits).collect()
}

#[test]
fn a_duplicate_is_recognised() {
    let mut acks = started(2);
    acks.on_packet(at(0), 0, Ecn::Ect0, false);
    assert!(!acks.on_packet(at(0), 0, Ecn::Ect0, false));
}

#[test]
fn a_frame_reports_every_packet_since_the_last_however_many_there_are() {
    let mut acks = started(20_000);
    let arrived: Vec<u64> = (0..10_000).filter(|n| n % 100 != 7).collect();
    for &number in &arrived {
        acks.on_packet(at(number), number, Ecn::Ect0, false);
    }
    assert_eq!(numbers(&acks.take(at(10_000)).unwrap()), arrived);
}

#[test]
fn without_gaps_every_frame_reports_all_that_has_ever_arrived_and_takes_no_memory() {
    let mut acks = started(1000);
    for number in 0..100_000 {
        acks.on_packet(at(number), number, Ecn::Ect0, false);
        if number % 1000 == 999 {
            let frame = acks.take(at(number)).unwrap();
            assert_eq!(numbers(&frame), (0..=number).collect::<Vec<_>>());
            assert_eq!(frame.oldest, None);
        }
    }
}

#[test]
fn beyond_gaps_a_packet_is_reported_in_eight_frames() {
    let mut acks = started(1000);
    for frame in 0..12 {
        for number in frame * 1000..(frame + 1) * 1000 {
            if number % 500 != 250 {
                acks.on_packet(at(number), number, Ecn::Ect0, false);
            }
        }
        let told = numbers(&acks.take(at(frame * 1000 + 999)).unwrap());
        // The range up to the first packet of the eighth last interval begins after the gap at 750 before it.
        let first = match frame {
            0..=7 => 0,
            _ => (frame - 8) * 1000 + 751,
        };
        assert_eq!((told[0], told[told.len() - 1]), (first, frame * 1000 + 999));
        let arrived = (first..(frame + 1) * 1000).filter(|number| number % 500 != 250);
        assert_eq!(told, arrived.collect::<Vec<_>>());
    }
}

#[test]
fn a_packet_that_is_a_thousand_numbers_late_is_in_the_next_frame() {
    let mut acks = started(2);
    acks.on_packet(at(0), 0, Ecn::Ect0, false);
    acks.on_packet(at(1), 1000, Ecn::Ect0, false);
    acks.take(at(1));
    acks.on_packet(at(2), 5, Ecn::Ect0, false);
    let frame = acks.take(at(2)).unwrap();
    assert_eq!(frame.largest, 1000);
    assert_eq!(numbers(&frame), [0, 5, 1000]);
}

/// Packet numbers below `sent` in the order in which they arrive: each up to `late` numbers behind its place,
/// and never if it is among `gaps`.
fn arrivals(sent: u64, late: &[u64], gaps: &BTreeSet<u64>) -> Vec<u64> {
    let mut order: Vec<u64> = (0..sent).filter(|number| !gaps.contains(number)).collect();
    order.sort_by_key(|&number| number + late[number as usize % late.len()]);
    order
}

/// The frames of a receiver that sends one after each of `intervals`, over and over, with the packets that
/// have arrived until then.
fn frames(order: &[u64], intervals: &[usize]) -> Vec<(AckFrame, usize)> {
    let mut acks = policy(Rules::Rfc, 1 << 20);
    let (mut frames, mut arrived) = (Vec::new(), 0);
    for interval in intervals.iter().cycle() {
        for &number in order[arrived..].iter().take(*interval) {
            acks.on_packet(at(0), number, Ecn::Ect0, false);
        }
        arrived = (arrived + interval).min(order.len());
        frames.extend(acks.take(at(0)).map(|frame| (frame, arrived)));
        if arrived == order.len() {
            return frames;
        }
    }
    frames
}

fn lateness(most: u64) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(prop_oneof![3 => Just(0), 1 => 0..=most], 1..500)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// RFC 9000 section 13.2.3: a frame that comes through makes up for any that were lost. A packet that is 128
    /// numbers late or less is missing within the words that every frame has.
    #[test]
    fn however_many_frames_are_lost_the_next_tells_a_sender_of_all_that_arrived(
        late in lateness(128),
        intervals in prop::collection::vec(1usize..100, 1..30),
        // Runs of frames that are lost, and of those that come through.
        fates in prop::collection::vec((1usize..300, 1usize..5), 1..10),
    ) {
        let order = arrivals(3000, &late, &BTreeSet::new());
        let lost = fates.iter().flat_map(|&(lost, through)| {
            std::iter::repeat_n(true, lost).chain(std::iter::repeat_n(false, through))
        });
        let mut sender = SentPackets::default();
        (0..3000).for_each(|_| sender.push(sent_at(0)));
        for ((frame, arrived), lost) in frames(&order, &intervals).into_iter().zip(lost.cycle()) {
            if lost {
                continue;
            }
            sender.acknowledge(&frame, |_, _, _| ());
            for &number in &order[..arrived] {
                prop_assert_eq!(sender.fate(number), Fate::Acknowledged, "packet {}", number);
            }
            let open = order[arrived..].iter().all(|&number| sender.fate(number) == Fate::Outstanding);
            prop_assert!(open, "tells of what has not arrived");
        }
    }

    /// With packets that never arrive, a frame reports only what arrived: of all that did since the eighth
    /// last frame, and of all from the newest gap on that is not among the words that every frame has.
    #[test]
    fn a_frame_tells_of_what_arrived_since_the_eighth_last_and_since_the_last_old_gap(
        late in lateness(600),
        gaps in prop::collection::btree_set(0u64..3000, 0..12),
        intervals in prop::collection::vec(1usize..200, 1..30),
    ) {
        let order = arrivals(3000, &late, &gaps);
        let frames = frames(&order, &intervals);
        for (position, (frame, arrived)) in frames.iter().enumerate() {
            let told: BTreeSet<u64> = numbers(frame).into_iter().collect();
            let all: BTreeSet<u64> = order[..*arrived].iter().copied().collect();
            prop_assert!(told.is_subset(&all));
            let before = position.checked_sub(ACK_REPEATS).map_or(0, |position| frames[position].1);
            prop_assert!(order[before..*arrived].iter().all(|number| told.contains(number)));
            let newest = frame.largest - frame.largest.min(128);
            let gap = (0..newest).rev().find(|number| !all.contains(number));
            prop_assert!(all.range(gap.unwrap_or(0)..).all(|number| told.contains(number)));
        }
    }
}
