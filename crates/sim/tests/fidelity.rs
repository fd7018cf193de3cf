//! C4 against the reference runs: times of the last byte over many trials, and one trial era by era.
//!
//! The numbers typed in here come from the reference simulator. The numbers of draft -04 come from picoquic of August 16,
//! 2026, and the scenario files of November 2025: medians over 100 trials of the time at which the last byte arrived.
//! The numbers of the later versions come from single trials without jitter (c4-05-code.md section 3).

use audited::run_trial;
use thalweg_sim::{Outcome, Progress, Scenario, Trace, run_trials};

mod any_variant;
mod audited;

/// The version that the reference runs of the suite were made with.
const DRAFT_04: &str = "c4:variant=draft-04";

const SUITE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../python/thalweg/suites/c4/"
);

fn scenario(name: &str, controller: &str, noise: bool) -> Scenario {
    let file = format!("{SUITE}{name}.toml");
    let text = std::fs::read(&file).unwrap();
    // The draws that the suite has and the peer does not are off.
    let own = [("handshake", "0 B"), ("phase", "0 s")];
    let quiet = [("start", "0 s"), ("wakeup", "0 s")];
    let keys = own.iter().chain(quiet.iter().filter(|_| !noise));
    let sets: Vec<_> = keys
        .map(|(key, value)| (format!("noise.{key}"), (*value).to_owned()))
        .collect();
    let controllers = [("main".to_owned(), controller.to_owned())];
    any_variant::from_toml(&text, &file, &sets, &controllers).unwrap()
}

/// Median over 20 seeds of the time of the last byte, in seconds.
fn median(name: &str, controller: &str) -> f64 {
    let scenario = scenario(name, controller, true);
    let seeds: Vec<u64> = (1..=20).collect();
    let progress = Progress::audited();
    let finished = run_trials(&scenario, &seeds, 2, &progress);
    assert_eq!(progress.finding.get(), None);
    let time = |flow: &thalweg_sim::FlowOutcome| flow.completion.unwrap().as_secs_f64();
    let mut times: Vec<f64> = finished.iter().map(|f| time(&f.outcome.flows[0])).collect();
    assert_eq!(times.len(), 20);
    times.sort_by(f64::total_cmp);
    f64::midpoint(times[9], times[10])
}

/// Asserts that two numbers differ by at most `percent` of the second, either way.
#[track_caller]
fn close(what: &str, ours: f64, reference: f64, percent: f64) {
    let off = (ours / reference - 1.0) * 100.0;
    assert!(
        off.abs() <= percent,
        "{what}: {ours:.6} against {reference:.6}, off by {off:+.2} %, allowed {percent} %"
    );
}

#[test]
fn c4_takes_as_long_as_in_the_reference_runs() {
    // results/peer_trials.csv, last_data_s, medians of c4_alone, c4_low_and_up, c4_drop_and_back,
    // c4_blackhole, c4_satellite, c4_short_long and c4_alone_200.
    for (name, reference, percent) in [
        ("simple-20mbps", 4.38021, 2.0),
        ("low-and-up", 7.47011, 2.0),
        ("drop-and-back", 7.45742, 2.0),
        ("black-hole", 5.52191, 2.0),
        ("satellite", 6.20712, 4.0),
        ("short-to-long", 17.336, 4.0),
        ("simple-200mbps", 1.04718, 4.0),
    ] {
        close(name, median(name, DRAFT_04), reference, percent);
    }
}

#[test]
fn other_controllers_take_as_long_as_in_the_reference_runs() {
    // results/peer_trials.csv, last_data_s, medians of cubic_alone and bbr_alone.
    for (controller, reference) in [("cubic:variant=picoquic", 4.37904), ("bbr", 4.59239)] {
        close(
            controller,
            median("simple-20mbps", controller),
            reference,
            3.0,
        );
    }
}

/// One trial without noise, with its controller's variables.
struct Run {
    outcome: Outcome,
    trace: Trace,
}

impl Run {
    fn of(name: &str, controller: &str) -> Run {
        let (outcome, trace) = run_trial(&scenario(name, controller, false), 1, true);
        let trace = trace.unwrap();
        Run { outcome, trace }
    }

    /// Every state and when it began, in seconds.
    fn states(&self) -> Vec<(&'static str, f64)> {
        let rows = self.trace.senders.samples.iter();
        let mut states: Vec<_> = rows
            .map(|row| (row.state, row.time.as_secs_f64()))
            .collect();
        states.dedup_by_key(|(state, _)| *state);
        states
    }

    /// Last value of a variable at `time` in seconds.
    fn value(&self, name: &str, time: f64) -> f64 {
        let before = self.trace.senders.variables.iter().rev();
        let mut before = before.filter(|v| v.time.as_secs_f64() <= time && v.name == name);
        before.next().expect("a value").value
    }

