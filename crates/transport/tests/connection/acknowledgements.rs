//! When the receiver acknowledges (RFC 9000 section 13.2, draft-ietf-quic-ack-frequency) and the ECN counts
//! that it reports (RFC 9000 section 13.4).

use crate::pair::{Exchange, Fate, Pair, Sent, Way, at_ms, ms};
use crate::scribe::{Scribe, Told};
use std::cell::RefCell;
use std::rc::Rc;
use thalweg_transport::packet::{Frame, Kind};
use thalweg_transport::{Rules, TransportConfig};
use thalweg_units::{Duration, Ecn, Instant};

fn answered(config: &TransportConfig, window: u64) -> Pair {
    let (scribe, _) = Scribe::with_window(window);
    let mut pair = Pair::new(config, scribe)
        .asking(&[Exchange::new(0, 1_000_000)])
        .connect();
    pair.run_until(at_ms(60_000), Pair::is_answered);
    pair
}

fn acks(pair: &Pair) -> impl Iterator<Item = &Sent> {
    pair.sent
        .iter()
        .filter(|s| s.way == Way::ToServer && s.packet.ack.is_some())
}

#[test]
fn every_second_packet_is_acknowledged() {
    let config = TransportConfig {
        ack_frequency: false,
        ..TransportConfig::new(Rules::Picoquic)
    };
    let pair = answered(&config, 60_000);
    let packets = pair.server_data().count();
    let acks = acks(&pair).count();
    assert!(
        (packets / 2..=packets / 2 + 25).contains(&acks),
        "{acks} for {packets}"
    );
}

#[test]
fn a_single_packet_is_acknowledged_after_the_delay() {
    let config = TransportConfig {
        ack_frequency: false,
        min_ack_delay: ms(7),
        ..TransportConfig::new(Rules::Picoquic)
    };
    let (scribe, _) = Scribe::with_window(60_000);
    let mut pair = Pair::new(&config, scribe)
        .asking(&[Exchange::new(0, 1000)])
        .connect();
    pair.run_until(at_ms(1000), Pair::is_answered);
    pair.run_to(at_ms(500));
    pair.server.write(1, 1000, false, 9, true);
    pair.pump(Way::ToClient);
    pair.run_to(at_ms(600));
    let ack = acks(&pair).last().unwrap();
    assert_eq!((ack.time, ack.packet.kind), (at_ms(547), Kind::AckOnly));
    assert_eq!(ack.packet.ack.as_ref().unwrap().delay(), ms(7));
}

#[test]
fn the_end_of_a_stream_is_acknowledged_at_once() {
    let pair = answered(&TransportConfig::new(Rules::Picoquic), 60_000);
    let end = pair.completions(0).next().unwrap();
    assert_eq!(acks(&pair).last().unwrap().time, end);
}

#[test]
fn a_requested_frequency_thins_acknowledgements_out_and_no_more_than_asked() {
    let often = acks(&answered(
        &TransportConfig {
            ack_frequency: false,
            ..TransportConfig::new(Rules::Picoquic)
        },
        144_000,
    ))
    .count();
    let pair = answered(&TransportConfig::new(Rules::Picoquic), 144_000);
    let asked = pair
        .sent
        .iter()
        .filter(|s| s.way == Way::ToClient)
        .flat_map(|s| s.packet.frames);
    let (every, delay) = asked.fold((0, Duration::ZERO), |before, frame| match frame {
        Frame::AckFrequency { every, delay } => (every, delay),
        _ => before,
    });
    // Asked in the first data packet, before the larger MTU is known: 144 000 / 1252 = 115 packets, halved in
    // start-up: (57 + 3) / 4 = 15; a quarter of 80 ms is capped at 10.
    assert_eq!((every, delay), (15, ms(10)));
    let seldom = acks(&pair).count();
    // After 128 packets, of some 712, every 15th: 64 + 584 / 15 = 103, and some for the ends of flights.
    assert!(
        (100..200).contains(&seldom) && seldom * 2 < often,
        "{seldom} against {often}"
    );
    // No acknowledgement is delayed beyond the requested delay.
    for ack in acks(&pair) {
        assert!(ack.packet.ack.as_ref().unwrap().delay() <= ms(10));
    }
}

#[test]
fn marks_and_codepoints_are_counted_to_the_packet() {
    let (scribe, record) = Scribe::with_window(60_000);
    let mut pair = Pair::new(&TransportConfig::new(Rules::Picoquic), scribe)
        .asking(&[Exchange::new(0, 300_000)])
        .with_pipe(|_, way, _, packet| {
            if way == Way::ToClient && packet.kind == Kind::Data && packet.number % 10 == 7 {
                packet.ecn = Ecn::Ce;
            }
            Fate::Pass
        })
        .connect();
    pair.run_until(at_ms(3000), Pair::is_answered);
    pair.run_to(at_ms(4000));
    let numbered = |s: &&Sent| s.way == Way::ToClient && s.is_data();
    let count = |ecn| {
        pair.sent
            .iter()
            .filter(numbered)
            .filter(|s| s.packet.ecn == ecn)
            .count() as u64
    };
    let known = pair.server.path().ecn;
    assert!(known.ce >= 20);
    assert_eq!(
        (known.ect0, known.ect1, known.ce),
        (count(Ecn::Ect0), 0, count(Ecn::Ce))
    );
    // The controller gets an event only for growth, each time with larger counts.
    let told = record.lock().unwrap();
    let heard: Vec<u64> = told
        .iter()
        .filter_map(|(_, told)| match told {
            Told::Ecn(counts) => Some(counts.ce),
            _ => None,
        })
        .collect();
    assert!(heard.windows(2).all(|pair| pair[0] < pair[1]), "{heard:?}");
    assert_eq!(heard.last(), Some(&known.ce));
}

