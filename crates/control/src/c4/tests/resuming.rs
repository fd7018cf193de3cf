//! "Resuming state".

use super::*;

const SEED: Bytes = Bytes::new(400_000);

fn seeded() -> Flow {
    let mut flow = Flow::fresh();
    flow.report_rtt();
    flow.report_seed(SEED);
    flow
}

#[test]
fn a_seed_pegs_window_and_pacing() {
    let flow = seeded();
    assert_eq!(flow.controller.state, State::Resuming);
    // 400 000 bytes over 80 ms
    assert_eq!(
        (flow.window().as_u64(), flow.pacing()),
        (400_000, 5_000_000)
    );
}

#[test]
fn two_eras_later_recovery_follows_with_the_rate_that_was_measured() {
    let mut flow = seeded();
    flow.path.bytes_in_flight = SEED;
    flow.end_era_at(4_000_000);
    assert_eq!(
        (flow.controller.state, flow.window().as_u64()),
        (State::Resuming, 400_000)
    );
    flow.end_era_at(4_000_000);
    assert_eq!(flow.controller.state, State::Recovery);
    assert_eq!((flow.nominal(), flow.pacing()), (4_000_000, 3_750_000));
}

#[test]
fn its_success_does_not_raise_the_probe_level() {
    let mut flow = seeded();
    flow.path.bytes_in_flight = SEED;
    for _ in 0..3 {
        flow.end_era_at(4_000_000);
    }
    assert_eq!(
        (flow.controller.state, flow.controller.probe_level),
        (State::Cruising, 1)
    );
}

/// 376 470 * 17/16 = 399 999; 376 471 * 17/16 = 400 000.
#[test]
fn the_first_era_waits_until_the_seed_is_in_flight() {
    for (in_flight, eras) in [(376_470, 0), (376_471, 1)] {
        let mut flow = seeded();
        flow.path.bytes_in_flight = Bytes::new(in_flight);
        flow.end_era_at(4_000_000);
        assert_eq!(flow.controller.resuming_eras, eras, "{in_flight} in flight");
    }
}

#[test]
fn congestion_ends_it_and_lowers_the_rate() {
    let mut flow = seeded();
    flow.path.delivery_rate = rate(4_000_000);
    flow.report_ack_with_rtt();
    flow.report_loss(100);
    assert_eq!(flow.controller.state, State::Recovery);
    // sensitivity 963 + 3 000 000 * 61 / 9 000 000 = 983; beta (256 + 245) / 2 = 250
    // 4 000 000 * 774/1024 = 3 023 437.5
    assert_eq!(flow.nominal(), 3_023_437);
}

#[test]
fn a_seed_comes_too_late_once_initial_is_over() {
    let mut flow = Flow::in_state(State::Cruising, 1_000_000, ms(80));
    flow.report_seed(SEED);
    assert_eq!(flow.controller.state, State::Cruising);
}