    /// Values that a variable took before `time`.
    fn values(&self, name: &str, until: f64) -> Vec<f64> {
        let of = self
            .trace
            .senders
            .variables
            .iter()
            .filter(|v| v.name == name);
        of.take_while(|v| v.time.as_secs_f64() < until)
            .map(|v| v.value)
            .collect()
    }
}

#[test]
fn alone_goes_through_initial_era_by_era_as_the_instrumented_run() {
    let run = Run::of("simple-20mbps", DRAFT_04);
    // The rate at the end of each era becomes the reference of the next; bits become bytes.
    let ends = run.values("reference_rate", 0.64);
    let ends: Vec<f64> = ends
        .iter()
        .map(|rate| rate / 8.0)
        .filter(|rate| *rate > 0.0)
        .collect();
    // The fourth and fifth end with an acknowledgement of fifteen packets or more: one packet is 1 % there.
    let reference = [
        (25_551.0, 1.0),
        (175_960.0, 0.5),
        (856_315.0, 0.5),
        (1_693_366.0, 2.0),
        (2_341_148.0, 1.0),
        (2_481_054.0, 1.0),
    ];
    assert_eq!(ends.len(), reference.len(), "{ends:?}");
    for (rate, (expected, percent)) in ends.iter().zip(reference) {
        close("rate at the end of an era", *rate, expected, percent);
    }
    close(
        "pacing rate of cruising",
        run.value("nominal_rate", 2.0) / 8.0,
        2_481_054.0,
        0.5,
    );
}

#[test]
fn alone_leaves_initial_and_cycles_as_the_instrumented_run() {
    let run = Run::of("simple-20mbps", DRAFT_04);
    let reference = [
        ("Recovery", 0.656_767),
        ("Cruising", 0.822_386),
        ("Probing", 1.006_480),
        ("Recovery", 1.099_630),
        ("Cruising", 1.192_780),
    ];
    let states = run.states();
    assert_eq!(states[0].0, "Initial");
    for ((state, time), (expected, when)) in states[1..].iter().zip(reference) {
        assert_eq!(*state, expected, "{states:?}");
        close(state, *time, when, 1.0);
    }
    // Max RTT as time goes by, half a round trip after the era that sets it; it decays towards the
    // minimum, and errors of a phase grow with it.
    for (time, max_rtt) in [
        (0.656_767, 0.183_041),
        (0.913_207, 0.171_408),
        (1.006_480, 0.160_498),
        (1.275_580, 0.151_214),
        (1.358_833, 0.142_403),
        (1.619_006, 0.135_050),
        (2.046_025, 0.117_403),
    ] {
        let ours = run.value("nominal_max_rtt", time + 0.04);
        close(&format!("max RTT at {time}"), ours, max_rtt, 3.0);
    }
    let main = &run.outcome.flows[0];
    close(
        "last byte",
        main.completion.unwrap().as_secs_f64(),
        4.380_200,
        1.0,
    );
    close("close", main.closed.unwrap().as_secs_f64(), 4.460_230, 1.0);
    // 276 packets in the reference, all of them at the end of Initial.
    close("losses", main.packets_lost as f64, 276.0, 5.0);
    let late = run
        .trace
        .drops
        .iter()
        .filter(|drop| drop.time.as_secs_f64() > 0.7);
    assert_eq!(late.count(), 0);
}

#[test]
fn low_and_up_leaves_initial_finds_the_new_capacity_and_starts_again() {
    let run = Run::of("low-and-up", DRAFT_04);
    let states = run.states();
    let exit = states[1];
    assert_eq!(exit.0, "Recovery");
    close("exit from Initial", exit.1, 0.796, 0.5);
    close(
        "rate then",
        run.value("nominal_rate", exit.1) / 8.0,
        615_588.0,
        1.0,
    );
    close(
        "max RTT then",
        run.value("nominal_max_rtt", exit.1),
        0.147_368,
        3.0,
    );
    // The capacity doubles at 2.5 s. Two successful pushes later the flow starts again: at 3.053 s in the
    // reference; ours probes where that pushed, which costs up to two cycles of 220 ms.
    let again = states[1..]
        .iter()
        .position(|state| state.0 == "Initial")
        .expect("a second start")
        + 1;
    let cycle: Vec<&str> = states[again - 4..=again + 1]
        .iter()
        .map(|state| state.0)
        .collect();
    assert_eq!(
        cycle,
        [
            "Pushing", "Recovery", "Pushing", "Recovery", "Initial", "Recovery"
        ]
    );
    let late = states[again].1 - 3.053;
    assert!((-0.05..0.45).contains(&late), "{states:?}");
    close(
        "Initial lasts",
        states[again + 1].1 - states[again].1,
        3.403 - 3.053,
        5.0,
    );
    let rate = run.value("nominal_rate", states[again + 1].1) / 8.0;
    close("rate after it", rate, 1_237_185.0, 1.0);
    let closed = run.outcome.flows[0].closed.unwrap().as_secs_f64();
    close("close", closed, 7.570_155, 2.0);
}

