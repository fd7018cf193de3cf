//! The cycle of Recovery, Cruising, Probing and Pushing, and the growth test that controls it.

use super::super::growth::{Growth, Reference};
use super::*;
use crate::c4::congestion::Signal;
use crate::coefficient::Coefficient;
use std::fmt::Write;

/// One line for each of `rates`: an era that ends with a sample of that rate, and where it leads.
fn eras(flow: &mut Flow, rates: impl IntoIterator<Item = u64>) -> String {
    let mut table = String::new();
    for sample in rates {
        flow.end_era_at(sample);
        let (state, alpha) = (flow.controller.state.name(), flow.controller.alpha.units());
        let level = flow.controller.probe_level;
        writeln!(
            table,
            "{:>8} {state:<8} {alpha:>4} level {level}",
            flow.nominal()
        )
        .unwrap();
    }
    table
}

#[test]
fn a_steady_path_is_probed_every_fourth_era() {
    let mut flow = Flow::in_state(State::Recovery, 1_000_000, ms(80));
    insta::assert_snapshot!(eras(&mut flow, [1_000_000; 9]), @r"
     1000000 Cruising 1024 level 1
     1000000 Cruising 1024 level 1
     1000000 Probing  1088 level 1
     1000000 Recovery  960 level 1
     1000000 Cruising 1024 level 1
     1000000 Cruising 1024 level 1
     1000000 Probing  1088 level 1
     1000000 Recovery  960 level 1
     1000000 Cruising 1024 level 1
    ");
}

/// Each push raises the rate by 10 %, which is between +5.66 % and +17.0 %, as its packets are
/// acknowledged in Recovery.
#[test]
fn successes_cascade_through_two_pushes_into_initial() {
    let mut flow = Flow::in_state(State::Probing, 1_000_000, ms(80));
    let rates = [
        1_000_000, 1_060_000, 1_060_000, 1_166_000, 1_166_000, 1_282_600,
    ];
    insta::assert_snapshot!(eras(&mut flow, rates), @r"
     1000000 Recovery  960 level 1
     1060000 Pushing  1256 level 2
     1060000 Recovery  960 level 2
     1166000 Pushing  1256 level 3
     1166000 Recovery  960 level 3
     1282600 Initial  2048 level 1
    ");
}

#[test]
fn a_push_that_finds_little_ends_the_cascade() {
    let mut flow = Flow::in_state(State::Pushing, 1_000_000, ms(80));
    flow.controller.probe_level = 2;
    insta::assert_snapshot!(eras(&mut flow, [1_000_000, 1_056_000]), @r"
     1000000 Recovery  960 level 2
     1056000 Cruising 1024 level 1
    ");
}

/// "Pushing state": the text wants two eras.
#[test]
fn pushing_lasts_one_era_unless_growth_is_fast() {
    let mut flow = Flow::in_state(State::Pushing, 1_000_000, ms(80));
    insta::assert_snapshot!(eras(&mut flow, [1_180_000, 1_400_000, 1_500_000]), @r"
     1180000 Pushing  1256 level 1
     1400000 Pushing  1256 level 1
     1500000 Recovery  960 level 1
    ");
}

#[test]
fn fast_growth_begins_a_new_era_of_pushing_at_once() {
    let mut flow = Flow::in_state(State::Pushing, 1_000_000, ms(80));
    flow.path.next_packet = 30;
    flow.path.delivery_rate = rate(1_100_000);
    flow.report_ack_with_rtt();
    assert_eq!(flow.controller.era.start, 0);
    flow.path.delivery_rate = rate(1_180_000);
    flow.report_ack_with_rtt();
    assert_eq!(
        (flow.controller.era.start, flow.controller.reference.rate),
        (30, rate(1_180_000))
    );
}

/// Slow: (3 + 1256/1024) / 4 = 1.056641; fast: (1 + 3 * 1256/1024) / 4 = 1.169922.
#[test]
fn a_push_succeeds_at_5_66_percent_and_is_fast_above_17_percent() {
    let mut flow = Flow::in_state(State::Pushing, 1_024_000, ms(80));
    let mut growth = |reached: u64| {
        flow.controller.nominal_rate = rate(reached);
        flow.controller.growth()
    };
    // 1 024 000 * 1.056641 = 1 082 000; 1 024 000 * 1.169922 = 1 198 000
    assert_eq!(growth(1_081_999), Growth::None);
    assert_eq!(growth(1_082_000), Growth::Slow);
    assert_eq!(growth(1_198_000), Growth::Slow);
    assert_eq!(growth(1_198_001), Growth::Fast);
}

#[test]
fn after_a_small_probe_any_growth_without_congestion_is_a_success() {
    for alpha in [896, 960, 1_056, 1_088] {
        let mut flow = Flow::in_state(State::Recovery, 1_000_000, ms(80));
        flow.controller.reference = Reference {
            rate: rate(1_000_000),
            alpha: Coefficient::new(alpha),
        };
        assert_eq!(flow.controller.growth(), Growth::None);
        flow.controller.nominal_rate = rate(1_000_001);
        assert_eq!(flow.controller.growth(), Growth::Fast);
        flow.controller.congestion_seen = true;
        assert_eq!(flow.controller.growth(), Growth::None);
    }
}

#[test]
fn an_application_limited_flow_cruises_until_it_sends_after_its_last_idle_moment() {
    let mut flow = Flow::in_state(State::Cruising, 1_000_000, ms(80));
    flow.path.last_idle = Instant::from_nanos(5);
    flow.path.newest_acked_data_sent = Instant::from_nanos(5);
    for _ in 0..6 {
        flow.end_era();
        assert_eq!(flow.controller.state, State::Cruising);
    }
    flow.path.newest_acked_data_sent = Instant::from_nanos(6);
    flow.end_era();
    assert_eq!(flow.controller.state, State::Probing);
}

#[test]
fn cruising_takes_up_an_interrupted_count_of_eras() {
    let mut flow = Flow::in_state(State::Cruising, 1_000_000, ms(80));
    flow.end_era_at(1_000_000);
    flow.report_loss(200);
    insta::assert_snapshot!(eras(&mut flow, [700_000; 2]), @r"
      757812 Cruising 1024 level 1
      757812 Probing  1088 level 1
    ");
}

#[test]
fn after_an_excess_of_marks_one_cruising_era_leads_to_a_smaller_probe() {
    let mut flow = Flow::in_state(State::Probing, 1_000_000, ms(80));
    flow.mark(10, 40);
    insta::assert_snapshot!(eras(&mut flow, [1_000_000; 4]), @r"
     1000000 Cruising 1024 level 0
     1000000 Probing  1056 level 0
     1000000 Recovery  960 level 0
     1000000 Cruising 1024 level 1
    ");
}

#[test]
fn growth_after_an_excess_of_marks_does_not_raise_the_probe_level() {
    let mut flow = Flow::in_state(State::Pushing, 1_000_000, ms(80));
    flow.controller
        .enter_recovery(Some(Signal::Ecn), &flow.path);
    flow.end_era_at(1_300_000);
    assert_eq!(
        (flow.controller.state, flow.controller.probe_level),
        (State::Cruising, 1)
    );
}

/// A failed probe lowers the probe level only when the path was fully used.
#[test]
fn an_era_that_did_not_use_the_path_leaves_the_probe_level() {
    let mut flow = Flow::in_state(State::Recovery, 1_000_000, ms(80));
    flow.controller.probe_level = 0;
    flow.acked = MTU;
    flow.end_era();
    assert_eq!(flow.controller.probe_level, 0);
}

/// "Nominal max RTT": which eras teach it. Coefficients belong to the packets acknowledged.
#[test]
fn the_max_rtt_is_learnt_from_eras_sent_at_no_more_than_the_nominal_rate() {
    let max_rtt_after = |mut flow: Flow| {
        flow.path.latest_rtt = ms(88);
        flow.end_era();
        flow.controller.nominal_max_rtt
    };
    assert_eq!(
        max_rtt_after(Flow::in_state(State::Cruising, 500_000, ms(80))),
        ms(88)
    );
    for state in [
        State::Recovery,
        State::Probing,
        State::Pushing,
        State::Resuming,
    ] {
        // Recovery: entered from Initial, so it acknowledges packets sent at 200 %.
        let flow = Flow::in_state(state, 500_000, ms(80));
        assert_eq!(max_rtt_after(flow), ms(80), "{state:?}");
    }
    let mut flow = Flow::in_state(State::Cruising, 500_000, ms(80));
    flow.controller.enter_recovery(None, &flow.path);
    assert_eq!(
        max_rtt_after(flow),
        ms(88),
        "Recovery entered from Cruising"
    );
}

#[test]
fn the_max_rtt_falls_by_an_eighth_of_the_difference_for_each_cruising_era() {
    let mut flow = Flow::in_state(State::Cruising, 2_500_000, us(183_041));
    flow.path.latest_rtt = ms(90);
    flow.end_era();
    // (7 * 183 041 + 90 000) / 8
    assert_eq!(flow.controller.nominal_max_rtt.as_nanos(), 171_410_875);
    // the running minimum follows the sample down at once: it is the smaller
    assert_eq!(flow.controller.running_min_rtt, ms(90));
}

#[test]
fn the_running_min_rtt_rises_by_an_eighth_of_the_difference() {
    let mut flow = Flow::in_state(State::Cruising, 2_500_000, ms(80));
    flow.path.latest_rtt = ms(88);
    flow.end_era();
    assert_eq!(flow.controller.running_min_rtt, ms(81));
}

#[test]
fn the_max_rtt_exceeds_the_running_min_by_no_more_than_250_ms() {
    let mut flow = Flow::in_state(State::Cruising, 2_500_000, ms(80));
    flow.path.latest_rtt = ms(900);
    flow.report_rtt();
    flow.path.latest_rtt = ms(80);
    flow.end_era();
    assert_eq!(flow.controller.nominal_max_rtt, ms(330));
}

/// "Nominal max RTT on low latency links", and the option that switches it.
#[test]
fn the_max_rtt_has_a_floor_of_one_millisecond_unless_switched_off() {
    for (switch, floor) in [("on", us(1_000)), ("off", us(200))] {
        let mut flow = Flow::with_options(&[("variant", "draft-04"), ("rtt_floor", switch)]);
        flow.path.latest_rtt = us(200);
        flow.report_rtt();
        assert_eq!(flow.controller.nominal_max_rtt, floor, "{switch}");
    }
}

/// "Pacing and CPU load", and the option that sets it.
#[test]
fn cruising_paces_faster_below_one_millisecond() {
    let alpha = |bonus, smoothed| {
        let mut flow = Flow::with_options(&[("submillisecond_bonus", bonus)]);
        flow.path.smoothed_rtt = smoothed;
        flow.controller.enter_cruising(&flow.path);
        flow.controller.alpha.units()
    };
    assert_eq!(alpha("3/64", us(999)), 1_072);
    assert_eq!(alpha("3/64", us(1_000)), 1_024);
    assert_eq!(alpha("0", us(999)), 1_024);
    assert_eq!(alpha("1/32", us(999)), 1_056);
    assert_eq!(alpha("1/16", us(999)), 1_088);
}

#[test]
fn eras_paced_with_the_bonus_teach_no_max_rtt() {
    let mut flow = Flow::in_state(State::Cruising, 10_000_000, us(900));
    flow.path.latest_rtt = us(1_040);
    flow.end_era();
    assert_eq!(
        flow.controller.nominal_max_rtt,
        us(1_040),
        "acknowledges packets of Recovery"
    );
    flow.path.latest_rtt = us(1_060);
    flow.end_era();
    assert_eq!(
        flow.controller.nominal_max_rtt,
        us(1_040),
        "acknowledges packets of Cruising"
    );
}
