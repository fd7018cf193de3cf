//! A trial is a function of scenario and seed: the same on every machine, with any number of threads,
//! traced or not. The table is committed; a change of it is a change of behaviour.

use std::fmt::Write;
use thalweg_sim::{FlowOutcome, Outcome, Progress, Scenario, run_trial, run_trials};

const NAMES: [&str; 7] = [
    "simple-20mbps",
    "simple-200mbps",
    "satellite",
    "low-and-up",
    "drop-and-back",
    "black-hole",
    "short-to-long",
];

fn scenario(name: &str) -> Scenario {
    let suite = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../python/thalweg/suites/c4/"
    );
    let file = format!("{suite}{name}.toml");
    Scenario::from_toml(&std::fs::read(&file).unwrap(), &file, &[], &[]).unwrap()
}

/// Everything random at once, and every controller.
const RANDOM: &str = r#"
title = "All that is random"
[path]
rate = "20 Mbps"
rtt = "30 ms"
buffer = "200 packets"
jitter = { model = "wifi", mean = "7 ms" }
loss = { model = "gilbert-elliott", p = "0.1 %", r = "20 %", bad_loss = "50 %" }
[[path.change]]
at = "1 s"
rate = "5 Mbps"
[[flow]]
name = "main"
controller = "c4"
download = "1 MB"
[[flow]]
name = "cubic"
controller = "cubic"
download = "1 MB"
start = "100 ms"
[[flow]]
name = "reno"
controller = "reno"
upload = "1 MB"
streams = 5
[[flow]]
name = "bbr"
controller = "bbr"
download = "1 MB"
zero_rtt = true
[[flow]]
name = "bbr1"
controller = "bbr1"
download = "1 MB"
"#;

fn random() -> Scenario {
    Scenario::from_toml(RANDOM.as_bytes(), "random.toml", &[], &[]).unwrap()
}

fn row(table: &mut String, name: &str, outcome: &Outcome) {
    let completion = outcome.flows[0].completion.unwrap().as_nanos();
    let drops: u64 = outcome
        .links
        .iter()
        .map(|l| l.dropped_packets + l.lost_packets)
        .sum();
    let (hash, packets) = (outcome.trace_hash, outcome.packets);
    writeln!(
        table,
        "{name:14} {hash:016x} {completion:>11} {packets:>6} {drops:>5}"
    )
    .unwrap();
}

#[test]
fn the_first_trial_of_every_scenario_is_known_to_the_nanosecond() {
    let mut table = String::from("scenario       trace hash        completion packets drops\n");
    for name in NAMES {
        row(&mut table, name, &run_trial(&scenario(name), 1, false).0);
    }
    row(&mut table, "random", &run_trial(&random(), 1, false).0);
    insta::assert_snapshot!(table, @r##"
    scenario       trace hash        completion packets drops
    simple-20mbps  d5d711bd81a6c71d  4377067101   7400   282
    simple-200mbps bfd1c103e690aed5  1022103267  15491  1143
    satellite      bee2f9d27012de36  6207302668  71129     0
    low-and-up     e54b9abd32f4e2c9  7567196433   5176   192
    drop-and-back  90e53f8e9dcf5fef  7455221233   5515   531
    black-hole     4ba78337b662e0b6  5525119116   7409   287
    short-to-long  44f2af140b25d825 17384026428  14230     0
    random         e558f212599a82a5  3450775690   4012   335
    "##);
}

#[test]
fn two_threads_play_the_same_trials_as_one() {
    for scenario in [scenario("simple-20mbps"), random()] {
        let seeds: Vec<u64> = (1..=6).collect();
        let on = |jobs| -> Vec<(usize, Outcome)> {
            let finished = run_trials(&scenario, &seeds, jobs, &Progress::default());
            finished.into_iter().map(|f| (f.index, f.outcome)).collect()
        };
        let (one, two) = (on(1), on(2));
        assert_eq!(one, two);
        // Seeds matter: no two trials are alike.
        let mut hashes: Vec<u64> = one.iter().map(|(_, outcome)| outcome.trace_hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), seeds.len());
    }
}

#[test]
fn a_trace_does_not_change_what_it_shows() {
    for scenario in [scenario("simple-20mbps"), scenario("black-hole"), random()] {
        let (plain, none) = run_trial(&scenario, 3, false);
        let (traced, trace) = run_trial(&scenario, 3, true);
        assert!(none.is_none() && trace.is_some_and(|trace| !trace.flows.is_empty()));
        assert_eq!(plain, traced);
    }
}

#[test]
fn a_scenario_that_was_written_out_plays_the_same_trial() {
    let set = [("path.rate".to_owned(), "15 Mbps".to_owned())];
    let changed = Scenario::from_toml(RANDOM.as_bytes(), "random.toml", &set, &[]).unwrap();
    let again = Scenario::from_toml(changed.toml().as_bytes(), "again.toml", &[], &[]).unwrap();
    let hash = |scenario: &Scenario| run_trial(scenario, 1, false).0.trace_hash;
    assert_eq!(hash(&changed), hash(&again));
    assert_ne!(hash(&changed), hash(&random()));
}

#[test]
fn another_flow_does_not_shift_what_the_path_draws() {
    // One stream of random numbers for each element: the first loss comes where it came, though a second
    // flow starts long after the first has ended.
    let more = format!(
        "{RANDOM}[[flow]]\nname = \"late\"\ncontroller = \"reno\"\ndownload = \"1 kB\"\nstart = \"60 s\"\n"
    );
    let more = Scenario::from_toml(more.as_bytes(), "more.toml", &[], &[]).unwrap();
    let (few, many) = (
        run_trial(&random(), 5, false).0,
        run_trial(&more, 5, false).0,
    );
    // How flows shared a path does change: the time that all of them share is another.
    let path = |flow: &FlowOutcome| {
        let lost = (flow.packets_lost_at_random, flow.packets_dropped);
        (
            flow.start,
            flow.closed,
            flow.packets_sent,
            lost,
            flow.mean_jitter,
        )
    };
    for (few, many) in few.flows.iter().zip(&many.flows) {
        assert_eq!(path(few), path(many));
    }
}
