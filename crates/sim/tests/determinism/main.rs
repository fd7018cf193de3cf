//! A trial is a function of scenario and seed: the same on every machine, with any number of threads,
//! traced or not. The table is committed; a change of it is a change of behaviour.

use audited::run_trial;
use std::fmt::Write;
use thalweg_sim::{FlowOutcome, Outcome, Progress, Scenario, run_trials};

#[path = "../any_variant/mod.rs"]
mod any_variant;
#[path = "../audited/mod.rs"]
mod audited;
mod late_start;
mod running_ahead;

const NAMES: [&str; 7] = [
    "simple-20mbps",
    "simple-200mbps",
    "satellite",
    "low-and-up",
    "drop-and-back",
    "black-hole",
    "short-to-long",
];

/// The version of C4 whose trials are known; `tests/trace_hashes.txt` has the other ones.
fn draft_04() -> [(String, String); 1] {
    [("main".to_owned(), "c4:variant=draft-04".to_owned())]
}

fn scenario(name: &str) -> Scenario {
    let suite = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../python/thalweg/suites/c4/"
    );
    let file = format!("{suite}{name}.toml");
    Scenario::from_toml(&std::fs::read(&file).unwrap(), &file, &[], &draft_04()).unwrap()
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
    Scenario::from_toml(RANDOM.as_bytes(), "random.toml", &[], &draft_04()).unwrap()
}

fn row(table: &mut String, name: &str, outcome: &Outcome) {
    let completion = outcome.flows[0].completion.unwrap().as_nanos();
    let drops: u64 = outcome
        .links
        .iter()
        .map(|l| l.dropped_packets + l.lost_packets)
        .sum();
    let (hash, packets) = (outcome.trace_hash.unwrap(), outcome.packets);
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
    simple-20mbps  088ff8bf791fb6bc  4377981563   7393   275
    simple-200mbps 47c1f8e8731f7147  1015109387  15310  1080
    satellite      9dd58a29a1036d48  6207181691  71129     0
    low-and-up     e2c340493ba81689  7475659928   5167   183
    drop-and-back  cd09bf058c1e99f2  7354633305   5501   518
    black-hole     21063be66295c53c  5525609376   7414   292
    short-to-long  c82a1285c6fbef8d 17348291491  14230     0
    random         b1d16e65cbaa524c  6243447944   3676   132
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
        let (alone, together) = (on(1), on(2));
        assert_eq!(alone, together);
        // Seeds matter: no two trials are equal.
        let mut hashes: Vec<Option<u64>> = alone
            .iter()
            .map(|(_, outcome)| outcome.trace_hash)
            .collect();
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
        assert!(none.is_none() && trace.is_some_and(|trace| !trace.senders.samples.is_empty()));
        assert_eq!(plain, traced);
    }
}

#[test]
fn time_never_falls() {
    // An acknowledgement that ends the back-off of a probe timeout leaves a deadline that has passed. The first
    // trial asked for 0.8 s before its present at 1.6 s when the event loop took that as it was.
    for (name, seed) in [("c4-background-first", 1), ("c4-background-last", 7)] {
        let (_, trace) = run_trial(&scenario(name), seed, true);
        let flows = trace.unwrap().senders.samples;
        assert!(flows.len() > 300);
        assert!(flows.is_sorted_by_key(|row| row.time), "{name}");
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
    let more = Scenario::from_toml(more.as_bytes(), "more.toml", &[], &draft_04()).unwrap();
    // In this trial no close is lost, so that the last flow sends nothing after it has closed.
    let (few, many) = (
        run_trial(&random(), 6, false).0,
        run_trial(&more, 6, false).0,
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
