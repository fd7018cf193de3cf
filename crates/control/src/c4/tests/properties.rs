//! Invariants on any path.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Ack {
        rtt: u64,
        rate: u64,
        peak: u64,
        acked: u64,
        ends_era: bool,
    },
    Lose {
        back: u64,
    },
    Mark {
        ect1: u64,
        ce: u64,
    },
    Seed {
        window: u64,
    },
    Idle,
}

fn step() -> impl Strategy<Value = Step> {
    // rates and times over many orders of magnitude, none excluded
    let magnitude = |bits: u32| (0..bits).prop_flat_map(|n| 0..=(1_u64 << n));
    prop_oneof![
        8 => (magnitude(34), magnitude(38), magnitude(38), magnitude(22), any::<bool>()).prop_map(
            |(rtt, rate, peak, acked, ends_era)| Step::Ack { rtt, rate, peak, acked, ends_era }
        ),
        2 => (0_u64..60).prop_map(|back| Step::Lose { back }),
        1 => (0_u64..200, 1_u64..50).prop_map(|(ect1, ce)| Step::Mark { ect1, ce }),
        1 => magnitude(30).prop_map(|window| Step::Seed { window }),
        1 => Just(Step::Idle),
    ]
}

fn apply(flow: &mut Flow, step: &Step) {
    match *step {
        Step::Ack {
            rtt,
            rate,
            peak,
            acked,
            ends_era,
        } => {
            let rtt = Duration::from_nanos(rtt + 1);
            flow.path.latest_rtt = rtt;
            flow.path.smoothed_rtt = (flow.path.smoothed_rtt * 7 + rtt) / 8;
            flow.path.delivery_rate = Rate::from_bits_per_sec(rate);
            flow.path.peak_rate = flow.path.peak_rate.max(Rate::from_bits_per_sec(peak));
            flow.path.newest_acked_data_sent = flow.path.last_idle + Duration::from_nanos(acked);
            flow.acked = Bytes::new(acked);
            flow.path.bytes_in_flight = Bytes::new(acked);
            if ends_era {
                flow.end_era()
            } else {
                flow.report_ack_with_rtt()
            }
        }
        Step::Lose { back } => flow.report_loss(flow.path.next_packet.saturating_sub(back)),
        Step::Mark { ect1, ce } => {
            flow.mark(flow.path.ecn.ect1 + ect1, flow.path.ecn.ce + ce);
        }
        Step::Seed { window } => flow.report_seed(Bytes::new(window)),
        Step::Idle => flow.path.last_idle += ms(1),
    }
}

/// "States and Transition". High jitter leads from any state to Initial; that the text has it only after
/// Recovery is one of its differences from the reference code.
fn may_follow(from: &str, to: &str) -> bool {
    match from {
        "Initial" => matches!(to, "Recovery" | "Resuming"),
        "Recovery" => matches!(to, "Cruising" | "Pushing" | "Initial"),
        "Cruising" => matches!(to, "Probing" | "Recovery" | "Initial"),
        _ => matches!(to, "Recovery" | "Initial"),
    }
}

/// "Setting pacing rate, congestion window and quantum": outside of Initial and Resuming, the window is the pacing
/// rate times the max RTT and 15 ms at most, and one packet more in a push; never under two packets. There is no
/// other bound: a rate of 8 bit/s at the end of Initial is a max RTT of days, at whatever rate comes then. A flow
/// that resumed with an empty window knows no rate yet.
fn keeps_the_formula(flow: &Flow) -> bool {
    let controller = &flow.controller;
    if controller.nominal_rate.is_zero()
        || matches!(controller.state, State::Initial | State::Resuming)
    {
        return true;
    }
    let control = flow.control();
    control.pacing.is_some_and(|pacing| {
        let most = pacing.bytes_in(controller.nominal_max_rtt) + pacing.bytes_in(ms(15)) + MTU * 2;
        control.window <= most
    })
}

proptest! {
    #[test]
    fn any_events_keep_the_decision_positive_and_the_states_legal(
        steps in prop::collection::vec(step(), 1..300)
    ) {
        let mut flow = Flow::fresh();
        for step in &steps {
            let restarted = flow.controller.jitter_restart_done;
            apply(&mut flow, step);
            prop_assert!(flow.controller.jitter_restart_done || !restarted);
            for pair in flow.states.windows(2) {
                let (from, to) = (pair[0].1, pair[1].1);
                prop_assert!(may_follow(from, to), "{from} -> {to}");
            }

            let control = flow.control();
            prop_assert!(control.window >= MTU * 2);
            prop_assert!(control.pacing.is_none_or(|pacing| !pacing.is_zero()));
            prop_assert!(keeps_the_formula(&flow), "{control:?}");
            prop_assert!(control.quantum >= MTU * 2);
            prop_assert!(control.quantum <= Bytes::new(65_536));
            prop_assert!(flow.controller.probe_level <= 3);
            prop_assert!(flow.controller.cruising_eras_left <= 2);
            prop_assert!(flow.controller.delay_threshold <= ms(25));
            prop_assert!(flow.controller.nominal_max_rtt.is_zero() || flow.controller.nominal_max_rtt >= ms(1));
            prop_assert!((0.0..=1.0).contains(&flow.controller.loss.rate()));
            prop_assert!(flow.controller.ecn.alpha.units() <= 1024);
            prop_assert!(flow.controller.alpha.units() >= 896 && flow.controller.alpha.units() <= 3072);
        }
    }

    /// "Nominal rate": it follows the best sample. A steady RTT does not rule congestion out: a flow whose rate grew by
    /// a little less than the growth test asks for leaves Initial with a max RTT, half the window over the rate, that
    /// is shorter than the RTT by more than the delay threshold, and its Recovery sees a signal.
    #[test]
    fn without_congestion_the_nominal_rate_never_falls(
        rates in prop::collection::vec(1_u64..1_000_000_000, 1..200)
    ) {
        let mut flow = Flow::fresh();
        for sample in rates {
            let (before, signalled) = (flow.nominal(), flow.controller.congestion_seen);
            flow.end_era_at(sample);
            if !signalled && !flow.controller.congestion_seen {
                prop_assert_eq!(flow.nominal(), before.max(sample));
            }
        }
    }
}

/// Three eras that each grow by less than a quarter end Initial with a max RTT of 75 ms on a path of 80 ms: Recovery
/// sees delay, and rejects a sample that is higher than the nominal rate.
#[test]
fn a_signal_of_delay_in_the_recovery_after_initial_keeps_higher_samples_out() {
    let mut flow = Flow::fresh();
    for sample in [421_159_486, 519_068_796, 638_800_986, 772_077_363] {
        flow.end_era_at(sample);
    }
    assert_eq!(
        (flow.controller.state, flow.nominal()),
        (State::Recovery, 772_077_363)
    );
    flow.end_era_at(772_077_364);
    assert!(flow.controller.congestion_seen);
    assert_eq!(flow.nominal(), 772_077_363);
}
