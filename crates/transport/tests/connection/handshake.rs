//! The handshake: its round trips, its losses and the anti-amplification limit, which [`Pair`] checks on
//! every packet.

use crate::pair::{Exchange, Fate, Pair, Way, at_ms, controller};
use crate::scribe::Scribe;
use thalweg_transport::packet::{Frame, Kind};
use thalweg_transport::{AppEvent, Rules, TransportConfig};

fn pair(config: &TransportConfig) -> Pair {
    Pair::new(config, controller("reno", config)).asking(&[Exchange::new(0, 5000)])
}

fn zero_rtt() -> TransportConfig {
    TransportConfig {
        zero_rtt: true,
        ..TransportConfig::new(Rules::Picoquic)
    }
}

#[test]
fn the_handshake_takes_one_round_trip_and_data_arrives_after_two() {
    let mut pair = pair(&TransportConfig::new(Rules::Picoquic)).connect();
    pair.run_until(at_ms(1000), Pair::is_answered);
    assert_eq!(pair.client_event(AppEvent::Connected), Some(at_ms(80)));
    assert_eq!(pair.completions(0).next(), Some(at_ms(160)));
}

#[test]
fn zero_rtt_saves_one_round_trip() {
    // RFC 9000 section 8.1 binds the answer too: a request of 1000 bytes makes a packet of 1034, and
    // 3 x (1252 + 1034) bytes less the first flight of 3203 are 3655, room for the answer of 2000.
    let mut pair = pair(&zero_rtt());
    pair.exchanges[0] = Exchange {
        request: 1000,
        ..Exchange::new(0, 2000)
    };
    let mut pair = pair.connect();
    pair.run_until(at_ms(1000), Pair::is_answered);
    assert_eq!(pair.completions(0).next(), Some(at_ms(80)));
}

#[test]
fn the_answer_to_zero_rtt_waits_for_the_address_to_be_validated() {
    let mut pair = pair(&zero_rtt()).connect();
    pair.exchanges[0].response = 12_000;
    pair.run_until(at_ms(1000), Pair::is_answered);
    // The client's acknowledgement of the first flight, at 80 ms, lets the rest go at 120 ms.
    assert_eq!(pair.completions(0).next(), Some(at_ms(160)));
}

#[test]
fn a_server_whose_client_falls_silent_sends_three_times_what_it_got_and_no_more() {
    for config in [TransportConfig::new(Rules::Picoquic), zero_rtt()] {
        // Only the client's first packets arrive; the server has a minute to overdo it.
        let mut pair = pair(&config)
            .with_pipe(|now, way, _, _| {
                if way == Way::ToServer && now > at_ms(10) {
                    Fate::Drop
                } else {
                    Fate::Pass
                }
            })
            .connect();
        pair.run_to(at_ms(60_000));
        let sum = |way| {
            let of = pair
                .sent
                .iter()
                .filter(|s| s.way == way && s.fate != Fate::Drop);
            of.map(|s| u64::from(s.packet.size)).sum::<u64>()
        };
        let (got, gave) = (sum(Way::ToServer), sum(Way::ToClient));
        assert!(gave <= 3 * got, "{gave} for {got}");
        // 3203 bytes is the first flight; less would be a server that does not even try.
        assert!(gave >= 3203, "{gave} for {got}");
    }
}

#[test]
fn a_server_keeps_the_limit_while_the_client_repeats_its_initial() {
    // Nothing of the server arrives, so the client repeats its Initial at 999 ms, 3 s, 7 s ...
    let mut pair = pair(&TransportConfig::new(Rules::Picoquic))
        .with_pipe(|_, way, _, _| match way {
            Way::ToServer => Fate::Pass,
            Way::ToClient => Fate::Drop,
        })
        .connect();
    pair.run_to(at_ms(60_000));
    let initials = pair
        .sent
        .iter()
        .filter(|s| s.packet.kind == Kind::ClientInitial);
    assert_eq!(initials.count(), 6); // 0, 1, 3, 7, 15 and 31 s, and the next at 63 s
}

#[test]
fn every_packet_of_the_first_flights_may_be_lost() {
    for config in [TransportConfig::new(Rules::Picoquic), zero_rtt()] {
        for lost in 0..16 {
            let mut pair = pair(&config)
                .with_pipe(move |_, _, n, _| if n == lost { Fate::Drop } else { Fate::Pass })
                .connect();
            pair.run_until(at_ms(4000), Pair::is_answered);
            // Not so fast that nothing can have been lost.
            let fastest = if config.zero_rtt { 80 } else { 160 };
            assert!(pair.completions(0).next() >= Some(at_ms(fastest)));
        }
    }
}

#[test]
fn any_three_packets_of_the_first_flights_may_be_lost_together() {
    // RFC 9002 section 6.2.2.1: the client must not block the server at its amplification limit.
    for config in [TransportConfig::new(Rules::Picoquic), zero_rtt()] {
        for a in 0..9 {
            for b in a + 1..10 {
                for c in b + 1..11 {
                    let lost = [a, b, c];
                    let mut pair = pair(&config)
                        .with_pipe(move |_, _, n, _| {
                            if lost.contains(&n) {
                                Fate::Drop
                            } else {
                                Fate::Pass
                            }
                        })
                        .connect();
                    pair.run_to(at_ms(30_000));
                    assert!(
                        pair.is_answered(),
                        "losing {lost:?}, 0-RTT {}",
                        config.zero_rtt
                    );
                }
            }
        }
    }
}

#[test]
fn the_path_mtu_is_raised_by_an_acknowledged_probe_and_only_then() {
    let config = TransportConfig::new(Rules::Picoquic);
    for probe_passes in [true, false] {
        let (scribe, _) = Scribe::with_window(100_000);
        let mut pair = Pair::new(&config, scribe)
            .asking(&[Exchange::new(0, 400_000)])
            .with_pipe(move |_, _, _, packet| {
                let probe = packet.frames[0] == Frame::MtuProbe;
                if probe && !probe_passes {
                    Fate::Drop
                } else {
                    Fate::Pass
                }
            })
            .connect();
        pair.run_until(at_ms(5000), Pair::is_answered);
        let largest = pair.server_data().map(|s| s.packet.size).max();
        assert_eq!(largest, Some(if probe_passes { 1440 } else { 1252 }));
    }
}
