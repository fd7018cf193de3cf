//! Responses to single events, and what traces show.

use super::{Flow, VERSIONS};
use crate::Version;
use thalweg_units::Bytes;

#[test]
fn the_start_is_the_initial_window_of_the_transport_unpaced() {
    for version in VERSIONS {
        let flow = Flow::of_version(version);
        let control = flow.control();
        assert_eq!(control.window, Bytes::new(15_360));
        assert!(control.pacing.unwrap().as_bits_per_sec() > 1_000_000_000_000);
        assert!(!control.startup_done);
        assert_eq!(flow.controller.nominal, Bytes::new(7680));
    }
}

#[test]
fn a_delivery_raises_the_nominal_window_and_with_it_the_window_of_v1() {
    let mut flow = Flow::of_version(Version::V1);
    flow.deliver(20_000, 80);
    assert_eq!(flow.controller.nominal, Bytes::new(20_000));
    assert_eq!(flow.controller.window, Bytes::new(40_000)); // Initial: twice the nominal window
    flow.deliver(19_000, 80);
    assert_eq!(flow.controller.nominal, Bytes::new(20_000)); // never lowered by an ACK
}

#[test]
fn a_delivery_in_a_long_round_trip_counts_for_the_part_near_the_minimum() {
    let mut flow = Flow::cruising(Version::V1, 40_000, 100);
    // limit 104 980 us ; 104 980*1024/200 000 = 537 ; 100 000*537/1024 = 52 441
    flow.deliver(100_000, 200);
    assert_eq!(flow.controller.nominal, Bytes::new(52_441));
}

#[test]
fn a_remembered_window_suspends_growth_outside_initial() {
    let mut flow = Flow::cruising(Version::V1, 40_000, 100);
    flow.controller.startup.seed = Some(Bytes::new(1_000_000));
    flow.deliver(60_000, 100);
    assert_eq!(flow.controller.nominal, Bytes::new(40_000));
}

#[test]
fn timeouts_spurious_losses_and_idle_restarts_change_nothing() {
    let mut flow = Flow::cruising(Version::V1, 40_000, 100);
    let before = flow.control();
    flow.report_timeout_spurious_loss_and_idle_restart();
    assert_eq!(flow.control(), before);
}

#[test]
fn traces_name_the_state_and_the_variables() {
    let flow = Flow::cruising(Version::V2, 40_000, 100);
    insta::assert_snapshot!(flow.shown().to_string(), @r"
    state Cruising
    alpha 1
    nominal 40000
    nominal_rate 0
    high 0
    rtt_min 0.1
    nmax 0
    delay_excess 0
    loss_rate 0
    pig_war 0
    chaotic 0
    good 0
    no_inc 0
    delay_dec 0
    ");
}
