//! On any network that does not lose everything, the connection delivers.

use crate::pair::{Exchange, Fate, Pair, Way, at_ms, controller, ms};
use proptest::prelude::*;
use rand_core::{Rng as _, SeedableRng};
use thalweg_control::Rng;
use thalweg_transport::packet::Packet;
use thalweg_transport::{Rules, TransportConfig};
use thalweg_units::{Bytes, Duration, Instant};

pub(crate) const CONTROLLERS: [&str; 10] = [
    "c4",
    "c4:variant=v1",
    "cubic",
    "cubic:variant=picoquic",
    "reno",
    "reno:variant=picoquic",
    "bbr",
    "bbr1",
    "prague",
    "cbr",
];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Harm {
    /// Each in thousandths.
    pub(crate) loss: [u64; 2],
    pub(crate) duplication: u64,
    pub(crate) late: u64,
    /// Largest lateness of a packet.
    pub(crate) lateness: Duration,
    pub(crate) seed: u64,
}

impl Harm {
    /// A pipe with this behaviour.
    pub(crate) fn pipe(self) -> impl FnMut(Instant, Way, usize, &mut Packet) -> Fate {
        let mut rng = Rng::seed_from_u64(self.seed);
        move |_, way, _, _| {
            let mut hit = |thousandths| rng.next_u64() % 1000 < thousandths;
            let (lost, twice, late) = (
                hit(self.loss[way as usize]),
                hit(self.duplication),
                hit(self.late),
            );
            let more = Duration::from_nanos(rng.next_u64() % self.lateness.as_nanos());
            match (lost, twice, late) {
                (true, _, _) => Fate::Drop,
                (_, true, _) => Fate::Twice(more),
                (_, _, true) => Fate::Late(more),
                _ => Fate::Pass,
            }
        }
    }
}

pub(crate) fn harm() -> impl Strategy<Value = Harm> {
    (
        0..350u64,
        0..350u64,
        0..200u64,
        0..500u64,
        1..300u64,
        any::<u64>(),
    )
        .prop_map(|(down, up, duplication, late, lateness, seed)| Harm {
            loss: [up, down],
            duplication,
            late,
            lateness: ms(lateness),
            seed,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_of_every_stream_arrives_once_and_nothing_stays_in_flight(
        harm in harm(),
        sizes in proptest::collection::vec((1..60_000u64, 0..4u8, any::<bool>()), 1..6),
        name in proptest::sample::select(&CONTROLLERS[..]),
        window in prop_oneof![Just(4096u64), Just(1 << 20)],
        zero_rtt in any::<bool>(),
        mtu_fallback in any::<bool>(),
        pacing in any::<bool>(),
    ) {
        let config = TransportConfig {
            initial_max_data: Bytes::new(window),
            initial_max_stream_data: Bytes::new(window),
            zero_rtt,
            mtu_fallback,
            pacing,
            ..TransportConfig::new(Rules::Picoquic)
        };
        let exchanges: Vec<Exchange> = sizes.iter().zip(0..).map(|(&(response, priority, incremental), id)| {
            Exchange { id, request: 1 + response / 7, response, priority, incremental }
        }).collect();
        let mut pair = Pair::new(&config, controller(name, &config))
            .asking(&exchanges)
            .with_pipe(harm.pipe())
            .connect();
        // Only the count of probe timeouts limits their doubling: a bad streak may take days.
        pair.run_until(at_ms(1_000_000_000), |pair| {
            let idle = |end: &thalweg_transport::Endpoint| end.path().bytes_in_flight.is_zero();
            pair.is_answered() && idle(&pair.client) && idle(&pair.server)
        });
        for exchange in &exchanges {
            prop_assert_eq!(pair.completions(exchange.id).count(), 1);
        }
        let sum = |of: fn(&Exchange) -> u64| exchanges.iter().map(of).sum::<u64>();
        prop_assert_eq!(pair.client.counters().stream_bytes_received, sum(|e| e.response));
        prop_assert_eq!(pair.server.counters().stream_bytes_received, sum(|e| e.request));
        // The close exchange ends for the client even if every CONNECTION_CLOSE is lost.
        pair.client.close();
        pair.pump(Way::ToServer);
        let end = pair.now + ms(1_000_000);
        pair.run_until(end, |pair| pair.client_event(thalweg_transport::AppEvent::Closed).is_some());
    }
}
