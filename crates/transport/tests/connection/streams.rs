//! Which stream goes first (RFC 9218 section 10) and how streams end early (RFC 9000 section 3.5).

use crate::pair::{Exchange, Fate, Pair, Way, at_ms, ms};
use crate::scribe::Scribe;
use thalweg_transport::packet::{Frame, Packet, StreamId};
use thalweg_transport::{AppEvent, Rules, TransportConfig};

/// Serves streams 1 to 3 of 40 000 bytes, written in reverse order, and returns the order in which their
/// frames left.
fn order(
    priorities: [u8; 3],
    incremental: bool,
    lose: impl Fn(usize) -> bool + 'static,
) -> Vec<StreamId> {
    let (scribe, _) = Scribe::with_window(20_000);
    let mut data = 0;
    let mut pair = Pair::new(&TransportConfig::new(Rules::Picoquic), scribe)
        .asking(&[Exchange::new(0, 1000)])
        .with_pipe(move |now, way, _, packet| {
            if way == Way::ToClient && now >= at_ms(500) && packet.payload() > 0 {
                data += 1;
                if lose(data) {
                    return Fate::Drop;
                }
            }
            Fate::Pass
        })
        .connect();
    pair.run_until(at_ms(1000), Pair::is_answered);
    pair.run_to(at_ms(500));
    for id in (1..=3).rev() {
        pair.server
            .write(id, 40_000, true, priorities[id as usize - 1], incremental);
    }
    pair.pump(Way::ToClient);
    pair.run_to(at_ms(5000));
    for id in 1..=3 {
        assert_eq!(pair.completions(id).count(), 1);
    }
    let late = pair
        .sent
        .iter()
        .filter(|s| s.way == Way::ToClient && s.time >= at_ms(500));
    late.flat_map(|s| s.packet.frames)
        .filter_map(|frame| match frame {
            Frame::Stream { id, .. } => Some(id),
            _ => None,
        })
        .collect()
}

fn runs(mut order: Vec<StreamId>) -> Vec<StreamId> {
    order.dedup();
    order
}

#[test]
fn a_more_urgent_stream_goes_first_to_its_end() {
    for incremental in [true, false] {
        assert_eq!(runs(order([9, 2, 5], incremental, |_| false)), [2, 3, 1]);
    }
}

#[test]
fn lost_data_of_an_urgent_stream_goes_before_new_data_of_others() {
    // The third packet, of stream 2, is lost; when that is known stream 3 is not yet done.
    let runs = runs(order([9, 2, 5], true, |n| n == 27));
    assert_eq!(runs, [2, 3, 2, 3, 1]);
}

#[test]
fn without_incremental_streams_of_one_priority_go_one_after_the_other() {
    assert_eq!(runs(order([4, 4, 4], false, |_| false)), [1, 2, 3]);
}

#[test]
fn incremental_streams_of_one_priority_take_turns() {
    let order = order([4, 4, 4], true, |_| false);
    // Each of the first 60 frames is of the stream whose turn it is.
    for trio in order[..60].chunks(3) {
        let mut trio = trio.to_vec();
        trio.sort_unstable();
        assert_eq!(trio, [1, 2, 3], "{order:?}");
    }
}

fn has(packet: &Packet, wanted: impl Fn(&Frame) -> bool) -> bool {
    packet.frames.iter().any(wanted)
}

/// The client refuses stream 1, of which the server has a megabyte to send.
fn refused(pipe: impl FnMut(&Packet) -> Fate + 'static) -> Pair {
    let (scribe, _) = Scribe::with_window(20_000);
    let mut pipe = pipe;
    let mut pair = Pair::new(&TransportConfig::new(Rules::Picoquic), scribe)
        .asking(&[Exchange::new(0, 1000)])
        .with_pipe(move |_, _, _, packet| pipe(packet))
        .connect();
    pair.run_until(at_ms(1000), Pair::is_answered);
    pair.run_to(at_ms(500));
    pair.server.write(1, 1_000_000, true, 9, true);
    pair.server.write(2, 60_000, true, 9, true);
    pair.pump(Way::ToClient);
    pair.run_to(at_ms(600));
    pair.client.stop_receiving(1);
    pair.pump(Way::ToServer);
    pair
}

