//! The path MTU: how it is found while data flows, when it falls back, and what follows.

use crate::pair::{Exchange, Fate, Pair, Sent, Way, at_ms, ms};
use crate::scribe::{Scribe, Told};
use thalweg_transport::packet::{Frame, Packet};
use thalweg_transport::{Rules, TransportConfig};
use thalweg_units::{Bytes, Instant};

const ANSWER: u64 = 600_000;

fn config(mtu_fallback: bool) -> TransportConfig {
    TransportConfig {
        mtu_fallback,
        ..TransportConfig::new(Rules::Picoquic)
    }
}

/// An answer over a path that drops what `drops` says: it is asked with the time, the size of a packet of the server,
/// and how many of 1440 bytes with data came before.
fn answer(
    config: &TransportConfig,
    drops: impl Fn(Instant, u32, u32) -> bool + 'static,
) -> (Pair, Instant) {
    let (scribe, _) = Scribe::with_window(60_000);
    let mut full = 0;
    let pair = Pair::new(config, scribe)
        .asking(&[Exchange::new(0, ANSWER)])
        .with_pipe(move |now, _, _, packet| {
            let dropped = drops(now, packet.size, full);
            full += u32::from(packet.size == 1440 && packet.payload() > 0);
            if dropped { Fate::Drop } else { Fate::Pass }
        })
        .connect();
    (pair, at_ms(60_000))
}

/// Packets that the server sends after its first one of 1440 bytes with data.
fn after_the_mtu_is_found(pair: &Pair) -> impl Iterator<Item = &Sent> {
    let full = |sent: &Sent| sent.packet.size == 1440 && sent.packet.payload() > 0;
    pair.sent.iter().skip_while(move |sent| !full(sent))
}

fn is_mtu_probe(sent: &Sent) -> bool {
    pads(&sent.packet)
}

fn pads(packet: &Packet) -> bool {
    packet.frames[0] == Frame::MtuProbe
}

/// Whether the packet carries data from the last twenty full packets of the answer.
fn is_near_the_end(packet: &Packet) -> bool {
    let near =
        |frame: &Frame| matches!(frame, Frame::Stream { offset, .. } if *offset > ANSWER - 28_000);
    packet.frames.iter().any(near)
}

#[test]
fn a_sender_with_data_finds_the_mtu_at_once_and_repeats_a_lost_probe_up_to_three_times() {
    // RFC 8899 section 5.1.2: MAX_PROBES is 3. Uploads have data from the start, downloads when a lost probe is repeated.
    for rules in [Rules::Rfc, Rules::Picoquic] {
        for (way, request, response) in
            [(Way::ToServer, 400_000, 100), (Way::ToClient, 100, 400_000)]
        {
            for lost in 0..=3 {
                let (scribe, record) = Scribe::with_window(20_000);
                let mut probes = 0;
                let mut pair = Pair::new(&TransportConfig::new(rules), scribe)
                    .asking(&[Exchange {
                        request,
                        ..Exchange::new(0, response)
                    }])
                    .with_pipe(move |_, to, _, packet| {
                        let is_probe = to == way && pads(packet);
                        probes += u32::from(is_probe);
                        match is_probe && probes <= lost {
                            true => Fate::Drop,
                            false => Fate::Pass,
                        }
                    })
                    .connect();
                pair.run_until(at_ms(5_000), Pair::is_answered);
                let context = format!("{rules:?}, {way:?}, {lost} lost");
                let sent: Vec<&Sent> = pair.sent.iter().filter(|sent| sent.way == way).collect();
                let times: Vec<_> = sent
                    .iter()
                    .filter(|s| is_mtu_probe(s))
                    .map(|s| s.time)
                    .collect();
                assert_eq!(times.len() as u32, 3.min(lost + 1), "{context}");
                let largest = sent
                    .iter()
                    .filter(|s| s.packet.payload() > 0)
                    .map(|s| s.packet.size);
                assert_eq!(
                    largest.max(),
                    Some(if lost < 3 { 1440 } else { 1252 }),
                    "{context}"
                );
                // The first of the server leaves in its first flight, the first of a client with data when the first
                // acknowledgement has come; each of the others when the acknowledgement of the flight that the one before
                // left with shows its loss: 80 ms later, and a delay of acknowledgements.
                let first = match way {
                    Way::ToClient => at_ms(40)..=at_ms(40),
                    Way::ToServer => at_ms(160)..=at_ms(185),
                };
                assert!(first.contains(&times[0]), "{context}: {times:?}");
                let is_due = |pair: &[Instant]| (ms(80)..=ms(150)).contains(&(pair[1] - pair[0]));
                assert!(times[1..].windows(2).all(is_due), "{context}: {times:?}");
                // RFC 9000 section 14.4: no sign of congestion. Only probes of the server were lost.
                let told = record.lock().unwrap();
                let sign = |told: &Told| matches!(told, Told::Lost(_) | Told::Spurious(_));
                assert!(!told.iter().any(|(_, told)| sign(told)), "{context}");
            }
        }
    }
}

#[test]
fn a_probe_needs_room_in_the_window() {
    // RFC 9000 section 14.4: probes consume the window. Three packets of 1252 bytes leave room for 244 bytes.
    let is_probe = |way, packet: &Packet| way == Way::ToClient && pads(packet);
    let (scribe, _) = Scribe::with_window(4_000);
    let mut pair = Pair::new(&TransportConfig::new(Rules::Rfc), scribe)
        .asking(&[Exchange::new(0, 100_000)])
        .with_pipe(move |_, way, _, packet| match is_probe(way, packet) {
            true => Fate::Drop,
            false => Fate::Pass,
        })
        .connect();
    pair.run_until(at_ms(20_000), |pair| {
        assert!(pair.server.path().bytes_in_flight <= pair.server.control().window);
        pair.is_answered()
    });
    let probes = pair.sent.iter().filter(|s| is_probe(s.way, &s.packet));
    assert_eq!(probes.count(), 3);
}

