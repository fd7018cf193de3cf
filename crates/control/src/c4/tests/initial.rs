//! "Initial state" and "Restarting Initial if High Jitter".

use super::*;

/// A flow whose Initial has seen one era at 1 MB/s, and so grew from nothing.
fn after_first_era() -> Flow {
    let mut flow = Flow::fresh();
    flow.end_era_at(1_000_000);
    assert_eq!(flow.controller.state, State::Initial);
    flow
}

#[test]
fn the_window_grows_by_what_is_acknowledged_then_by_an_eighth_then_by_a_sixty_fourth() {
    let mut flow = after_first_era();
    let mut growth = [0; 3];
    for bytes in &mut growth {
        flow.acked = Bytes::new(6_400);
        let before = flow.controller.initial_window;
        flow.path.lowest_unacked = flow.controller.era.start;
        flow.controller.apply_outputs(&flow.path);
        flow.report_ack_with_rtt();
        *bytes = (flow.controller.initial_window - before).as_u64();
        flow.end_era_at(1_000_000);
    }
    assert_eq!(growth, [6_400, 800, 100]);
}

#[test]
fn three_eras_without_growth_end_it() {
    let mut flow = after_first_era();
    for era in 1..=3 {
        assert_eq!(flow.controller.state, State::Initial, "era {era}");
        flow.end_era_at(1_000_000);
    }
    assert_eq!(flow.controller.state, State::Recovery);
}

#[test]
fn the_end_keeps_the_rate_and_sets_the_max_rtt_to_half_the_window_over_the_rate() {
    let mut flow = after_first_era();
    for _ in 0..2 {
        flow.end_era_at(1_000_000);
    }
    // as in the trace of a 20 Mb/s path of 80 ms whose window had grown to 908 264 bytes
    flow.controller.nominal_rate = rate(2_481_054);
    flow.controller.reference.rate = rate(2_481_054);
    flow.controller.initial_window = Bytes::new(908_264);
    flow.acked = Bytes::new(1_000_000);
    let window = 908_264 + (1_000_000 >> 6);
    flow.end_era();
    assert_eq!(flow.controller.state, State::Recovery);
    assert_eq!(flow.nominal(), 2_481_054);
    // (908 264 + 15 625) / 2 / 2 481 054 B/s = 461 944 / 2 481 054 = 186.188 ms
    assert_eq!(window / 2, 461_944);
    assert_eq!(flow.controller.nominal_max_rtt.as_micros(), 186_188);
}

#[test]
fn growth_by_a_quarter_keeps_it_going_and_less_does_not() {
    // the reference coefficient is 2: growth starts at (3 * 1 MB/s + 2 MB/s) / 4 = 1.25 MB/s
    for (reached, eras) in [(1_250_000, 0), (1_249_999, 1)] {
        let mut flow = after_first_era();
        flow.end_era_at(reached);
        assert_eq!(flow.controller.eras_without_growth, eras, "{reached}");
    }
}

#[test]
fn eras_of_an_application_limited_sender_do_not_count_against_growth() {
    let mut flow = after_first_era();
    for _ in 0..10 {
        // 80 ms at 1 MB/s would be 80 000 bytes
        flow.acked = Bytes::new(80_000);
        flow.end_era();
    }
    assert_eq!(
        (flow.controller.state, flow.controller.eras_without_growth),
        (State::Initial, 0)
    );
    flow.acked = Bytes::new(80_001);
    flow.end_era();
    assert_eq!(flow.controller.eras_without_growth, 1);
}

#[test]
fn no_era_ends_during_the_handshake() {
    let mut flow = Flow::fresh();
    flow.path.established = false;
    flow.end_era_at(1_000_000);
    assert_eq!(flow.controller.era.start, 0);
    flow.path.established = true;
    flow.end_era_at(1_000_000);
    assert_eq!(flow.controller.era.start, FLIGHT);
}

#[test]
fn an_era_needs_its_own_first_packet_to_end() {
    let mut flow = after_first_era();
    let start = flow.controller.era.start;
    flow.path.next_packet = start + FLIGHT;
    flow.path.lowest_unacked = start;
    flow.report_ack_with_rtt();
    assert_eq!(flow.controller.era.start, start);
    flow.path.lowest_unacked = start + 1;
    flow.report_ack_with_rtt();
    assert_eq!(flow.controller.era.start, start + FLIGHT);
}

