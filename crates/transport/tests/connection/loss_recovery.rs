//! Loss detection, probe timeouts, spurious losses and persistent congestion (RFC 9002 sections 6 and
//! 7.6), as the controller is told of them.

use crate::pair::{Exchange, Fate, Pair, Record, Scribe, Told, Way, at_ms, ms};
use thalweg_control::event::Lost;
use thalweg_transport::TransportConfig;
use thalweg_transport::packet::Packet;
use thalweg_units::{Bytes, Duration, Instant};

/// Every packet is acknowledged at once, so that times can be predicted to the nanosecond.
fn config() -> TransportConfig {
    TransportConfig {
        ack_every: 1,
        ack_frequency: false,
        ..TransportConfig::default()
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
    pair.play_until(at_ms(2000), Pair::is_answered);
    let told = record.lock().unwrap();
    let place = told
        .iter()
        .position(|(_, told)| matches!(told, Told::Lost(_)));
    let place = place.expect("a loss");
    // The loss is told just before the acknowledgement that proved it.
    let acks: Vec<u64> = told
        .iter()
        .filter_map(|(_, told)| match told {
            Told::Ack(ack) => Some(ack.largest),
            _ => None,
        })
        .collect();
    assert!(acks.contains(&21) && acks.contains(&22), "{acks:?}");
    match &told[place..] {
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
    pair.play_until(at_ms(2000), Pair::is_answered);
    let data: Vec<_> = pair.server_data().collect();
    let place = data.iter().position(|s| s.fate == Fate::Drop).unwrap();
    let (_, lost) = losses(&record).remove(0);
    assert_eq!(lost.packet, data[place].packet.number);
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
    pair.play_until(at_ms(60_000), Pair::is_answered);
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
    // 91, 273 and 637 ms are lost, that of 1365 ms tells of it.
    let (_, record) = blackout(at_ms(1000), at_ms(2000));
    let losses = losses(&record);
    let told = losses.iter().filter(|(_, lost)| lost.persistent_congestion);
    assert_eq!(told.count(), 1);
}

#[test]
fn a_short_blackout_is_no_persistent_congestion() {
    // The probe after 91 ms is lost, that of 273 ms arrives: the losses span less than 273 ms.
    let (_, record) = blackout(at_ms(1000), at_ms(1200));
    let losses = losses(&record);
    assert!(losses.len() > 10, "{}", losses.len());
    assert!(losses.iter().all(|(_, lost)| !lost.persistent_congestion));
}

#[test]
fn a_late_packet_is_a_spurious_loss_and_its_bytes_are_given_back() {
    let (mut pair, record) = answering(300_000, 60_000, |_, packet| {
        if packet.number == 40 {
            Fate::Late(ms(60))
        } else {
            Fate::Pass
        }
    });
    pair.play_until(at_ms(3000), |pair| pair.server.counters().packets_lost > 0);
    let lost_then = pair.server.path().lost;
    assert!(lost_then > Bytes::ZERO);
    let end = pair.now + ms(1000);
    pair.play(end);
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
    pair.play_until(at_ms(20_000), Pair::is_answered);
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
    pair.play_until(at_ms(10_000), Pair::is_answered);
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
