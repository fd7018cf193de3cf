//! Datagrams (RFC 9221): unreliable, and before streams of the same priority. [`Pair`] checks that none is
//! sent twice.

use crate::pair::{Exchange, Fate, Pair, Way, at_ms};
use crate::scribe::Scribe;
use thalweg_transport::packet::Frame;
use thalweg_transport::{AppEvent, Rules, TransportConfig};

fn connected(window: u64) -> Pair {
    let (scribe, _) = Scribe::with_window(window);
    let mut pair = Pair::new(&TransportConfig::new(Rules::Picoquic), scribe)
        .asking(&[Exchange::new(0, 1000)])
        .connect();
    pair.run_until(at_ms(1000), Pair::is_answered);
    pair.run_to(at_ms(500));
    pair
}

/// Order in which the data of streams (`None`) and datagrams (their tags) left after 500 ms.
fn order(pair: &Pair) -> Vec<Option<u64>> {
    let late = pair
        .sent
        .iter()
        .filter(|s| s.way == Way::ToClient && s.time >= at_ms(500));
    let mut order: Vec<_> = late
        .flat_map(|s| s.packet.frames)
        .filter_map(|frame| match frame {
            Frame::Stream { .. } => Some(None),
            Frame::Datagram { tag, .. } => Some(Some(tag)),
            _ => None,
        })
        .collect();
    order.dedup();
    order
}

#[test]
fn at_equal_priority_datagrams_leave_before_streams() {
    let mut pair = connected(20_000);
    pair.server.write(1, 30_000, true, 9, true);
    for tag in 0..5 {
        pair.server.send_datagram(1000, tag, 9);
    }
    pair.pump(Way::ToClient);
    pair.run_to(at_ms(2000));
    assert_eq!(
        order(&pair),
        [Some(0), Some(1), Some(2), Some(3), Some(4), None]
    );
}

#[test]
fn a_less_urgent_datagram_waits_for_the_stream_and_a_more_urgent_one_overtakes_others() {
    let mut pair = connected(20_000);
    pair.server.write(1, 60_000, true, 5, true);
    pair.server.send_datagram(1000, 70, 7);
    pair.server.send_datagram(1000, 71, 7);
    pair.server.send_datagram(1000, 30, 3);
    pair.pump(Way::ToClient);
    pair.run_to(at_ms(2000));
    assert_eq!(order(&pair), [Some(30), None, Some(70), Some(71)]);
}

#[test]
fn a_lost_datagram_stays_lost_and_its_bytes_leave_the_flight() {
    let (scribe, _) = Scribe::with_window(60_000);
    let mut pair = Pair::new(&TransportConfig::new(Rules::Picoquic), scribe)
        .asking(&[Exchange::new(0, 1000)])
        .with_pipe(|_, way, _, packet| {
            let odd = |frame: &Frame| matches!(frame, Frame::Datagram { tag, .. } if tag % 2 == 1);
            if way == Way::ToClient && packet.frames.iter().any(odd) {
                Fate::Drop
            } else {
                Fate::Pass
            }
        })
        .connect();
    pair.run_until(at_ms(1000), Pair::is_answered);
    for tag in 0..20 {
        pair.server.send_datagram(1100, tag, 9); // more than half a packet: one in each
    }
    pair.pump(Way::ToClient);
    pair.run_to(at_ms(5000));
    let tags: Vec<u64> = pair
        .client_events
        .iter()
        .filter_map(|(_, event)| match event {
            AppEvent::Datagram { tag, len: 1100 } => Some(*tag),
            _ => None,
        })
        .collect();
    assert_eq!(tags, (0..20).filter(|tag| tag % 2 == 0).collect::<Vec<_>>());
    assert_eq!(pair.server.counters().packets_lost, 10);
    assert!(pair.server.path().bytes_in_flight.is_zero());
}

#[test]
fn a_datagram_that_fits_no_packet_is_cut_to_one() {
    let mut pair = connected(20_000);
    pair.server.send_datagram(9000, 1, 9);
    pair.pump(Way::ToClient);
    pair.run_to(at_ms(2000));
    let len = pair
        .client_events
        .iter()
        .find_map(|(_, event)| match event {
            AppEvent::Datagram { tag: 1, len } => Some(*len),
            _ => None,
        });
    assert!(
        len.is_some_and(|len| (1150..1252).contains(&len)),
        "{len:?}"
    );
}
