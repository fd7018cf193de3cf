//! Pacing of a controller that sets no rate (RFC 9002 section 7.7), and its absence.

use crate::pair::{Exchange, Pair, at_ms, controller};
use thalweg_transport::TransportConfig;
use thalweg_units::Instant;

/// When the server sent the packets of an answer of 300 kB, and its pacing rate at the end.
fn departures(pacing: bool) -> (Vec<Instant>, bool) {
    let config = TransportConfig {
        pacing,
        ..TransportConfig::default()
    };
    let exchange = Exchange::new(0, 300_000);
    let mut pair = Pair::new(&config, controller("reno", &config))
        .asking(&[exchange])
        .connect();
    pair.run_until(at_ms(60_000), Pair::is_answered);
    let times = pair.server_data().map(|sent| sent.time).collect();
    (times, pair.server.pacing_rate().is_some())
}

#[test]
fn without_pacing_packets_leave_when_an_acknowledgement_makes_room() {
    let ((paced, has_rate), (unpaced, has_none)) = (departures(true), departures(false));
    assert!(has_rate && !has_none);
    let instants = |mut times: Vec<Instant>| {
        times.dedup();
        times.len()
    };
    // As many packets, of which several leave in one instant, where the pacer spreads those beyond the initial window.
    assert!(paced.len().abs_diff(unpaced.len()) <= 1);
    let (paced, unpaced) = (instants(paced), instants(unpaced));
    assert!(unpaced < paced, "{unpaced} instants, {paced} with pacing");
}
