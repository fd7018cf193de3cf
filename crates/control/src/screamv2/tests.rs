use crate::fake_transport::Flow;
use thalweg_units::{Bytes, Duration, Ecn};

const RTT: Duration = Duration::from_millis(100);

#[test]
fn what_may_be_in_flight_is_half_more_than_the_window_and_pacing_half_more_than_the_media() {
    let flow = Flow::new("screamv2");
    // 3000 bytes at the start, and 150 kbps
    assert_eq!(flow.window(), Bytes::new(4_500));
    let pacing = flow.control().pacing.unwrap();
    assert_eq!(pacing.as_bits_per_sec(), 225_000);
    assert_eq!(flow.controller.ecn(), Ecn::Ect0);
    assert_eq!(Flow::new("screamv2:l4s=on").controller.ecn(), Ecn::Ect1);
}

#[test]
fn the_rate_of_media_is_the_window_over_the_round_trip_less_for_few_packets_and_a_full_window() {
    let mut flow = Flow::new("screamv2:max_rate=100Mbps");
    (0..100).for_each(|_| flow.round(RTT));
    let window = flow.variable("ref_wnd").unwrap();
    assert!(window > 20_000.0, "{window}");
    // One packet in flight, of a window of many: 8 * window / RTT, since 1000 / window is below a tenth.
    let packet = flow.send();
    flow.advance(RTT);
    flow.ack(packet);
    let (window, rate) = (
        flow.variable("ref_wnd").unwrap(),
        flow.variable("target_bitrate").unwrap(),
    );
    assert!(
        (rate / (80.0 * window) - 1.0).abs() < 0.001,
        "{rate} {window}"
    );
    // A window and a half in flight: over 1.5 (SCReAMv2 draft, "Media Rate Control")
    flow.fill_window();
    flow.advance(RTT);
    let first = flow.in_flight()[0];
    flow.ack(first);
    let (window, rate) = (
        flow.variable("ref_wnd").unwrap(),
        flow.variable("target_bitrate").unwrap(),
    );
    assert!(
        (rate / (80.0 * window / 1.5) - 1.0).abs() < 0.001,
        "{rate} {window}"
    );
}

#[test]
fn a_timeout_halves_window_and_rate() {
    let mut flow = Flow::new("screamv2:max_rate=100Mbps");
    (0..100).for_each(|_| flow.round(RTT));
    let before = (
        flow.variable("ref_wnd").unwrap(),
        flow.variable("target_bitrate").unwrap(),
    );
    flow.send();
    flow.timeout();
    let after = (
        flow.variable("ref_wnd").unwrap(),
        flow.variable("target_bitrate").unwrap(),
    );
    assert!((before.0 / after.0 - 2.0).abs() < 1e-9);
    assert!((before.1 / after.1 - 2.0).abs() < 1e-3);
}