/// A controller, the times of its states in seconds, and its max RTT in seconds at some times.
type Course = (
    &'static str,
    &'static [(&'static str, f64)],
    &'static [(f64, f64)],
);

/// Times of the states, and the max RTT after each Recovery and cruising era, of the later versions on the path of
/// `simple-20mbps` without jitter (c4-05-code.md section 3).
#[test]
fn the_later_versions_go_through_the_same_eras_as_the_instrumented_runs() {
    let august: Course = (
        "c4:variant=draft-05",
        &[
            ("Recovery", 0.656_735),
            ("Cruising", 0.822_354),
            ("Probing", 0.988_778),
            ("Recovery", 1.072_353),
            ("Cruising", 1.165_568),
            ("Probing", 1.333_044),
            // Ours pushes after this Recovery where that cruised: of two flows that trimmed to within 0.4 % of
            // each other, a sample of the next probe exceeds the rate of one and not of the other.
            ("Recovery", 1.416_725),
        ],
        &[
            (0.656_735, 0.167_654),
            (0.905_178, 0.157_024),
            (0.988_778, 0.147_471),
            (1.249_785, 0.139_308),
            (1.333_044, 0.131_969),
        ],
    );
    let october: Course = (
        "c4:variant=2026-10",
        &[
            ("Recovery", 0.656_735),
            ("Cruising", 0.822_354),
            ("Probing", 0.996_475),
            ("Recovery", 1.080_050),
            ("Cruising", 1.173_264),
            ("Probing", 1.338_627),
        ],
        &[
            (0.656_735, 0.167_654),
            (0.822_354, 0.166_766),
            (0.912_969, 0.155_997),
            (0.996_475, 0.146_572),
            (1.173_264, 0.138_860),
            (1.255_267, 0.131_597),
            (1.338_627, 0.125_228),
        ],
    );
    for (controller, states, max_rtts) in [august, october] {
        let run = Run::of("simple-20mbps", controller);
        let ours = run.states();
        assert_eq!(ours[0].0, "Initial");
        for ((state, time), (expected, when)) in ours[1..].iter().zip(states) {
            assert_eq!(state, expected, "{controller}: {ours:?}");
            // The first packet of a Recovery at 74 % waits 18 ms longer for its window, which ends its era later.
            close(&format!("{controller}: {state}"), *time, *when, 2.3);
        }
        for (time, max_rtt) in max_rtts {
            let ours = run.value("nominal_max_rtt", time + 0.04);
            close(
                &format!("{controller}: max RTT at {time}"),
                ours,
                *max_rtt,
                1.0,
            );
        }
    }
}

#[test]
fn the_later_versions_trim_and_drain_as_the_instrumented_runs() {
    let august = Run::of("simple-20mbps", "c4:variant=draft-05");
    // Recovery at 7/8 after Initial and after eras that lowered the max RTT.
    for time in [0.70, 1.12, 1.46] {
        close("alpha", august.value("alpha", time), 0.875, 0.01);
    }
    // The first trim: half of the way from 2 481 120 to 2 474 794 B/s, and the same here from 0.3 % less.
    let rate_at = |time| august.value("nominal_rate", time) / 8.0;
    close("before", rate_at(1.10), 2_481_120.0, 0.5);
    close("trimmed", rate_at(1.25), 2_477_957.0, 0.5);
    let cut = (1.0 - rate_at(1.25) / rate_at(1.10)) * 100.0;
    assert!((0.02..0.5).contains(&cut), "{cut} %");
    let october = Run::of("simple-20mbps", "c4:variant=2026-10");
    // The debt of Initial, 1024, 758, 492: 1024 - 758 = 266 each.
    for (time, debt) in [(0.70, 1_024.0), (0.95, 758.0), (1.25, 492.0)] {
        let ours = october.value("drain_debt", time) * 1_024.0;
        close("debt", ours, debt, 0.01);
    }
    close("alpha", october.value("alpha", 1.12), 758.0 / 1_024.0, 0.01);
    for (run, completion, closed) in [
        (august, 4.465_623, 4.545_651),
        (october, 4.567_509, 4.647_537),
    ] {
        let main = &run.outcome.flows[0];
        close(
            "last byte",
            main.completion.unwrap().as_secs_f64(),
            completion,
            1.0,
        );
        close("close", main.closed.unwrap().as_secs_f64(), closed, 1.0);
        close("losses", main.packets_lost as f64, 276.0, 5.0);
    }
}
