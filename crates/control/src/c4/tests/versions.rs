//! What the versions after draft -04 do differently, rule by rule. `calls` compares them with the reference code.

use super::*;
use crate::coefficient::Coefficient;

fn cruising(variant: &str) -> Flow {
    Flow::of_variant(variant, State::Cruising, 1_000_000, ms(80))
}

fn recovery(variant: &str, debt: u64) -> Flow {
    let mut flow = cruising(variant);
    flow.controller.drain_debt = Coefficient::new(debt);
    flow.controller.enter_recovery(None, &flow.path);
    flow
}

/// The draft after -04, in its code only: the smoothed RTT before the first sample is picoquic's 250 ms.
#[test]
fn initial_begins_with_the_smoothed_rtt_as_max_rtt() {
    let mut flow = Flow::with_options(&[("variant", "draft-05")]);
    assert_eq!(flow.controller.nominal_max_rtt, ms(250));
    let mut again = cruising("draft-05");
    again.controller.enter_initial(&again.path);
    // 1 MB/s * 80 ms
    assert_eq!(again.controller.initial_window, Bytes::new(80_000));
    // No sample up to that and the threshold is an excess.
    flow.path.delivery_rate = rate(1_000_000);
    flow.report_ack_with_rtt();
    // 250 ms * (64 + (61 * 196 >> 10)) / 1024 = 18.3 ms with the sensitivity of 963/1024
    let threshold = flow.controller.delay_threshold;
    assert_eq!(threshold.as_nanos(), 18_310_546);
    for (sample, excess) in [(ms(268), Duration::ZERO), (ms(270), ms(20) - threshold)] {
        flow.path.latest_rtt = sample;
        flow.report_rtt();
        assert_eq!(flow.controller.delay_excess, excess);
    }
}

#[test]
fn the_window_of_initial_no_longer_grows_from_what_it_gave_out() {
    let grown = |variant| {
        let mut flow = Flow::with_options(&[("variant", variant)]);
        flow.path.delivery_rate = rate(1_000_000);
        flow.report_ack_with_rtt();
        (flow.control().window, flow.controller.initial_window)
    };
    // 2 * 1 MB/s * 250 ms against 15 360 + one packet acknowledged.
    assert_eq!(grown("draft-05"), (Bytes::new(500_000), Bytes::new(16_800)));
    // 2 * 1 MB/s * 80 ms
    assert_eq!(
        grown("draft-04"),
        (Bytes::new(160_000), Bytes::new(160_000))
    );
}

/// The draft after -04: 7/8 after Initial, until Recovery ends or the rate rises.
#[test]
fn the_flag_makes_the_recovery_after_initial_drain() {
    let mut flow = Flow::of_variant("draft-05", State::Initial, 1_000_000, ms(80));
    flow.controller.drain_initial(ms(80), &flow.path);
    flow.controller.enter_recovery(None, &flow.path);
    assert_eq!(flow.controller.alpha.units(), 896);
    flow.end_era_at(1_000_000);
    assert_eq!(flow.controller.drain_debt, Coefficient::ZERO);
    flow.controller.drain_lower_rtt();
    flow.path.delivery_rate = rate(1_100_000);
    flow.report_ack_with_rtt();
    assert_eq!(flow.controller.drain_debt, Coefficient::ZERO);
}

/// 1024 - 266 = 758, 492, 226 at 758/1024; 226 is more than 128, and 226 - 266 leaves nothing.
#[test]
fn the_debt_of_initial_is_paid_in_four_recoveries() {
    let mut debt = 1_024;
    let mut paid = Vec::new();
    for _ in 0..5 {
        let mut flow = recovery("2026-10", debt);
        let alpha = flow.controller.alpha.units();
        flow.end_era_at(1_000_000);
        debt = flow.controller.drain_debt.units();
        paid.push((alpha, debt));
    }
    assert_eq!(
        paid,
        [(758, 758), (758, 492), (758, 226), (758, 0), (960, 0)]
    );
}

#[test]
fn a_push_that_finds_little_leaves_its_excess_as_debt() {
    let mut flow = Flow::of_variant("2026-10", State::Pushing, 1_000_000, ms(80));
    flow.end_era_at(1_000_000);
    // 1256 - 1024, which is more than 128
    assert_eq!(flow.controller.drain_debt.units(), 232);
    assert_eq!(flow.controller.alpha.units(), 758);
}