#[test]
fn a_probe_that_arrives_after_it_was_declared_lost_still_shows_the_mtu() {
    let (scribe, record) = Scribe::with_window(20_000);
    let mut pair = Pair::new(&TransportConfig::default(), scribe)
        .asking(&[Exchange::new(0, 400_000)])
        .with_pipe(
            |_, way, _, packet| match way == Way::ToClient && pads(packet) {
                true => Fate::Late(ms(300)),
                false => Fate::Pass,
            },
        )
        .connect();
    pair.run_until(at_ms(5_000), Pair::is_answered);
    assert!(
        pair.sent
            .iter()
            .any(|s| s.packet.size == 1440 && s.packet.payload() > 0)
    );
    assert_eq!(pair.server.path().lost, Bytes::ZERO);
    let told = record.lock().unwrap();
    assert!(
        !told
            .iter()
            .any(|(_, told)| matches!(told, Told::Spurious(_)))
    );
}

#[test]
fn more_than_ten_full_packets_lost_in_a_row_bring_the_initial_mtu_back() {
    // One acknowledgement has to tell of more than ten: the next one tells of full packets that arrived.
    for (lost, mtu_fallback, falls) in [(10, true, false), (20, true, true), (20, false, false)] {
        let (mut pair, limit) = answer(&config(mtu_fallback), move |_, size, full| {
            size == 1440 && (60..60 + lost).contains(&full)
        });
        pair.run_until(limit, Pair::is_answered);
        let later: Vec<&Sent> = after_the_mtu_is_found(&pair).collect();
        let small = |sent: &&&Sent| sent.packet.size == 1252;
        let probes = later.iter().filter(|sent| is_mtu_probe(sent)).count();
        let context = format!("{lost} lost, fallback {mtu_fallback}");
        assert_eq!(later.iter().find(small).is_some(), falls, "{context}");
        assert_eq!(probes > 0, falls, "{context}");
        if falls {
            // The probe goes before the data, and the larger packets come back with what it shows.
            let first = later.iter().position(|sent| is_mtu_probe(sent)).unwrap();
            let smaller = later.iter().position(|s| s.packet.size == 1252).unwrap();
            assert!(first < smaller, "{first}, {smaller}");
            let last = later.iter().rev().find(|s| s.packet.payload() > 1300);
            assert!(last.is_some_and(|s| s.time > later[first].time));
        }
    }
}

#[test]
fn a_path_that_becomes_narrower_is_survived_with_the_fallback_only() {
    let narrows = |now: Instant, size: u32, _| now > at_ms(400) && size > 1300;
    let (mut pair, limit) = answer(&config(true), narrows);
    pair.run_until(limit, Pair::is_answered);
    let probes = after_the_mtu_is_found(&pair).filter(|sent| is_mtu_probe(sent));
    assert!((1..=6).contains(&probes.count()));

    let (mut pair, limit) = answer(&config(false), narrows);
    pair.run_to(limit);
    assert!(!pair.is_answered());
}

#[test]
fn a_probe_timeout_brings_the_initial_mtu_back() {
    let (mut pair, limit) = answer(&config(true), |now, _, _| {
        (at_ms(400)..at_ms(1500)).contains(&now)
    });
    pair.run_until(limit, Pair::is_answered);
    let after =
        after_the_mtu_is_found(&pair).find(|s| s.packet.payload() > 0 && s.packet.size < 1440);
    assert!(after.is_some_and(|sent| sent.packet.size == 1252));
}

#[test]
fn a_probe_of_the_mtu_that_is_lost_with_all_that_follows_does_not_stall_a_narrow_path() {
    for rules in [Rules::Picoquic, Rules::Rfc] {
        let config = TransportConfig {
            mtu_fallback: true,
            ..TransportConfig::new(rules)
        };
        // The path becomes narrow near the end of the answer. Its last packet is small, arrives, and shows the loss.
        // Then the probe and the rest of the data leave, and nothing of this flight arrives.
        let (mut narrow, mut flight) = (false, None);
        let (scribe, _) = Scribe::with_window(60_000);
        let mut pair = Pair::new(&config, scribe)
            .asking(&[Exchange::new(0, ANSWER)])
            .with_pipe(move |now, way, _, packet| {
                narrow |= way == Way::ToClient && is_near_the_end(packet);
                if !narrow || way == Way::ToServer {
                    return Fate::Pass;
                }
                if pads(packet) {
                    flight.get_or_insert(now);
                }
                let in_flight = flight.is_some_and(|start| now < start + ms(50));
                match packet.size == 1440 || in_flight {
                    true => Fate::Drop,
                    false => Fate::Pass,
                }
            })
            .connect();
        pair.run_until(at_ms(10_000), Pair::is_answered);

        let to_client = |sent: &&Sent| sent.way == Way::ToClient;
        let sent: Vec<&Sent> = after_the_mtu_is_found(&pair).filter(to_client).collect();
        let probe = sent.iter().position(|sent| is_mtu_probe(sent)).unwrap();
        let next = sent[probe + 1];
        assert!(
            next.packet.payload() > 0 && next.fate == Fate::Drop,
            "{next:?}"
        );

        // The search for a larger MTU ends.
        pair.run_to(at_ms(60_000));
        let probes = after_the_mtu_is_found(&pair).filter(|sent| is_mtu_probe(sent));
        assert!((1..=6).contains(&probes.count()), "{rules:?}");
        assert!(pair.sent.last().unwrap().time < at_ms(10_000), "{rules:?}");
    }
}
