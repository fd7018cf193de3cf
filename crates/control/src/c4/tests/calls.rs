//! Single calls of the reference code: a random state, one signal, and the state that follows.
//!
//! `tests/reference/c4_calls.csv` holds 700 of them, for the code of August 20 and the code of October 8, 2026. The reference
//! code counts whole microseconds and bytes per second; ours keeps more digits, so a result may be off by what
//! it has truncated.

use super::*;
use crate::c4::Seed;
use crate::c4::ecn::EcnFilter;
use crate::c4::era::Era;
use crate::c4::growth::Reference;
use crate::coefficient::Coefficient;
use crate::event::{Ack, RttSample, Snapshot};
use crate::loss_filter::LossFilter;
use std::collections::BTreeMap;

const CALLS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/reference/c4_calls.csv"
);
/// A minimum before its first sample.
const NONE: &str = "-";

/// One line: columns by name.
struct Call<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Call<'a> {
    fn text(&self, name: &str) -> &'a str {
        self.0[name]
    }
    fn count(&self, name: &str) -> u64 {
        self.text(name).parse().expect(name)
    }
    fn small(&self, name: &str) -> u32 {
        u32::try_from(self.count(name)).expect(name)
    }
    fn flag(&self, name: &str) -> bool {
        self.count(name) != 0
    }
    fn real(&self, name: &str) -> f64 {
        self.text(name).parse().expect(name)
    }
    fn span(&self, name: &str) -> Duration {
        match self.text(name) {
            NONE => Duration::MAX,
            _ => us(self.count(name)),
        }
    }
    fn time(&self, name: &str) -> Instant {
        Instant::START + self.span(name)
    }
    fn rate(&self, name: &str) -> Rate {
        rate(self.count(name))
    }
    fn size(&self, name: &str) -> Bytes {
        Bytes::new(self.count(name))
    }
    fn coefficient(&self, name: &str) -> Coefficient {
        Coefficient::new(self.count(name))
    }
    fn state(&self) -> State {
        let states = [
            State::Initial,
            State::Recovery,
            State::Cruising,
            State::Probing,
            State::Pushing,
            State::Resuming,
        ];
        let named = states
            .iter()
            .find(|state| state.name() == self.text("state"));
        *named.expect("a state")
    }

    /// The flow before the call, with what is to drain in units of the variant.
    fn flow(&self, variant: &str, drain: Coefficient) -> Flow {
        let mut flow = Flow::with_options(&[("variant", variant)]);
        let c4 = &mut *flow.controller;
        c4.state = self.state();
        c4.nominal_rate = self.rate("nominal_rate");
        c4.nominal_max_rtt = self.span("nominal_max_rtt");
        c4.initial_window = self.size("initial_cwnd");
        c4.drain_debt = drain;
        c4.first_recovery_end = match self.count("initial_exit_time") {
            0 => None,
            _ => Some(self.time("initial_exit_time")),
        };
        c4.running_min_rtt = self.span("running_min_rtt");
        c4.alpha = self.coefficient("alpha");
        c4.alpha_previous = self.coefficient("alpha_previous");
        c4.initial_events = self.count("initial_events");
        c4.era = Era {
            start: self.count("era_start_pn"),
            max_rtt: self.span("era_max_rtt"),
            min_rtt: self.span("era_min_rtt"),
        };
        c4.cruising_eras_left = self.small("cruise_eras_left");
        c4.seed = Seed {
            window: self.size("seed_cwnd"),
            rate: self.rate("seed_rate"),
        };
        c4.recent_max_rate = self.rate("recent_max_rate");
        c4.congested_cycles = self.small("congested_cycles");
        c4.probe_level = self.small("probe_level");
        c4.eras_without_growth = self.small("eras_without_growth");
        c4.resuming_eras = self.small("resuming_eras");
        c4.reference = Reference {
            rate: self.rate("reference_rate"),
            alpha: self.coefficient("reference_alpha"),
        };
        c4.delay_threshold = self.span("delay_threshold");
        c4.delay_excess = self.span("delay_excess");
        c4.loss = LossFilter::at(self.real("loss_ewma"), self.count("last_lost_pn"));
        c4.ecn = EcnFilter {
            alpha: self.coefficient("ecn_alpha"),
            threshold: self.coefficient("ecn_threshold"),
            ect1: self.count("last_ect1"),
            ce: self.count("last_ce"),
        };
        c4.congestion_seen = self.flag("congestion_seen");
        c4.fully_used = self.flag("fully_used");
        c4.ce_excess = self.flag("ce_excess");
        c4.control.window = self.size("path_cwnd");
        c4.control.pacing = None;
        self.put_path(&mut flow);
        flow
    }

    fn put_path(&self, flow: &mut Flow) {
        let path = &mut flow.path;
        path.latest_rtt = self.span("path_rtt_sample");
        path.smoothed_rtt = self.span("path_smoothed_rtt");
        path.mtu = self.size("path_mtu");
        path.delivery_rate = self.rate("path_delivery_rate");
        path.peak_rate = self.rate("path_peak_rate");
        path.bytes_in_flight = self.size("path_bytes_in_transit");
        path.newest_acked_data_sent = self.time("path_newest_acked_data_sent");
        path.last_idle = self.time("path_last_idle_time");
        path.next_packet = self.count("pn_next");
        path.largest_acked = Some(self.count("highest_acked"));
        path.lowest_unacked = self.count("highest_acked") + 1;
        path.ecn = self.ecn_counts();
        flow.now = self.time("now");
    }

    fn ecn_counts(&self) -> EcnCounts {
        EcnCounts {
            ect0: 0,
            ect1: self.count("ect1_total"),
            ce: self.count("ce_total"),
            largest_acked: self.count("highest_acked"),
        }
    }

    /// Gives the flow the signal.
    fn signal(&self, flow: &mut Flow) {
        let rtt = self.span("ack_rtt");
        match self.text("signal") {
            "acknowledgement" => {
                let ack = Ack {
                    largest: self.count("highest_acked"),
                    newly_acked: self.size("ack_bytes_acked"),
                    newly_acked_packets: 1,
                    newly_lost: Bytes::ZERO,
                    lost_ranges: 0,
                    rtt: (!rtt.is_zero()).then_some(rtt),
                    snapshot: Snapshot {
                        delivered_since_sent: self.size("ack_delivered_since_sent"),
                        ..flow.snapshot()
                    },
                    rate: None,
                    prior_in_flight: Bytes::ZERO,
                };
                flow.call(|c4, cx| c4.on_ack(&ack, cx));
            }
            "rtt_measurement" => {
                flow.call(|c4, cx| c4.on_rtt(&RttSample { rtt, raw: rtt }, cx));
            }
            "repeat" => flow.report_loss(self.count("lost_pn")),
            "ecn_ec" => flow.report_ecn(self.ecn_counts()),
            "seed_cwnd" => flow.report_seed(self.size("ack_bytes_acked")),
            other => panic!("signal {other:?}"),
        }
    }
}