#[test]
fn a_max_rtt_at_its_floor_drains_no_debt() {
    for (max_rtt, alpha) in [(us(1_000), 960), (us(1_001), 758)] {
        let mut flow = Flow::of_variant("2026-10", State::Cruising, 1_000_000, max_rtt);
        flow.controller.drain_debt = Coefficient::ONE;
        flow.controller.enter_recovery(None, &flow.path);
        assert_eq!(flow.controller.alpha.units(), alpha);
    }
}

#[test]
fn marks_forgive_a_debt_and_leave_a_flag() {
    for (variant, left) in [("2026-10", 0), ("draft-05", 1_024)] {
        let mut flow = cruising(variant);
        flow.controller.drain_debt = Coefficient::ONE;
        flow.mark(10, 40);
        assert_eq!(flow.controller.drain_debt.units(), left);
    }
}

/// The draft after -04: half-way from 1 MB/s to a best sample of 900 kB/s.
#[test]
fn a_full_cycle_without_growth_trims_the_rate_half_way() {
    for (variant, nominal) in [
        ("draft-04", 1_000_000),
        ("draft-05", 950_000),
        ("2026-10", 950_000),
    ] {
        let mut flow = recovery(variant, 0);
        flow.end_era_at(900_000);
        // A delivery of 900 kB/s is less than what 1 MB/s gives in the minimum RTT.
        assert_eq!(flow.nominal(), 1_000_000, "{variant}: not fully used");
        let mut flow = recovery(variant, 0);
        flow.controller.fully_used = true;
        flow.end_era_at(900_000);
        assert_eq!(flow.nominal(), nominal, "{variant}");
    }
}

#[test]
fn only_the_code_of_october_leaves_the_rate_alone_up_to_a_millisecond() {
    for (variant, smoothed, nominal) in [
        ("2026-10", us(1_000), 1_000_000),
        ("2026-10", us(1_001), 950_000),
        ("draft-05", us(500), 950_000),
    ] {
        let mut flow = recovery(variant, 0);
        flow.controller.fully_used = true;
        flow.path.smoothed_rtt = smoothed;
        flow.end_era_at(900_000);
        assert_eq!(flow.nominal(), nominal, "{variant} {smoothed:?}");
    }
}

/// In the code of October the packets acknowledged in Recovery count as its own.
#[test]
fn the_recovery_after_a_probe_teaches_the_max_rtt_instead_of_answering_delay() {
    for (variant, congested, max_rtt) in [("draft-05", true, ms(80)), ("2026-10", false, ms(150))] {
        let mut flow = Flow::of_variant(variant, State::Probing, 500_000, ms(80));
        flow.end_era();
        assert_eq!(flow.controller.state, State::Recovery);
        flow.path.latest_rtt = ms(150);
        flow.report_rtt();
        assert_eq!(flow.controller.congestion_seen, congested, "{variant}");
        flow.end_era();
        assert_eq!(flow.controller.nominal_max_rtt, max_rtt, "{variant}");
    }
}

/// A slow flow with a max RTT of more than 2.5 times the minimum.
#[test]
fn jitter_leads_back_to_initial_again_and_again_a_second_after_recovery() {
    let restarts = |reentry: &str, wait: Duration| {
        let mut flow = Flow::with_options(&[("variant", "draft-05"), ("reentry", reentry)]);
        let mut seen = 0;
        for _ in 0..3 {
            let (c4, path) = (&mut *flow.controller, &flow.path);
            (c4.nominal_rate, c4.running_min_rtt) = (rate(500_000), ms(20));
            c4.set_nominal_max_rtt(ms(100));
            c4.enter_cruising(path);
            c4.first_recovery_end = Some(flow.now);
            flow.now += wait;
            flow.end_era();
            seen += u32::from(flow.controller.state == State::Initial);
        }
        seen
    };
    let long = ms(1_001);
    assert_eq!(restarts("variant", ms(1_000)), 0);
    assert_eq!(restarts("variant", long), 3);
    assert_eq!(restarts("once", long), 1);
    assert_eq!(restarts("off", long), 0);
}

#[test]
fn a_clamp_restarts_the_count_of_congested_cycles() {
    for (variant, left) in [("draft-04", 2), ("draft-05", 0)] {
        let mut flow = recovery(variant, 0);
        flow.controller.congested_cycles = 1;
        flow.controller.congestion_seen = true;
        flow.end_era_at(900_000);
        assert_eq!(
            (flow.nominal(), flow.controller.congested_cycles),
            (900_000, left)
        );
    }
}
