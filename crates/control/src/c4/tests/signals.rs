//! "Handling of congestion signals".

use super::*;
use crate::c4::congestion::Signal;
use crate::c4::sensitivity::{delay_threshold, sensitivity};
use crate::coefficient::Coefficient;

#[test]
fn a_loss_while_cruising_lowers_rate_and_max_rtt() {
    let mut flow = Flow::in_state(State::Cruising, 1_000_000, ms(80));
    flow.report_loss(100);
    assert_eq!(flow.controller.state, State::Recovery);
    // beta 248/1024: 1 000 000 * 776/1024 = 757 812.5; 80 ms * 776/1024 = 60.625 ms
    assert_eq!(
        (flow.nominal(), flow.controller.nominal_max_rtt),
        (757_812, us(60_625))
    );
    assert!(flow.control().startup_done);
}

#[test]
fn a_loss_in_a_probe_or_a_push_ends_it_and_costs_nothing_else() {
    for state in [State::Probing, State::Pushing] {
        let mut flow = Flow::in_state(state, 1_000_000, ms(80));
        flow.report_loss(100);
        assert_eq!(flow.controller.state, State::Recovery);
        assert_eq!((flow.nominal(), flow.pacing()), (1_000_000, 937_500));
        assert_eq!(flow.controller.nominal_max_rtt, ms(80));
    }
}

#[test]
fn a_slow_flow_takes_a_loss_calmly() {
    let mut flow = Flow::in_state(State::Cruising, 974_350, ms(80));
    flow.report_loss(100);
    assert_eq!(
        (flow.controller.state, flow.nominal()),
        (State::Cruising, 974_350)
    );
}

#[test]
fn recovery_deepens_to_seven_eighths_and_longer_but_only_once() {
    let mut flow = Flow::in_state(State::Cruising, 4_000_000, ms(80));
    flow.path.next_packet = 100;
    flow.report_loss(90);
    assert_eq!(
        (flow.controller.alpha.units(), flow.controller.era.start),
        (960, 100)
    );
    let nominal = flow.nominal();
    flow.path.next_packet = 150;
    flow.report_loss(120);
    assert_eq!(
        (flow.controller.alpha.units(), flow.controller.era.start),
        (896, 150)
    );
    flow.path.next_packet = 200;
    flow.report_loss(160);
    assert_eq!(
        (flow.controller.alpha.units(), flow.controller.era.start),
        (896, 150)
    );
    assert_eq!(flow.nominal(), nominal, "the rate is lowered once");
}

#[test]
fn losses_of_packets_sent_before_recovery_are_passed_over() {
    let mut flow = Flow::in_state(State::Cruising, 4_000_000, ms(80));
    flow.path.next_packet = 100;
    flow.report_loss(50);
    let rate_after_first = flow.controller.loss.rate();
    for packet in 51..100 {
        flow.report_loss(packet);
    }
    assert_eq!(
        (flow.controller.alpha.units(), flow.controller.loss.rate()),
        (960, rate_after_first)
    );
    flow.report_loss(100);
    assert_eq!(flow.controller.alpha.units(), 896);
}

/// "Nominal rate": the congestion bounce.
#[test]
fn samples_in_recovery_do_not_undo_a_reduction() {
    let mut flow = Flow::in_state(State::Cruising, 1_000_000, ms(80));
    flow.report_loss(100);
    flow.path.delivery_rate = rate(1_200_000);
    flow.report_ack_with_rtt();
    assert_eq!(flow.nominal(), 757_812);
    flow.end_era();
    flow.report_ack_with_rtt();
    assert_eq!(flow.nominal(), 1_200_000, "after Recovery they count");
}

#[test]
fn samples_in_a_recovery_without_congestion_raise_the_rate() {
    let mut flow = Flow::in_state(State::Recovery, 1_000_000, ms(80));
    flow.path.delivery_rate = rate(1_200_000);
    flow.report_ack_with_rtt();
    assert_eq!(flow.nominal(), 1_200_000);
}