/// Every variable after the call by the names of the reference code, in its units.
fn variables(flow: &Flow) -> BTreeMap<&'static str, u64> {
    let c4 = &*flow.controller;
    let rate = |rate: Rate| rate.as_bytes_per_sec();
    let span = |span: Duration| match span {
        Duration::MAX => u64::MAX,
        span => span.as_nanos() / 1_000,
    };
    let exit = c4.first_recovery_end;
    BTreeMap::from([
        ("nominal_rate", rate(c4.nominal_rate)),
        ("nominal_max_rtt", span(c4.nominal_max_rtt)),
        ("initial_cwnd", c4.initial_window.as_u64()),
        ("drain", c4.drain_debt.units()),
        (
            "initial_exit_time",
            exit.map_or(0, |time| span(time - Instant::START)),
        ),
        ("running_min_rtt", span(c4.running_min_rtt)),
        ("alpha", c4.alpha.units()),
        ("alpha_previous", c4.alpha_previous.units()),
        ("initial_events", c4.initial_events),
        ("era_start_pn", c4.era.start),
        ("era_max_rtt", span(c4.era.max_rtt)),
        ("era_min_rtt", span(c4.era.min_rtt)),
        ("cruise_eras_left", c4.cruising_eras_left.into()),
        ("seed_cwnd", c4.seed.window.as_u64()),
        ("seed_rate", rate(c4.seed.rate)),
        ("recent_max_rate", rate(c4.recent_max_rate)),
        ("congested_cycles", c4.congested_cycles.into()),
        ("probe_level", c4.probe_level.into()),
        ("eras_without_growth", c4.eras_without_growth.into()),
        ("resuming_eras", c4.resuming_eras.into()),
        ("reference_rate", rate(c4.reference.rate)),
        ("reference_alpha", c4.reference.alpha.units()),
        ("delay_threshold", span(c4.delay_threshold)),
        ("delay_excess", span(c4.delay_excess)),
        ("last_lost_pn", c4.loss.last_lost()),
        ("ecn_alpha", c4.ecn.alpha.units()),
        ("ecn_threshold", c4.ecn.threshold.units()),
        ("last_ect1", c4.ecn.ect1),
        ("last_ce", c4.ecn.ce),
        ("congestion_seen", c4.congestion_seen.into()),
        ("fully_used", c4.fully_used.into()),
        ("ce_excess", c4.ce_excess.into()),
        ("path_cwnd", c4.control.window.as_u64()),
        ("pacing_rate", c4.control.pacing.map_or(0, rate)),
    ])
}

