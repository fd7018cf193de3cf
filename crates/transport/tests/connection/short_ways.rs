//! The short ways of the usual packet compared with the long ones, over any network.

use crate::any_network::{CONTROLLERS, Harm, harm};
use crate::pair::{Exchange, Pair, Way, at_ms, controller};
use proptest::prelude::*;
use thalweg_transport::{Rules, TransportConfig};
use thalweg_units::{Bytes, Duration, Ecn};

/// What an answer of the server, an upload of the client or both were, packet by packet, and how many arrivals took
/// the short way.
fn transmissions(
    short: bool,
    harm: Harm,
    config: &TransportConfig,
    name: &str,
    exchanges: &[Exchange],
) -> (String, u64) {
    let mut pipe = harm.pipe();
    let mut pair = Pair::new(config, controller(name, config))
        .asking(exchanges)
        .with_pipe(move |now, way, entered, packet| {
            // Now and then a mark, if anything happens at all.
            if harm.duplication > 0 && entered % 97 < 3 && packet.ecn != Ecn::NotEct {
                packet.ecn = Ecn::Ce;
            }
            pipe(now, way, entered, packet)
        });
    pair.short = short;
    let mut pair = pair.connect();
    pair.run_until(at_ms(1_000_000_000), |pair| {
        pair.is_answered() && pair.client.path().bytes_in_flight.is_zero()
    });
    pair.client.close();
    pair.pump(Way::ToServer);
    let end = pair.now + Duration::from_secs(1);
    pair.run_to(end);
    let ends = [&pair.client, &pair.server].map(|end| {
        format!(
            "{:?} {:?} {:?} {}",
            end.path(),
            end.control(),
            end.counters(),
            end.next()
        )
    });
    let said = (&pair.sent, &pair.client_events, &pair.server_events);
    (format!("{ends:?} {said:?}"), pair.usual)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_ways_send_the_same_packets_at_the_same_times(
        harm in harm(),
        calm in any::<bool>(),
        sizes in proptest::collection::vec((1..400_000u64, 0..4u8, any::<bool>()), 1..3),
        name in proptest::sample::select(&CONTROLLERS[..]),
        window in prop_oneof![Just(4096u64), Just(1 << 20)],
        progress in any::<bool>(),
        mtu_fallback in any::<bool>(),
        pacing in any::<bool>(),
        rules in prop_oneof![Just(Rules::Rfc), Just(Rules::Picoquic)],
    ) {
        let harm = if calm { Harm { loss: [5, 5], duplication: 1, late: 1, ..harm } } else { harm };
        let config = TransportConfig {
            initial_max_data: Bytes::new(window),
            initial_max_stream_data: Bytes::new(window),
            stream_progress: progress,
            mtu_fallback,
            pacing,
            ..TransportConfig::new(rules)
        };
        let exchanges: Vec<Exchange> = sizes.iter().zip(0..).map(|(&(response, priority, incremental), id)| {
            Exchange { id, request: 1 + response / 7, response, priority, incremental }
        }).collect();
        let (long, _) = transmissions(false, harm, &config, name, &exchanges);
        let (short, _) = transmissions(true, harm, &config, name, &exchanges);
        prop_assert!(long == short, "{long}\n{short}");
    }
}

#[test]
fn of_a_download_without_losses_nearly_all_packets_take_the_short_way() {
    let config = TransportConfig {
        stream_progress: false,
        ack_frequency: false,
        ack_every: 20,
        // So wide that no new limit is due, which would have to be acknowledged before the client rests again.
        initial_max_data: Bytes::new(1 << 23),
        initial_max_stream_data: Bytes::new(1 << 23),
        ..TransportConfig::new(Rules::Rfc)
    };
    let harm = Harm {
        loss: [0; 2],
        duplication: 0,
        late: 0,
        lateness: Duration::from_millis(1),
        seed: 1,
    };
    let (_, usual) = transmissions(true, harm, &config, "c4", &[Exchange::new(0, 2_000_000)]);
    // 2 MB are 1423 packets of 1406 bytes. Of 20 between two ACK frames the first sets their time, and the last asks for
    // the next at once: 18 in 20 remain, or fewer where the delay ends first.
    assert!((1150..=1281).contains(&usual), "{usual}");
}