#[test]
fn a_lower_sample_never_lowers_the_rate() {
    let mut flow = Flow::in_state(State::Cruising, 1_000_000, ms(80));
    for _ in 0..20 {
        flow.end_era_at(300_000);
    }
    assert_eq!(flow.nominal(), 1_000_000);
}

/// At 1 MB/s and 80 ms the threshold is 75/1024 * 80 ms = 5.859 ms.
#[test]
fn delay_ends_a_probe_above_the_threshold() {
    for (rtt, end) in [(us(85_859), State::Probing), (us(85_860), State::Recovery)] {
        let mut flow = Flow::in_state(State::Probing, 1_000_000, ms(80));
        flow.path.latest_rtt = rtt;
        flow.report_rtt();
        assert_eq!(flow.controller.state, end, "{rtt}");
        assert_eq!(flow.nominal(), 1_000_000);
    }
}

#[test]
fn delay_never_acts_in_ordinary_cruising() {
    let mut flow = Flow::in_state(State::Cruising, 1_000_000, ms(80));
    for _ in 0..2 {
        flow.path.latest_rtt = ms(500);
        flow.report_rtt();
        assert!(!flow.controller.delay_excess.is_zero());
        assert_eq!(
            (flow.controller.state, flow.controller.congestion_seen),
            (State::Cruising, false)
        );
        flow.path.latest_rtt = ms(80);
        flow.end_era();
    }
}

#[test]
fn delay_deepens_a_recovery_that_follows_a_probe_but_not_one_that_follows_cruising() {
    for (state, alpha) in [(State::Probing, 896), (State::Cruising, 960)] {
        let mut flow = Flow::in_state(state, 1_000_000, ms(80));
        flow.controller.enter_recovery(None, &flow.path);
        flow.path.latest_rtt = ms(500);
        flow.report_rtt();
        assert_eq!(flow.controller.alpha.units(), alpha, "after {state:?}");
    }
}

/// Below one millisecond Cruising pushes a little, so delay may reveal its own packets.
/// At 10 MB/s the threshold is 62.5 us over the floor of 1 ms; an excess of 6.25 us is a tenth of it.
#[test]
fn delay_lowers_the_rate_while_cruising_with_the_bonus() {
    let mut flow = Flow::in_state(State::Cruising, 10_000_000, us(900));
    flow.end_era();
    flow.path.latest_rtt = Duration::from_nanos(1_068_750);
    flow.report_rtt();
    assert_eq!(flow.controller.state, State::Recovery);
    // 6.25 * 1024 / 62.5 = 102; 10 000 000 * (1 - 102/1024)
    assert_eq!(flow.nominal(), 9_003_906);
    assert_eq!(
        flow.controller.nominal_max_rtt,
        ms(1),
        "only a loss lowers the max RTT"
    );
}

#[test]
fn reductions_for_delay_and_marks_follow_the_excess_up_to_a_quarter() {
    let mut flow = Flow::in_state(State::Cruising, 1_000_000, ms(80));
    flow.controller.delay_threshold = ms(8);
    flow.controller.ecn.threshold = Coefficient::new(100);
    // 1/8 of the threshold, then half of it
    for (eighths, beta) in [(1, 128), (2, 256), (4, 256)] {
        flow.controller.delay_excess = ms(eighths);
        assert_eq!(flow.controller.beta(Signal::Delay).units(), beta);
    }
    // 12 * 1024 / 100 = 122.88
    for (alpha, beta) in [(100, 0), (112, 122), (125, 256), (200, 256)] {
        flow.controller.ecn.alpha = Coefficient::new(alpha);
        assert_eq!(flow.controller.beta(Signal::Ecn).units(), beta);
    }
}

