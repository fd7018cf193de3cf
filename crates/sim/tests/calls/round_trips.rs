//! How fast real-time controllers come to their largest rate on an empty path, over round trips from 20 to 300 ms: each
//! is held against what its document says of its growth.

use super::Case;

/// RTTs, in milliseconds.
const ROUND_TRIPS: [u64; 6] = [20, 50, 100, 150, 200, 300];
/// The largest rate over the least.
const RANGE: f64 = 1_500.0 / 150.0;

/// Holds the time until the rate of media is the largest, on 10 Mbps, between two times that a round trip gives.
#[track_caller]
fn assert_reaches_the_most(controller: &str, rate: &str, between: impl Fn(f64) -> (f64, f64)) {
    for rtt in ROUND_TRIPS {
        let case = Case::on_path_of(rtt, 10_000, 60).call(controller, 0, 59, "");
        let (_, trace) = case.run(1);
        let mut rows = trace.senders.variables.iter();
        let first = rows.find(|row| row.name == rate && row.value >= 1.499e6);
        let reached = first.map_or(f64::INFINITY, |row| row.time.as_secs_f64());
        let (least, most) = between(rtt as f64 / 1e3);
        let range = least..most;
        assert!(
            range.contains(&reached),
            "{controller}, {rtt} ms: {reached} s, not in {range:?}"
        );
    }
}

/// The exponent a second of a rate that is always `factor` times its mean over half a second that ended `delay` seconds
/// ago: factor e^(-x delay) (1 - e^(-x / 2)) / (x / 2) = 1.
fn exponent(factor: f64, delay: f64) -> f64 {
    let over = |x: f64| factor * (-x * delay).exp() * (1.0 - (-x / 2.0).exp()) / (x / 2.0) > 1.0;
    let (mut low, mut high) = (1e-6, 10.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        match over(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

#[test]
fn nada_ramps_up_by_gamma_over_what_arrived_whatever_the_round_trip() {
    // Equations 3 and 4 of RFC 8698: r = (1 + gamma) r_recv, gamma = min(0.5, 50 ms / (RTT + 100 ms + 120 ms)). r_recv is
    // what arrived in LOGWIN, half a second, which at 30 frames a second has the frames at both its ends: 16 of 15. It
    // follows r after a round trip, up to 100 ms of DELTA, and up to 100 ms until the encoder reacts: half of both. The
    // first window is full half a second after the first frame, which comes one and a half round trips after the start.
    assert_reaches_the_most("nada", "r_ref", |rtt| {
        let gamma = f64::min(0.5, 0.05 / (rtt + 0.22));
        let growth = exponent((1.0 + gamma) * 16.0 / 15.0, rtt + 0.1);
        let expected = RANGE.ln() / growth + 0.5 + 1.5 * rtt;
        (0.92 * expected, 1.08 * expected)
    });
}

#[test]
fn gcc_grows_by_eight_percent_a_second_whatever_the_round_trip() {
    // GCC draft section 5.5: 1.08^t = 10, t = 29.92 s.
    let expected = RANGE.ln() / 1.08_f64.ln();
    assert_reaches_the_most("gcc", "target_bitrate", |_| {
        (expected - 0.1, expected + 0.2)
    });
}

#[test]
fn screamv2_grows_by_a_packet_and_a_fiftieth_of_its_window_in_each_round_trip() {
    // SCReAMv2 draft, "Reference Window Update": in packets of 1252 bytes, w' = 1 + w / 50 for each window acknowledged, from
    // 3000 bytes to 1.5 Mbps times the round trip; slower by the square of RTT / 25 ms below that. Connection, request
    // and first feedback take three round trips, and frames come every 33 ms. At first less than the window is sent.
    assert_reaches_the_most("screamv2", "target_bitrate", |rtt| {
        let short = f64::min(1.0, rtt / 0.025).powi(2);
        let (first, last) = (3_000.0 / 1_252.0, 187_500.0 * rtt / 1_252.0);
        let rounds = 50.0 * ((50.0 + last) / (50.0 + first)).ln() / short;
        (rounds * rtt, (rounds + 3.0) * rtt + 0.2)
    });
}