#[test]
fn a_path_that_clears_or_rewrites_codepoints_gets_packets_without_one_once_that_is_known() {
    // RFC 9000 section 13.4.2: counts that do not cover what is acknowledged. A mark is counted in place of ECT.
    for rules in [Rules::Rfc, Rules::Picoquic] {
        for (becomes, fails) in [(Ecn::NotEct, true), (Ecn::Ect1, true), (Ecn::Ce, false)] {
            let (scribe, record) = Scribe::with_window(20_000);
            let left = Rc::new(RefCell::new(Vec::new()));
            let noted = Rc::clone(&left);
            let mut pair = Pair::new(&TransportConfig::new(rules), scribe)
                .asking(&[Exchange::new(0, 300_000)])
                .with_pipe(move |now, way, _, packet| {
                    if way == Way::ToClient && packet.kind == Kind::Data {
                        noted.borrow_mut().push((now, packet.ecn));
                        // The path changes after half a second.
                        if packet.ecn.is_capable() && now >= at_ms(500) {
                            packet.ecn = becomes;
                        }
                    }
                    Fate::Pass
                })
                .connect();
            pair.run_until(at_ms(5_000), Pair::is_answered);
            let context = format!("{rules:?}, {becomes:?}");
            let left = left.borrow();
            let capable = |(_, ecn): &&(Instant, Ecn)| *ecn == Ecn::Ect0;
            let last = left.iter().rfind(capable).expect("some are").0;
            // The first packets after 500 ms are acknowledged a round trip and a delay of acknowledgements later.
            assert_eq!(
                last <= at_ms(500 + 80 + 80 + 25),
                fails,
                "{context}: {last}"
            );
            let told = record.lock().unwrap();
            let hears = told.iter().any(|(_, told)| matches!(told, Told::Ecn(_)));
            assert_eq!(hears, !fails, "{context}");
        }
    }
}

#[test]
fn the_delay_that_a_peer_reports_is_subtracted_from_the_rtt() {
    // RFC 9002 section 5.3: with a delay of 10 ms for every acknowledgement the path still shows 80 ms.
    let (scribe, record) = Scribe::with_window(144_000);
    let mut pair = Pair::new(&TransportConfig::new(Rules::Picoquic), scribe)
        .asking(&[Exchange::new(0, 1_000_000)])
        .connect();
    pair.run_until(at_ms(60_000), Pair::is_answered);
    let told = record.lock().unwrap();
    let samples = told.iter().filter_map(|(_, told)| match told {
        Told::Rtt(sample) => Some(sample),
        _ => None,
    });
    let mut delayed = 0;
    for sample in samples {
        assert_eq!(sample.rtt, ms(80));
        delayed += u32::from(sample.raw > ms(80));
    }
    assert!(delayed > 0, "no acknowledgement was ever delayed");
}

#[test]
fn counted_acknowledgements_are_in_flight_until_the_answer_to_each_24th_and_two_idle_ends_fall_silent()
 {
    let config = TransportConfig {
        counted_acks: true,
        ack_frequency: false,
        ..TransportConfig::new(Rules::Picoquic)
    };
    let (scribe, _) = Scribe::with_window(60_000);
    let mut pair = Pair::new(&config, scribe)
        .asking(&[Exchange::new(0, 1_000_000)])
        .connect();
    let most = std::cell::Cell::new(0);
    pair.run_until(at_ms(60_000), |pair| {
        most.set(most.get().max(pair.client.path().bytes_in_flight.as_u64()));
        pair.is_answered()
    });
    let most = most.get();
    let alone = |sent: &&Sent| sent.packet.size == 55;
    let own: Vec<&Sent> = acks(&pair).filter(alone).collect();
    assert!(own.len() > 300 && own.iter().all(|sent| sent.packet.kind == Kind::Data));
    let pings = own
        .iter()
        .filter(|sent| matches!(sent.packet.frames[0], Frame::Ping));
    assert_eq!(pings.count(), own.len() / 24);
    // 24 of 55 bytes, and the bytes of a round trip and a delay; the request and the probe of the MTU were before.
    assert!((1320..6000).contains(&most), "{most}");
    let end = pair.now;
    pair.run_to(end + ms(20_000));
    let late = pair.sent.iter().filter(|sent| sent.time > end + ms(5_000));
    assert_eq!(late.count(), 0);
    for end in [&pair.client, &pair.server] {
        assert!(end.path().bytes_in_flight.is_zero(), "{:?}", end.role());
    }
}
