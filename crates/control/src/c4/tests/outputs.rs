//! "Setting pacing rate, congestion window and quantum". Where a comment says "trace", the numbers
//! come from an instrumented run of the reference code over 20 Mb/s, 80 ms RTT and an 80 ms buffer
//! (c4.md section 3).

use super::*;

/// The rate at which that run settled, and its max RTT at the first probe.
const TRACE_RATE: u64 = 2_481_054;
const TRACE_MAX_RTT: Duration = Duration::from_micros(160_498);

fn assert_outputs(flow: &Flow, window: u64, pacing: u64) {
    assert!(
        flow.window().as_u64().abs_diff(window) <= 1,
        "window {} not {window}",
        flow.window().as_u64()
    );
    assert!(
        flow.pacing().abs_diff(pacing) <= 1,
        "pacing {} not {pacing}",
        flow.pacing()
    );
}

#[test]
fn before_the_first_signal_the_initial_window_may_leave_at_once() {
    let control = Flow::fresh().controller.control();
    assert_eq!(control.window, INITIAL_WINDOW);
    assert_eq!((control.pacing, control.quantum), (None, INITIAL_WINDOW));
}

#[test]
fn initial_paces_at_131_kilobytes_per_second_or_more_once_acknowledged() {
    let mut flow = Flow::fresh();
    flow.report_rtt();
    assert_eq!(flow.control().pacing, None);
    flow.path.delivery_rate = rate(65_535);
    flow.report_ack_with_rtt();
    assert_eq!(flow.pacing(), 131_072);
    flow.path.delivery_rate = rate(65_537);
    flow.report_ack_with_rtt();
    assert_eq!(flow.pacing(), 131_074);
}

/// Trace: first era, nominal rate 25 551 B/s, pacing 925 585 B/s, window 69 379 bytes. Twice the nominal
/// rate is below the floor, and (131 072 + 1 720 098) / 2 = 925 585; 80 669 us at that peak are
/// 138 758 bytes, half of which is the window.
#[test]
fn initial_paces_half_way_to_a_higher_peak_and_opens_the_window_for_half_of_it() {
    let mut flow = Flow::fresh();
    flow.path.latest_rtt = us(81_301);
    flow.path.smoothed_rtt = us(80_669);
    flow.path.delivery_rate = rate(25_551);
    flow.path.peak_rate = rate(1_720_098);
    flow.report_ack_with_rtt();
    assert_outputs(&flow, 69_379, 925_585);
}

/// Trace: third era, nominal rate 856 315 B/s, pacing 2 092 315 B/s: (1 712 630 + 2 472 000) / 2.
#[test]
fn a_peak_beside_a_known_rate_is_averaged_with_twice_that_rate() {
    let mut flow = Flow::fresh();
    flow.path.delivery_rate = rate(856_315);
    flow.path.peak_rate = rate(2_472_000);
    flow.report_ack_with_rtt();
    assert_eq!(flow.pacing(), 2_092_315);
}

/// Trace: pacing 4 962 108 B/s, a peak of no more than that being without effect.
#[test]
fn a_peak_below_the_pacing_rate_changes_nothing() {
    let mut flow = Flow::fresh();
    flow.path.delivery_rate = rate(TRACE_RATE);
    flow.path.peak_rate = rate(4_962_108);
    flow.report_ack_with_rtt();
    assert_eq!(flow.pacing(), 4_962_108);
}

/// Trace: Recovery, pacing 2 325 988 B/s = 15/16 of the rate; 160 498 us of it are 373 316 bytes, and the
/// margin of 15 ms is 34 889 bytes.
#[test]
fn recovery_sends_at_fifteen_sixteenths() {
    let flow = Flow::in_state(State::Recovery, TRACE_RATE, TRACE_MAX_RTT);
    assert_outputs(&flow, 408_205, 2_325_988);
}

/// Trace: Cruising at a max RTT of 171 408 us, window 462 487 bytes.
#[test]
fn cruising_sends_at_the_nominal_rate() {
    let flow = Flow::in_state(State::Cruising, TRACE_RATE, us(171_408));
    assert_outputs(&flow, 462_487, TRACE_RATE);
}

/// Trace: Probing, pacing 2 636 119 B/s = 17/16 of the rate, window 462 632 bytes.
#[test]
fn probing_sends_at_seventeen_sixteenths() {
    let flow = Flow::in_state(State::Probing, TRACE_RATE, TRACE_MAX_RTT);
    assert_outputs(&flow, 462_632, 2_636_119);
}

/// 1256/1024 of 2 481 054 B/s is 3 043 167 B/s, which is not 5/4 (3 101 317 B/s).
#[test]
fn pushing_sends_at_1256_in_1024() {
    let flow = Flow::in_state(State::Pushing, TRACE_RATE, TRACE_MAX_RTT);
    assert_eq!(flow.pacing(), 3_043_167);
}

#[test]
fn the_margin_is_a_quarter_of_a_max_rtt_below_60_ms() {
    // 1 MB/s: 40 ms + 10 ms; 80 ms + 15 ms
    assert_outputs(
        &Flow::in_state(State::Cruising, 1_000_000, ms(40)),
        50_000,
        1_000_000,
    );
    assert_outputs(
        &Flow::in_state(State::Cruising, 1_000_000, ms(80)),
        95_000,
        1_000_000,
    );
}

/// At 100 kB/s and 20 ms, 1/16 more is 125 bytes: the window is raised by the other 1315 as well.
/// 106 250 B/s over 20 ms is 2125 bytes, the margin of 5 ms 531.
#[test]
fn a_probe_always_has_room_for_one_packet_more() {
    let flow = Flow::in_state(State::Probing, 100_000, ms(20));
    assert_outputs(&flow, 2_125 + 531 + 1_440 - 125, 106_250);
}

#[test]
fn the_quantum_is_four_milliseconds_of_data_between_two_packets_and_64_kilobytes() {
    let quantum = |bytes_per_second| {
        let flow = Flow::in_state(State::Cruising, bytes_per_second, ms(80));
        flow.control().quantum.as_u64()
    };
    // 1 MB/s * 4/1024 s
    assert_eq!(quantum(1_000_000), 3_906);
    assert_eq!(quantum(100_000), 2 * 1_440);
    assert_eq!(quantum(16_777_216), 65_536);
    assert_eq!(quantum(100_000_000), 65_536);
    // trace: at most 19 383 bytes, at the pacing rate of Initial: 4 962 108 * 4 / 1024 = 19 383
    let mut flow = Flow::fresh();
    flow.path.delivery_rate = rate(TRACE_RATE);
    flow.report_ack_with_rtt();
    assert_eq!(flow.control().quantum.as_u64(), 19_383);
}

/// `cwnd = max(..., 2*MTU)`: 1 kB/s for 80 ms and a margin of 15 ms are 95 bytes, 2.4 packets of 1440 bytes
/// are more than two.
#[test]
fn the_window_is_never_below_two_packets() {
    let flow = Flow::in_state(State::Cruising, 1_000, ms(80));
    assert_eq!((flow.window().as_u64(), flow.pacing()), (2 * 1_440, 1_000));
    let flow = Flow::in_state(State::Cruising, 36_379, ms(80));
    assert_outputs(&flow, 3_456, 36_379);
}
