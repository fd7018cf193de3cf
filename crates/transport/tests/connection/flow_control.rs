//! Flow control (RFC 9000 section 4): limits hold ([`Pair`] checks every packet), and open in time.

use crate::pair::{Exchange, Fate, Pair, Way, at_ms, ms};
use crate::scribe::Scribe;
use thalweg_transport::packet::{Frame, Packet};
use thalweg_transport::{Rules, TransportConfig};

fn small(connection: u64, stream: u64) -> TransportConfig {
    TransportConfig {
        initial_max_data: thalweg_units::Bytes::new(connection),
        initial_max_stream_data: thalweg_units::Bytes::new(stream),
        ..TransportConfig::new(Rules::Picoquic)
    }
}

fn frames(pair: &Pair) -> impl Iterator<Item = Frame> {
    let of_client = pair.sent.iter().filter(|s| s.way == Way::ToServer);
    of_client.flat_map(|s| s.packet.frames)
}

#[test]
fn the_connection_window_triples_whenever_half_of_it_is_used() {
    let (scribe, _) = Scribe::with_window(2_000_000);
    let mut pair = Pair::new(&small(60_000, 1 << 30), scribe)
        .asking(&[Exchange::new(0, 1_000_000)])
        .connect();
    pair.run_until(at_ms(10_000), Pair::is_answered);
    let mut limits: Vec<u64> = frames(&pair)
        .filter_map(|frame| match frame {
            Frame::MaxData(limit) => Some(limit),
            _ => None,
        })
        .collect();
    limits.dedup();
    // 60 000 x 3, x 9, x 27, x 81: the last at 810 000 of the 1 000 000 bytes.
    assert_eq!(limits, [180_000, 540_000, 1_620_000, 4_860_000]);
}

#[test]
fn the_stream_window_triples_whenever_half_of_it_is_used() {
    let (scribe, _) = Scribe::with_window(2_000_000);
    let mut pair = Pair::new(&small(1 << 30, 60_000), scribe)
        .asking(&[Exchange::new(3, 1_000_000)])
        .connect();
    pair.run_until(at_ms(10_000), Pair::is_answered);
    let mut limits: Vec<u64> = frames(&pair)
        .filter_map(|frame| match frame {
            Frame::MaxStreamData { id: 3, limit } => Some(limit),
            _ => None,
        })
        .collect();
    limits.dedup();
    assert_eq!(limits, [180_000, 540_000, 1_620_000, 4_860_000]);
}

#[test]
fn on_a_long_path_windows_grow_with_the_rtt() {
    // At 600 ms: 1 + 600/100 = 7 times.
    let (scribe, _) = Scribe::with_window(2_000_000);
    let mut pair = Pair::new(&small(60_000, 1 << 30), scribe).asking(&[Exchange::new(0, 200_000)]);
    pair.delay = ms(300);
    let mut pair = pair.connect();
    pair.run_until(at_ms(20_000), Pair::is_answered);
    let first = frames(&pair).find_map(|frame| match frame {
        Frame::MaxData(limit) => Some(limit),
        _ => None,
    });
    assert_eq!(first, Some(420_000));
}

#[test]
fn a_window_smaller_than_the_path_costs_round_trips() {
    // 4096 bytes at once, then three times as much in each round trip that brings a limit:
    // 4096, 12 288, 36 864, 110 592 >= 100 000. The first arrives at 160 ms, the last three trips later.
    let (scribe, _) = Scribe::with_window(2_000_000);
    let mut pair = Pair::new(&small(4096, 1 << 30), scribe)
        .asking(&[Exchange::new(0, 100_000)])
        .connect();
    pair.run_until(at_ms(10_000), Pair::is_answered);
    let took = pair.completions(0).next().unwrap();
    assert!(
        took >= at_ms(160 + 3 * 80) && took <= at_ms(160 + 4 * 80),
        "{took}"
    );
}

#[test]
fn a_lost_limit_is_sent_again() {
    let (scribe, _) = Scribe::with_window(2_000_000);
    let mut to_lose = 2;
    let mut pair = Pair::new(&small(4096, 4096), scribe)
        .asking(&[Exchange::new(0, 50_000)])
        .with_pipe(move |_, way, _, packet| {
            let limit =
                |frame: &Frame| matches!(frame, Frame::MaxData(_) | Frame::MaxStreamData { .. });
            if way == Way::ToServer && to_lose > 0 && packet.frames.iter().any(limit) {
                to_lose -= 1;
                return Fate::Drop;
            }
            Fate::Pass
        })
        .connect();
    pair.run_until(at_ms(20_000), Pair::is_answered);
}

#[test]
fn streams_that_were_given_up_give_their_credit_back() {
    // RFC 9000 sections 4.1 and 4.5: bytes of a stream that is reset count once, known by its final size, so
    // that both sides agree on the credit of the connection. Here each of 40 streams loses most of its
    // packets and is then refused by the client; 40 x 20 000 bytes are many times the window.
    let (scribe, _) = Scribe::with_window(40_000);
    let doomed = |packet: &Packet| {
        packet.frames.iter().any(|frame| {
            matches!(
                frame,
                Frame::Stream {
                    id: 1..=40,
                    offset: 2000..,
                    ..
                }
            )
        })
    };
    let mut pair = Pair::new(&small(100_000, 1 << 20), scribe)
        .asking(&[Exchange::new(0, 1000)])
        .with_pipe(move |_, way, _, packet| {
            if way == Way::ToClient && doomed(packet) {
                Fate::Drop
            } else {
                Fate::Pass
            }
        })
        .connect();
    pair.run_until(at_ms(1000), Pair::is_answered);
    for id in 1..=40 {
        pair.server.write(id, 20_000, true, 9, true);
        pair.pump(Way::ToClient);
        let soon = pair.now + ms(50);
        pair.run_to(soon);
        pair.client.stop_receiving(id);
        pair.pump(Way::ToServer);
        let later = pair.now + ms(300);
        pair.run_to(later);
    }
    pair.server.write(41, 20_000, true, 9, true);
    pair.pump(Way::ToClient);
    let end = pair.now + ms(10_000);
    pair.run_to(end);
    assert_eq!(
        pair.completions(41).count(),
        1,
        "the connection has run out of credit"
    );
}
