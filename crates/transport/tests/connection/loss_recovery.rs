//! Loss detection, probe timeouts, spurious losses and persistent congestion (RFC 9002 sections 6 and
//! 7.6), as reported to the controller.

use crate::pair::{Exchange, Fate, Pair, Way, at_ms, ms};
use crate::scribe::{Record, Scribe, Told};
use proptest::prelude::*;
use thalweg_control::event::Lost;
use thalweg_transport::packet::{Frame, Kind, Packet};
use thalweg_transport::{Rules, TransportConfig};
use thalweg_units::{Bytes, Duration, Instant};

/// Every packet is acknowledged at once, so that times can be predicted to the nanosecond.
fn config() -> TransportConfig {
    TransportConfig {
        ack_every: 1,
        ack_frequency: false,
        ..TransportConfig::new(Rules::Picoquic)
    }
}

fn answering(
    bytes: u64,
    window: u64,
    pipe: impl FnMut(Instant, &Packet) -> Fate + 'static,
) -> (Pair, Record) {
    let (scribe, record) = Scribe::with_window(window);
    let mut pipe = pipe;
    let pair = Pair::new(&config(), scribe)
        .asking(&[Exchange::new(0, bytes)])
        .with_pipe(move |now, way, _, packet| match way {
            Way::ToClient if carries_stream(packet) => pipe(now, packet),
            _ => Fate::Pass,
        })
        .connect();
    (pair, record)
}

fn carries_stream(packet: &Packet) -> bool {
    packet.payload() > 0
}

fn losses(record: &Record) -> Vec<(Instant, Lost)> {
    let told = record.lock().unwrap();
    let lost = told.iter().filter_map(|(time, told)| match told {
        Told::Lost(lost) => Some((*time, lost.clone())),
        _ => None,
    });
    lost.collect()
}