/// At 1 MB/s the threshold is 102/1024. A share of CE of 409/1024 (40 of 100) adds 25/1024 at first:
/// 25, 49, 71, 92, 111 (each (15 * alpha + 409) >> 4).
#[test]
fn marks_lower_the_rate_once_their_average_passes_the_threshold() {
    let mut flow = Flow::in_state(State::Cruising, 1_000_000, ms(80));
    for k in 1..=4 {
        flow.mark(60 * k, 40 * k);
    }
    assert_eq!(
        (flow.controller.ecn.alpha.units(), flow.controller.state),
        (92, State::Cruising)
    );
    flow.mark(300, 200);
    assert_eq!(
        (flow.controller.ecn.alpha.units(), flow.controller.state),
        (111, State::Recovery)
    );
    // (111 - 102) * 1024 / 102 = 90; 1 000 000 * 934/1024 = 912 109.4
    assert_eq!(flow.nominal(), 912_109);
    assert_eq!(flow.controller.nominal_max_rtt, ms(80));
    flow.end_era();
    assert_eq!(
        flow.controller.ecn.alpha.units(),
        0,
        "forgotten after Recovery"
    );
}

#[test]
fn unmarked_eras_let_the_average_of_marks_decay() {
    let mut flow = Flow::in_state(State::Cruising, 100_000, ms(80));
    flow.mark(60, 40);
    assert_eq!(flow.controller.ecn.alpha.units(), 25);
    flow.path.ecn.ect1 = 160;
    flow.end_era();
    // 15 * 25 / 16 = 23.4
    assert_eq!(flow.controller.ecn.alpha.units(), 23);
}

/// "Reaction to persistent congestion": the second congested cycle believes the recent samples.
#[test]
fn congestion_in_two_cycles_in_a_row_clamps_the_rate_to_the_best_recent_sample() {
    let mut flow = Flow::in_state(State::Cruising, 4_000_000, ms(80));
    flow.path.delivery_rate = rate(1_000_000);
    flow.report_loss(100);
    flow.end_era();
    // 4 000 000 * 774/1024: beta 250 as at the other rate below
    assert_eq!(
        (flow.controller.congested_cycles, flow.nominal()),
        (1, 3_023_437)
    );
    flow.report_loss(200);
    // sensitivity 963 + 2 023 437 * 61 / 9 000 000 = 976; beta (256 + 244) / 2 = 250
    let reduced = flow.controller.nominal_rate;
    assert_eq!(reduced.as_bytes_per_sec(), 2_285_293);
    flow.end_era();
    assert_eq!(
        (flow.controller.congested_cycles, flow.nominal()),
        (2, 1_000_000)
    );
    // the clamp leaves the delay threshold of the rate before
    let threshold = delay_threshold(
        sensitivity(reduced),
        flow.controller.nominal_max_rtt,
        Duration::from_millis(25),
    );
    assert_eq!(flow.controller.delay_threshold, threshold);
    assert_ne!(
        threshold,
        delay_threshold(
            sensitivity(rate(1_000_000)),
            flow.controller.nominal_max_rtt,
            Duration::from_millis(25)
        )
    );
}

#[test]
fn persistent_congestion_without_a_recent_sample_leaves_the_rate() {
    let mut flow = Flow::in_state(State::Recovery, 1_000_000, ms(80));
    flow.controller.congested_cycles = 1;
    flow.controller.congestion_seen = true;
    flow.acked = Bytes::ZERO;
    flow.end_era();
    assert_eq!(
        (flow.controller.congested_cycles, flow.nominal()),
        (2, 1_000_000)
    );
}

#[test]
fn a_cycle_without_congestion_ends_the_count_of_congested_ones() {
    let mut flow = Flow::in_state(State::Recovery, 1_000_000, ms(80));
    flow.controller.congested_cycles = 1;
    flow.end_era();
    assert_eq!(flow.controller.congested_cycles, 0);
}

#[test]
fn timeouts_spurious_losses_and_idle_periods_change_nothing() {
    let mut flow = Flow::in_state(State::Cruising, 1_000_000, ms(80));
    flow.report_loss(100);
    let (control, alpha) = (flow.control(), flow.controller.alpha);
    flow.report_timeout_spurious_loss_and_idle_restart();
    assert_eq!((flow.control(), flow.controller.alpha), (control, alpha));
    assert_eq!(flow.controller.state, State::Recovery);
}

#[test]
fn packets_carry_the_l4s_codepoint() {
    assert_eq!(Flow::fresh().controller.ecn(), thalweg_units::Ecn::Ect1);
}