/// How far the window may be off: a microsecond of max RTT and margin at the pacing rate each, and a byte per
/// second each of nominal and pacing rate for the length of the max RTT, in addition to three bytes truncated.
fn window_tolerance(flow: &Flow) -> u64 {
    let pacing = flow.control().pacing.unwrap_or(Rate::ZERO);
    let span = flow.controller.nominal_max_rtt * 5 / 4;
    3 + pacing.bytes_in(us(2)).as_u64() + rate(2).bytes_in(span).as_u64()
}

/// Whether the reference code gives `name` a value that no run can show or read:
///
/// - it clears the eras without growth also where Pushing begins, and reads them in Initial only;
/// - a debt is paid off with a coefficient below 1, and the random states have larger ones in Recovery;
/// - a push has a coefficient above 1, and the random states have smaller ones in Probing and Pushing;
/// - a probe begins at level 0 or 1, since higher levels lead to Pushing.
fn is_out_of_reach(call: &Call<'_>, flow: &Flow, name: &str) -> bool {
    let c4 = &flow.controller;
    let is_push = matches!(c4.state, State::Probing | State::Pushing);
    let is_high_probe =
        c4.state == State::Probing && call.state() == State::Cruising && c4.probe_level > 1;
    match name {
        "eras_without_growth" => c4.state != State::Initial,
        "drain" => call.state() == State::Recovery && call.coefficient("alpha") > Coefficient::ONE,
        "path_cwnd" if is_push && c4.alpha <= Coefficient::ONE => true,
        "alpha" | "alpha_previous" | "reference_alpha" | "pacing_rate" | "path_cwnd" => {
            is_high_probe
        }
        _ => false,
    }
}

/// Makes all calls of one version, whose drain is counted in `unit`, and returns how many values were compared
/// and what differs. Rates, times and the delay threshold may be off by one where the reference code truncates.
fn differences(variant: &str, columns: [&str; 2], unit: u64) -> (usize, Vec<String>) {
    let [drain, out] = columns;
    let text = std::fs::read_to_string(CALLS).expect(CALLS);
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("names").split(',').collect();
    let (mut compared, mut wrong) = (0, Vec::new());
    for (number, line) in lines.enumerate() {
        let call = Call(names.iter().copied().zip(line.split(',')).collect());
        let drain = Coefficient::new(call.count(drain) * unit);
        let mut flow = call.flow(variant, drain);
        let before = variables(&flow);
        call.signal(&mut flow);
        let changes = match call.text(out) {
            "=" => call.text("august_out"),
            own => own,
        };
        let changes = changes.split(' ').filter_map(|it| it.split_once('='));
        let changes: BTreeMap<&str, &str> = changes.collect();
        let mut differ = |name: &str, ours: &dyn std::fmt::Display, theirs: &str| {
            let (signal, state) = (call.text("signal"), call.text("state"));
            wrong.push(format!(
                "call {number}, {signal} in {state}: {name} {ours} instead of {theirs}"
            ));
        };
        let state = changes.get("state").copied().unwrap_or(call.text("state"));
        if flow.controller.state.name() != state {
            differ("state", &flow.controller.state.name(), state);
        }
        for (name, ours) in variables(&flow) {
            if is_out_of_reach(&call, &flow, name) {
                continue;
            }
            compared += 1;
            let theirs = match changes.get(name) {
                None => before[name],
                Some(&NONE) => u64::MAX,
                Some(value) => value.parse().expect(name),
            };
            let (theirs, tolerance) = match name {
                "drain" if changes.contains_key(name) => (theirs * unit, 0),
                // Ours is never less than two packets once it is computed.
                "path_cwnd" if ours == flow.path.mtu.as_u64() * 2 => (theirs.max(ours), 0),
                "path_cwnd" => (theirs, window_tolerance(&flow)),
                "nominal_rate" | "nominal_max_rtt" | "pacing_rate" | "delay_threshold" => {
                    (theirs, 1)
                }
                _ => (theirs, 0),
            };
            if ours.abs_diff(theirs) > tolerance {
                differ(name, &ours, &theirs.to_string());
            }
        }
    }
    (compared, wrong)
}

/// 700 calls of 34 variables, less those out of reach.
#[test]
fn draft_05_answers_every_call_as_the_code_of_august_20() {
    let (compared, wrong) = differences("draft-05", ["august_drain", "august_out"], 1024);
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(compared, 23_061);
}

/// The same calls with other drains, in units of 1/1024.
#[test]
fn the_version_of_october_answers_every_call_as_its_code() {
    let (compared, wrong) = differences("2026-10", ["october_drain", "october_out"], 1);
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(compared, 23_061);
}
