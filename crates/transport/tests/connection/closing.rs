//! The close exchange (RFC 9000 section 10.2) and rest after idleness (RFC 9002 section 7.8).

use crate::pair::{Exchange, Fate, Pair, Way, at_ms, controller, ms};
use crate::scribe::{Scribe, Told};
use thalweg_transport::packet::Kind;
use thalweg_transport::{AppEvent, Rules, TransportConfig};
use thalweg_units::Instant;

fn answered(pipe: impl FnMut(Instant, Way, Kind) -> Fate + 'static) -> Pair {
    let config = TransportConfig::new(Rules::Picoquic);
    let mut pipe = pipe;
    let mut pair = Pair::new(&config, controller("reno", &config))
        .asking(&[Exchange::new(0, 5000)])
        .with_pipe(move |now, way, _, packet| pipe(now, way, packet.kind))
        .connect();
    pair.run_until(at_ms(1000), Pair::is_answered);
    pair.run_to(at_ms(500)); // the last acknowledgements
    pair
}

#[test]
fn closing_takes_one_round_trip_and_the_server_is_closed_half_way() {
    let mut pair = answered(|_, _, _| Fate::Pass);
    pair.client.close();
    pair.pump(Way::ToServer);
    pair.run_to(at_ms(2000));
    assert_eq!(pair.client_event(AppEvent::Closed), Some(at_ms(580)));
    let server = pair.server_events.iter().find(|e| e.1 == AppEvent::Closed);
    assert_eq!(server.map(|e| e.0), Some(at_ms(540)));
    // Both stay silent.
    assert_eq!(pair.client.next().min(pair.server.next()), Instant::NEVER);
}

#[test]
fn a_close_without_answer_ends_after_three_probe_timeouts() {
    // RFC 9000 section 10.2: three times the PTO.
    let mut pair = answered(|_, way, kind| {
        if kind == Kind::Close && way == Way::ToClient {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    let path = pair.client.path().clone();
    let pto = path.smoothed_rtt + (path.rtt_var * 4).max(ms(1)) + ms(10);
    pair.client.close();
    pair.pump(Way::ToServer);
    pair.run_to(at_ms(5000));
    assert_eq!(
        pair.client_event(AppEvent::Closed),
        Some(at_ms(500) + pto * 3)
    );
}

#[test]
fn when_both_close_at_once_both_are_closed_half_a_round_trip_later() {
    let mut pair = answered(|_, _, _| Fate::Pass);
    pair.client.close();
    pair.server.close();
    pair.pump(Way::ToServer);
    pair.pump(Way::ToClient);
    pair.run_to(at_ms(2000));
    for events in [&pair.client_events, &pair.server_events] {
        let closed: Vec<_> = events.iter().filter(|e| e.1 == AppEvent::Closed).collect();
        assert_eq!(closed.len(), 1);
        assert_eq!(closed[0].0, at_ms(540));
    }
}

/// Idle restarts reported to a controller when the server writes again after `pause`.
fn restarts_after(pause: u64) -> usize {
    let (scribe, record) = Scribe::with_window(100_000);
    let mut pair = Pair::new(&TransportConfig::new(Rules::Picoquic), scribe)
        .asking(&[Exchange::new(0, 50_000)])
        .connect();
    pair.run_until(at_ms(2000), Pair::is_answered);
    let quiet = pair.now + ms(200);
    pair.run_to(quiet);
    pair.run_to(quiet + ms(pause));
    pair.server.write(1, 50_000, true, 9, true);
    pair.pump(Way::ToClient);
    pair.run_to(quiet + ms(pause) + ms(2000));
    assert_eq!(pair.completions(1).count(), 1);
    let record = record.lock().unwrap();
    record
        .iter()
        .filter(|(_, told)| matches!(told, Told::IdleRestart))
        .count()
}

#[test]
fn sending_again_after_more_than_a_second_of_idleness_is_reported_once() {
    assert_eq!(restarts_after(3000), 1);
    assert_eq!(restarts_after(300), 0);
}
