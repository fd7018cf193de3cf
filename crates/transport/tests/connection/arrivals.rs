//! When packets arrived, as the receiver reports it (draft-smith-quic-receive-ts section 3).

use crate::pair::{Exchange, Fate, Pair, Way, at_ms, ms};
use crate::scribe::{Record, Scribe, Told};
use std::collections::BTreeSet;
use thalweg_transport::packet::Kind;
use thalweg_transport::{Rules, TransportConfig};
use thalweg_units::Duration;

/// How much longer than 40 ms a packet of data takes; every eleventh is lost.
fn lateness(number: u64) -> Duration {
    ms(number % 7)
}

/// A server that sends 300 kB, and loses every third ACK.
fn answered(scribe: Box<dyn thalweg_control::Controller>) -> Pair {
    let mut acks = 0;
    let mut pair = Pair::new(&TransportConfig::new(Rules::Rfc), scribe)
        .asking(&[Exchange::new(0, 300_000)])
        .with_pipe(move |_, way, _, packet| match (way, packet.kind) {
            (Way::ToClient, Kind::Data) if packet.number % 11 == 10 => Fate::Drop,
            (Way::ToClient, Kind::Data) => Fate::Late(lateness(packet.number)),
            (Way::ToServer, Kind::AckOnly) => {
                acks += 1;
                if acks % 3 == 0 {
                    Fate::Drop
                } else {
                    Fate::Pass
                }
            }
            _ => Fate::Pass,
        });
    pair.server.learn_arrivals(&mut pair.client);
    let mut pair = pair.connect();
    pair.run_until(at_ms(20_000), Pair::is_answered);
    pair.run_to(at_ms(20_500));
    pair
}

fn told(record: &Record) -> Vec<Told> {
    let told = record.lock().unwrap();
    told.iter().map(|(_, told)| told.clone()).collect()
}

#[test]
fn each_acknowledged_packet_is_reported_once_with_the_time_at_which_it_arrived() {
    let (scribe, record) = Scribe::of_arrivals(60_000);
    answered(scribe);
    let (mut seen, mut since_ack, mut acknowledged) = (BTreeSet::new(), Vec::new(), 0);
    for told in told(&record) {
        match told {
            Told::Arrival(arrival) => {
                assert_eq!(
                    arrival.arrived,
                    arrival.sent + ms(40) + lateness(arrival.packet)
                );
                assert!(seen.insert(arrival.packet), "{} twice", arrival.packet);
                since_ack.push(arrival.packet);
            }
            Told::Ack(ack) => {
                // The arrivals of the frame come first, in the order of their numbers.
                assert!(since_ack.is_sorted());
                assert_eq!(since_ack.last(), Some(&ack.largest));
                assert_eq!(since_ack.len() as u64, ack.newly_acked_packets);
                acknowledged += ack.newly_acked_packets;
                since_ack.clear();
            }
            _ => {}
        }
    }
    assert_eq!(seen.len() as u64, acknowledged);
    assert!(acknowledged > 250, "{acknowledged}"); // 300 kB in packets of 1200 bytes
}

#[test]
fn a_controller_that_does_not_ask_is_not_told_and_sees_the_same() {
    let (plain, record) = Scribe::with_window(60_000);
    let (asking, other) = Scribe::of_arrivals(60_000);
    let (plain, asking) = (answered(plain), answered(asking));
    let is_arrival = |told: &Told| matches!(told, Told::Arrival(_));
    let told_plain = told(&record);
    assert!(!told_plain.iter().any(is_arrival));
    let rest: Vec<_> = told(&other)
        .into_iter()
        .filter(|told| !is_arrival(told))
        .collect();
    assert_eq!(format!("{rest:?}"), format!("{told_plain:?}"));
    assert_eq!(plain.sent.len(), asking.sent.len());
}