#[test]
fn a_packet_is_lost_when_the_third_after_it_is_acknowledged() {
    // RFC 9002 section 6.1.1: kPacketThreshold = 3.
    let (mut pair, record) = answering(100_000, 60_000, |_, packet| {
        if packet.number == 20 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    pair.run_until(at_ms(2000), Pair::is_answered);
    let told = record.lock().unwrap();
    let position = told
        .iter()
        .position(|(_, told)| matches!(told, Told::Lost(_)));
    let position = position.expect("a loss");
    // The loss is reported just before the acknowledgement that proved it.
    let acks: Vec<u64> = told
        .iter()
        .filter_map(|(_, told)| match told {
            Told::Ack(ack) => Some(ack.largest),
            _ => None,
        })
        .collect();
    assert!(acks.contains(&21) && acks.contains(&22), "{acks:?}");
    match &told[position..] {
        [(_, Told::Lost(lost)), (_, Told::Ack(ack)), ..] => {
            assert_eq!((lost.packet, ack.largest), (20, 23));
            assert_eq!(ack.newly_lost, lost.size - Bytes::new(16));
            assert_eq!(ack.lost_ranges, 1);
        }
        other => panic!("{other:?}"),
    }
    drop(told);
    assert_eq!(losses(&record).len(), 1);
}

#[test]
fn the_last_packet_but_one_is_lost_nine_eighths_of_the_rtt_after_it_left() {
    // RFC 9002 section 6.1.2: 9/8 x 80 ms = 90 ms. 10 000 bytes are 8 packets; only one follows the seventh.
    let mut seen = 0;
    let (mut pair, record) = answering(10_000, 60_000, move |_, _| {
        seen += 1;
        if seen == 8 { Fate::Drop } else { Fate::Pass }
    });
    pair.run_until(at_ms(2000), Pair::is_answered);
    let data: Vec<_> = pair.server_data().collect();
    let position = data.iter().position(|s| s.fate == Fate::Drop).unwrap();
    let (_, lost) = losses(&record).remove(0);
    assert_eq!(lost.packet, data[position].packet.number);
    let after = pair.sent.iter().filter(|s| {
        s.way == Way::ToClient
            && s.is_data()
            && s.packet.number > lost.packet
            && s.time < at_ms(200)
    });
    assert!(
        (1..=2).contains(&after.count()),
        "too many followed for the time threshold to decide"
    );
    assert_eq!(losses(&record)[0].0 - lost.snapshot.sent, ms(90));
}

/// Sends 200 000 bytes and then nothing of the server arrives between `from` and `to`.
fn blackout(from: Instant, to: Instant) -> (Pair, Record) {
    let (mut pair, record) = answering(4_000_000, 60_000, move |now, _| {
        if (from..to).contains(&now) {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    pair.run_until(at_ms(60_000), Pair::is_answered);
    (pair, record)
}

#[test]
fn probe_timeouts_double_and_each_sends_one_packet() {
    // RFC 9002 section 6.2.1: the period doubles with each timeout; section 6.2.4: at least one packet.
    let (pair, record) = blackout(at_ms(1000), at_ms(8000));
    let told = record.lock().unwrap();
    let timeouts: Vec<(Instant, u32)> = told
        .iter()
        .filter_map(|(time, told)| match told {
            Told::Timeout(event) => Some((*time, event.count)),
            _ => None,
        })
        .collect();
    assert!(timeouts.len() >= 5, "{timeouts:?}");
    let counts: Vec<u32> = timeouts.iter().map(|t| t.1).collect();
    assert_eq!(counts, (1..=timeouts.len() as u32).collect::<Vec<_>>());
    let gaps: Vec<Duration> = timeouts
        .windows(2)
        .map(|pair| pair[1].0 - pair[0].0)
        .collect();
    for pair in gaps.windows(2) {
        assert_eq!(pair[1], pair[0] * 2);
    }
    // srtt 80 ms, variance below a millisecond after a second of equal samples, max_ack_delay 10 ms:
    // the period is 80 + 1 + 10 = 91 ms, its first doubling 182 ms.
    assert_eq!(gaps[0], ms(182));
    for (time, _) in &timeouts {
        let probes = pair
            .sent
            .iter()
            .filter(|s| s.way == Way::ToClient && s.time == *time && s.is_data());
        assert_eq!(probes.count(), 1);
    }
}

#[test]
fn a_blackout_of_many_probe_timeouts_is_persistent_congestion() {
    // RFC 9002 section 7.6.1: losses that span more than three PTOs, here 3 x 91 = 273 ms. The probes of
    // 91, 273 and 637 ms are lost, the probe of 1365 ms tells of it.
    let (_, record) = blackout(at_ms(1000), at_ms(2000));
    let losses = losses(&record);
    let told = losses.iter().filter(|(_, lost)| lost.persistent_congestion);
    assert_eq!(told.count(), 1);
}

#[test]
fn a_short_blackout_is_no_persistent_congestion() {
    // The probe after 91 ms is lost, the probe of 273 ms arrives: the losses span less than 273 ms.
    let (_, record) = blackout(at_ms(1000), at_ms(1200));
    let losses = losses(&record);
    assert!(losses.len() > 10, "{}", losses.len());
    assert!(losses.iter().all(|(_, lost)| !lost.persistent_congestion));
}

/// The minimum RTT at 4 s: 80 ms until a blackout at 1 s, 140 ms from its end on.
fn min_rtt_after_a_blackout(rules: Rules, end: Instant) -> Duration {
    let config = TransportConfig { rules, ..config() };
    let (scribe, _) = Scribe::with_window(60_000);
    let mut pair = Pair::new(&config, scribe)
        .asking(&[Exchange::new(0, 4_000_000)])
        .with_pipe(move |now, way, _, packet| match way {
            Way::ToClient if carries_stream(packet) && now >= end => Fate::Late(ms(60)),
            Way::ToClient if carries_stream(packet) && now >= at_ms(1000) => Fate::Drop,
            _ => Fate::Pass,
        })
        .connect();
    pair.run_to(at_ms(4000));
    pair.server.path().min_rtt
}

#[test]
fn persistent_congestion_resets_the_minimum_rtt_and_a_shorter_outage_does_not() {
    // RFC 9002 section 5.2: endpoints SHOULD set min_rtt to the newest sample after persistent congestion is
    // established, since the path may be another one. Picoquic keeps it.
    let (short, long) = (at_ms(1200), at_ms(2000));
    assert_eq!(min_rtt_after_a_blackout(Rules::Rfc, short), ms(80));
    assert_eq!(min_rtt_after_a_blackout(Rules::Rfc, long), ms(140));
    assert_eq!(min_rtt_after_a_blackout(Rules::Picoquic, long), ms(80));
}

#[test]
fn a_late_packet_is_a_spurious_loss_and_its_bytes_are_given_back() {
    is_given_back(300_000, 60_000);
}

#[test]
fn a_packet_that_is_hundreds_of_numbers_late_is_a_spurious_loss_too() {
    // 600 kB are 430 packets a round trip, so that 60 ms late is beyond the words of an ACK frame: only its range
    // tells of the packet.
    is_given_back(3_000_000, 600_000);
}

/// Packet 40 of a download comes 60 ms late.
fn is_given_back(bytes: u64, window: u64) {
    let (mut pair, record) = answering(bytes, window, |_, packet| {
        if packet.number == 40 {
            Fate::Late(ms(60))
        } else {
            Fate::Pass
        }
    });
    pair.run_until(at_ms(3000), |pair| pair.server.counters().packets_lost > 0);
    let lost_then = pair.server.path().lost;
    assert!(lost_then > Bytes::ZERO);
    let end = pair.now + ms(1000);
    pair.run_to(end);
    assert!(pair.is_answered());
    assert_eq!(pair.server.path().lost, Bytes::ZERO);
    assert_eq!(pair.server.counters().spurious_losses, 1);
    assert_eq!(pair.server.path().bytes_in_flight, Bytes::ZERO);
    let told = record.lock().unwrap();
    let spurious: Vec<_> = told
        .iter()
        .filter_map(|(_, told)| match told {
            Told::Spurious(event) => Some((event.packet, event.timeout_only)),
            _ => None,
        })
        .collect();
    assert_eq!(spurious, [(40, false)]);
}

#[test]
fn a_delayed_path_proves_a_probe_timeout_wrong_without_any_loss() {
    // Nothing arrives between 1040 and 1490 ms, and then all of it in order: the timer (91 ms after the last
    // packet) fires, and then the acknowledgements come.
    let (mut pair, record) = answering(4_000_000, 60_000, |now, _| {
        if (at_ms(1000)..at_ms(1450)).contains(&now) {
            Fate::Late(at_ms(1450) - now)
        } else {
            Fate::Pass
        }
    });
    pair.run_until(at_ms(20_000), Pair::is_answered);
    let told = record.lock().unwrap();
    let timeouts = told
        .iter()
        .filter(|(_, told)| matches!(told, Told::Timeout(_)))
        .count();
    let wrong = told
        .iter()
        .filter(|(_, told)| matches!(told, Told::Spurious(event) if event.timeout_only));
    assert!(timeouts >= 1);
    assert_eq!(wrong.count(), 1);
    drop(told);
    assert_eq!(losses(&record).len(), 0);
}

#[test]
fn what_was_lost_is_sent_again_and_nothing_else() {
    let mut seen = 0;
    let (mut pair, record) = answering(400_000, 60_000, move |_, _| {
        seen += 1;
        if seen % 17 == 5 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    pair.run_until(at_ms(10_000), Pair::is_answered);
    let dropped: u64 = pair
        .server_data()
        .filter(|s| s.fate == Fate::Drop)
        .map(|s| s.packet.payload())
        .sum();
    let sent: u64 = pair.server_data().map(|s| s.packet.payload()).sum();
    let spurious = pair.server.counters().spurious_losses;
    let timeouts = record
        .lock()
        .unwrap()
        .iter()
        .filter(|(_, told)| matches!(told, Told::Timeout(_)))
        .count();
    // Repeats by probe timeout may prove needless; there are none here.
    assert_eq!((spurious, timeouts), (0, 0));
    assert_eq!(sent, 400_000 + dropped);
}

/// Drops what the server sends between two times and tells which stream offsets each of its probes carries: the offsets of
/// the first packets at one time after a silence of a second.
fn probed(bytes: u64, from: Instant, rules: Rules) -> (Vec<(u64, u64)>, u64) {
    let (scribe, record) = Scribe::with_window(60_000);
    let config = TransportConfig {
        initial_max_data: Bytes::new(1 << 24),
        initial_max_stream_data: Bytes::new(1 << 24),
        ..TransportConfig::new(rules)
    };
    let mut pair = Pair::new(&config, scribe)
        .asking(&[Exchange::new(0, bytes)])
        .with_pipe(move |now, way, _, packet| match way {
            Way::ToClient if carries_stream(packet) && now >= from => Fate::Drop,
            _ => Fate::Pass,
        })
        .connect();
    let timed_out = |record: &Record| {
        record
            .lock()
            .unwrap()
            .iter()
            .find_map(|(time, told)| match told {
                Told::Timeout(_) => Some(*time),
                _ => None,
            })
    };
    pair.run_until(at_ms(10_000), |_| timed_out(&record).is_some());
    let fired = timed_out(&record).unwrap();
    let sent = |s: &&crate::pair::Sent| s.way == Way::ToClient && s.is_data();
    let offsets = |s: &crate::pair::Sent| {
        s.packet.frames.iter().find_map(|frame| match frame {
            Frame::Stream { offset, len, .. } => Some((*offset, *offset + u64::from(*len))),
            _ => None,
        })
    };
    let before = pair.sent.iter().filter(sent).filter(|s| s.time < fired);
    let highest = before.filter_map(offsets).map(|(_, end)| end).max();
    let probes = pair.sent.iter().filter(sent).filter(|s| s.time == fired);
    (probes.filter_map(offsets).collect(), highest.unwrap())
}

#[test]
fn both_probes_carry_new_data_if_there_is_any() {
    // RFC 9002 section 6.2.4: "The sender SHOULD include new data in this packet."
    let (probes, highest) = probed(4_000_000, at_ms(1000), Rules::Rfc);
    assert_eq!(probes.len(), 2);
    assert_eq!(probes[0].0, highest);
    assert_eq!(probes[1].0, probes[0].1);
}

#[test]
fn without_new_data_the_probes_repeat_the_two_oldest_packets() {
    // The same section: "Previously sent data MAY be sent if no new data can be sent." 20 000 bytes are 15 packets.
    let (probes, highest) = probed(20_000, at_ms(0), Rules::Rfc);
    assert_eq!((probes.len(), highest), (2, 20_000));
    assert_eq!(probes[0].0, 0);
    assert_eq!(probes[1].0, probes[0].1);
}

/// What one side of a connection with 0-RTT sends at its first probe timeout, if nothing that has a number reaches the other
/// before 500 ms. The client asks with `bytes` and gets as many.
fn probed_with_zero_rtt(way: Way, bytes: u64) -> Vec<Packet> {
    let config = TransportConfig {
        zero_rtt: true,
        ..TransportConfig::new(Rules::Rfc)
    };
    let mut exchange = Exchange::new(0, bytes);
    exchange.request = bytes;
    let mut pair = Pair::new(&config, crate::pair::controller("reno", &config))
        .asking(&[exchange])
        .with_pipe(move |now, to, _, packet| {
            match to == way && packet.kind == Kind::Data && now < at_ms(500) {
                true => Fate::Drop,
                false => Fate::Pass,
            }
        })
        .connect();
    let timeouts = move |pair: &Pair| match way {
        Way::ToServer => pair.client.counters().timeouts,
        Way::ToClient => pair.server.counters().timeouts,
    };
    pair.run_until(at_ms(10_000), |pair| timeouts(pair) > 0);
    let now = pair.now;
    let probes = pair
        .sent
        .iter()
        .filter(|s| s.way == way && s.is_data() && s.time == now)
        .map(|s| s.packet.clone())
        .collect();
    pair.run_until(at_ms(10_000), Pair::is_answered);
    probes
}

fn carries(packet: &Packet, wanted: impl Fn(&Frame) -> bool) -> bool {
    packet.frames.iter().any(wanted)
}

#[test]
fn a_probe_repeats_the_finished_behind_data_of_zero_rtt() {
    // RFC 9002 section 6.2.1: each packet number space has its timer. 5000 bytes are five packets before the Finished.
    let probes = probed_with_zero_rtt(Way::ToServer, 5000);
    let finished = |frame: &Frame| matches!(frame, Frame::ClientFinished { .. });
    assert!(probes.len() >= 2);
    assert!(
        probes[..2].iter().any(|packet| carries(packet, finished)),
        "{probes:?}"
    );
}

#[test]
fn no_probe_is_empty_while_there_is_old_data() {
    // RFC 9002 section 6.2.4. The Finished takes one probe; a packet with nothing to repeat takes none.
    let probes = probed_with_zero_rtt(Way::ToClient, 1500);
    let data = |frame: &Frame| matches!(frame, Frame::Stream { .. });
    let finished = |frame: &Frame| matches!(frame, Frame::ServerFinished);
    assert!(probes.len() >= 2 && carries(&probes[0], finished));
    assert!(carries(&probes[1], data), "{probes:?}");
}

#[test]
fn by_the_rules_of_picoquic_one_probe_repeats_the_oldest_packet_whatever_else_there_is() {
    let (probes, highest) = probed(4_000_000, at_ms(0), Rules::Picoquic);
    assert_eq!(probes.len(), 1);
    assert_eq!((probes[0].0, probes[0].1 < highest), (0, true));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    /// RFC 9000 section 13.2.3: an ACK frame tells of what those before it have told of, so that it does not matter
    /// which of them are lost.
    #[test]
    fn no_pattern_of_lost_acks_makes_a_sender_declare_lost_what_arrived(
        // Runs of ACK frames that are lost, and of those that come through.
        fates in prop::collection::vec((0usize..400, 1usize..4), 1..12),
        window in 10_000u64..2_000_000,
        ack_every in 1u32..20,
        ack_frequency: bool,
        rules in prop_oneof![Just(Rules::Rfc), Just(Rules::Picoquic)],
    ) {
        let config = TransportConfig {
            ack_every,
            ack_frequency,
            initial_max_data: Bytes::new(1 << 30),
            initial_max_stream_data: Bytes::new(1 << 30),
            ..TransportConfig::new(rules)
        };
        let (scribe, record) = Scribe::with_window(window);
        let lost = fates.into_iter().flat_map(|(lost, through)| {
            std::iter::repeat_n(true, lost).chain(std::iter::repeat_n(false, through))
        });
        let mut lost = lost.collect::<Vec<_>>().into_iter().cycle();
        let mut pair = Pair::new(&config, scribe)
            .asking(&[Exchange::new(0, 3_000_000)])
            .with_pipe(move |_, _, _, packet| match packet.kind {
                Kind::AckOnly if lost.next() == Some(true) => Fate::Drop,
                _ => Fate::Pass,
            })
            .connect();
        pair.run_to(at_ms(30_000));
        prop_assert!(pair.client.counters().stream_bytes_received > 0);
        prop_assert_eq!(losses(&record).len(), 0);
        prop_assert_eq!(pair.server.counters().packets_lost, 0);
    }
}