/// 20 acknowledgements and losses may pass; a loss is one event more.
#[test]
fn loss_ends_it_only_after_twenty_acknowledgements_and_losses() {
    for (acks, end) in [(19, State::Initial), (20, State::Recovery)] {
        let mut flow = Flow::fresh();
        flow.path.delivery_rate = rate(2_000_000);
        for _ in 0..acks {
            flow.report_ack_with_rtt();
        }
        flow.report_loss(100);
        assert_eq!(flow.controller.state, end, "{acks} acknowledgements");
        assert_eq!(flow.nominal(), 2_000_000);
        assert!(!flow.control().startup_done);
    }
}

#[test]
fn a_single_loss_below_the_threshold_does_not_count() {
    let mut flow = Flow::fresh();
    flow.path.delivery_rate = rate(500_000);
    for _ in 0..30 {
        flow.report_ack_with_rtt();
    }
    flow.report_loss(100);
    assert_eq!(
        (flow.controller.state, flow.controller.initial_events),
        (State::Initial, 30)
    );
}

#[test]
fn delay_ends_it_only_after_two_eras_without_growth() {
    let mut flow = after_first_era();
    for (era, end) in [
        (0, State::Initial),
        (1, State::Initial),
        (2, State::Recovery),
    ] {
        assert_eq!(flow.controller.eras_without_growth, era);
        flow.path.latest_rtt = ms(300);
        flow.report_rtt();
        assert_eq!(flow.controller.state, end, "{era} eras without growth");
        flow.path.latest_rtt = ms(80);
        flow.end_era_at(1_000_000);
    }
}

/// "Detecting Excessive CE Marks": marks need a delay excess with them.
#[test]
fn marks_alone_never_end_it() {
    let mut flow = after_first_era();
    flow.end_era_at(1_000_000);
    flow.end_era_at(1_000_000);
    assert_eq!(flow.controller.eras_without_growth, 2);
    flow.mark(0, 50);
    assert_eq!(
        (flow.controller.ecn.alpha.units(), flow.controller.state),
        (1_024, State::Initial)
    );
    flow.controller.delay_excess = ms(1);
    flow.mark(0, 51);
    assert_eq!(flow.controller.state, State::Recovery);
}

#[test]
fn it_goes_on_while_no_rate_was_measured() {
    let mut flow = Flow::fresh();
    for _ in 0..30 {
        flow.end_era();
    }
    flow.controller.eras_without_growth = 3;
    flow.end_era();
    assert_eq!(flow.controller.state, State::Initial);
}

/// A cruising flow whose first era learns a max RTT of 100 ms over a running minimum of 10 ms.
fn jittery(bytes_per_second: u64) -> Flow {
    let mut flow = Flow::in_state(State::Cruising, bytes_per_second, ms(10));
    flow.path.latest_rtt = ms(100);
    flow.report_rtt();
    flow.path.latest_rtt = ms(10);
    flow.end_era();
    flow
}

#[test]
fn high_jitter_brings_a_slow_flow_back_to_initial_once() {
    let mut flow = jittery(500_000);
    assert_eq!(flow.controller.state, State::Initial);
    assert_eq!(flow.controller.nominal_max_rtt, ms(100));
    flow.controller.enter_recovery(None, &flow.path);
    flow.end_era();
    assert_eq!(flow.controller.state, State::Cruising, "not a second time");
    assert!(flow.controller.running_min_rtt * 5 < flow.controller.nominal_max_rtt * 2);
}

#[test]
fn high_jitter_leaves_a_flow_of_a_megabyte_per_second_alone() {
    assert_eq!(jittery(999_999).controller.state, State::Initial);
    assert_eq!(jittery(1_000_000).controller.state, State::Cruising);
}

#[test]
fn reentering_starts_from_the_window_in_force() {
    let mut flow = Flow::in_state(State::Cruising, 2_000_000, ms(80));
    let window = flow.control().window;
    flow.controller.enter_initial(&flow.path);
    assert_eq!(flow.controller.initial_window, window);
    // pacing at 4 MB/s over 80 ms is more than the 190 000 bytes of cruising
    flow.controller.apply_outputs(&flow.path);
    assert_eq!(
        (flow.window().as_u64(), flow.pacing()),
        (320_000, 4_000_000)
    );
}