#[test]
fn a_refused_stream_is_reset_and_sends_nothing_more() {
    let mut pair = refused(|_| Fate::Pass);
    pair.run_to(at_ms(5000));
    // STOP_SENDING takes half a round trip.
    let heard = pair
        .server_events
        .iter()
        .find(|e| e.1 == AppEvent::StopSending(1));
    assert_eq!(heard.map(|e| e.0), Some(at_ms(640)));
    let resets = pair
        .sent
        .iter()
        .filter(|s| has(&s.packet, |f| matches!(f, Frame::ResetStream { id: 1, .. })));
    assert_eq!(resets.count(), 1);
    let late = pair.server_data().filter(|s| s.time > at_ms(640));
    assert!(
        late.flat_map(|s| s.packet.frames)
            .all(|f| !matches!(f, Frame::Stream { id: 1, .. }))
    );
    assert_eq!(pair.completions(1).count(), 0);
    assert_eq!(pair.completions(2).count(), 1);
    assert!(pair.server.path().bytes_in_flight.is_zero());
}

#[test]
fn a_lost_request_to_stop_is_repeated() {
    let mut to_lose = 2;
    let mut pair = refused(move |packet| {
        if to_lose > 0 && has(packet, |f| *f == Frame::StopSending(1)) {
            to_lose -= 1;
            return Fate::Drop;
        }
        Fate::Pass
    });
    pair.run_to(at_ms(10_000));
    let stops = pair
        .server_events
        .iter()
        .filter(|e| e.1 == AppEvent::StopSending(1));
    assert_eq!(stops.count(), 1);
}

#[test]
fn a_request_to_stop_is_repeated_although_other_streams_end_meanwhile() {
    let mut to_lose = 1;
    let (scribe, _) = Scribe::with_window(20_000);
    let mut pair = Pair::new(&TransportConfig::new(Rules::Picoquic), scribe)
        .asking(&[Exchange::new(0, 1000)])
        .with_pipe(move |_, _, _, packet| {
            if to_lose > 0 && has(packet, |f| *f == Frame::StopSending(1)) {
                to_lose -= 1;
                return Fate::Drop;
            }
            Fate::Pass
        })
        .connect();
    pair.run_until(at_ms(1000), Pair::is_answered);
    pair.run_to(at_ms(500));
    pair.server.write(1, 3_000_000, true, 9, true);
    pair.server.write(2, 10_000, true, 9, true);
    pair.pump(Way::ToClient);
    pair.run_to(at_ms(560));
    pair.client.stop_receiving(1);
    pair.pump(Way::ToServer);
    pair.run_to(at_ms(20_000));
    assert_eq!(pair.completions(2).count(), 1);
    let stops = pair
        .server_events
        .iter()
        .filter(|e| e.1 == AppEvent::StopSending(1));
    assert_eq!(stops.count(), 1);
}

#[test]
fn a_lost_reset_is_repeated_although_other_streams_end_meanwhile() {
    let mut to_lose = 1;
    let (scribe, _) = Scribe::with_window(40_000);
    let mut pair = Pair::new(&TransportConfig::new(Rules::Picoquic), scribe)
        .asking(&[Exchange::new(0, 1000)])
        .with_pipe(move |_, _, _, packet| {
            if to_lose > 0 && has(packet, |f| matches!(f, Frame::ResetStream { id: 1, .. })) {
                to_lose -= 1;
                return Fate::Drop;
            }
            Fate::Pass
        })
        .connect();
    pair.run_until(at_ms(1000), Pair::is_answered);
    pair.run_to(at_ms(500));
    pair.server.write(1, 1_000_000, true, 9, true);
    pair.server.write(2, 20_000, true, 9, true);
    pair.pump(Way::ToClient);
    pair.run_to(at_ms(560));
    pair.client.stop_receiving(1);
    pair.pump(Way::ToServer);
    pair.run_to(at_ms(10_000));
    let resets = pair
        .sent
        .iter()
        .filter(|s| has(&s.packet, |f| matches!(f, Frame::ResetStream { id: 1, .. })));
    assert!(
        resets.clone().any(|s| s.fate == Fate::Pass),
        "{} sent",
        resets.count()
    );
    let last = pair.now + ms(1);
    pair.run_to(last);
    assert!(pair.server.path().bytes_in_flight.is_zero());
}
