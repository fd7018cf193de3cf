//! The auditor checks shipped and random scenarios, and changes nothing.

mod any_variant;

use crate::lists;
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use thalweg_control::Purpose;
use thalweg_sim::{Progress, Scenario, run_audited, run_traced, run_trial, run_trials};

const SUITES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/thalweg/suites");

/// The shipped scenario files, but those that are changes of another one: `make audit` plays them too.
fn shipped() -> Vec<PathBuf> {
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("a folder of suites");
        entries
            .map(|entry| entry.expect("an entry").path())
            .collect()
    };
    let folders = list(Path::new(SUITES))
        .into_iter()
        .filter(|path| path.is_dir());
    let mut files: Vec<PathBuf> = folders.flat_map(|folder| list(&folder)).collect();
    files.retain(|file| {
        let is_toml = file
            .extension()
            .is_some_and(|extension| extension == "toml");
        is_toml && !file.ends_with("suite.toml") && !is_change(file)
    });
    files.sort();
    files
}

fn is_change(file: &Path) -> bool {
    std::fs::read(file).is_ok_and(|text| text.starts_with(b"base "))
}

fn read(file: &Path, controllers: &[(String, String)]) -> Scenario {
    let text = std::fs::read(file).expect("a shipped scenario");
    let name = file.display().to_string();
    any_variant::from_toml(&text, &name, &[], controllers).expect("a shipped scenario is right")
}

#[test]
#[ignore = "takes minutes: a part of `make soak`, as `make audit` is"]
fn nothing_is_found_in_shipped_scenarios() {
    let files = shipped();
    assert!(files.len() > 40, "{}", files.len());
    for file in files {
        let scenario = read(&file, &[]);
        for seed in 1..=3 {
            match run_audited(&scenario, seed, false) {
                // Long ones have one trial here; `make audit` runs more.
                Ok((outcome, _)) if outcome.events > 300_000 => break,
                Ok(_) => {}
                Err(finding) => panic!("{}: {finding}", file.display()),
            }
        }
    }
}

/// Everything that draws at random, several hops, both stacks, and every kind of workload.
const MIXED: &str = r#"
title = "Mixed"
time_limit = "20 s"
[[link]]
name = "access"
rate = "20 Mbps"
rtt = "30 ms"
buffer = "100 packets"
jitter = { model = "wifi", mean = "7 ms" }
loss = { model = "random", rate = "1 %" }
noise = { rate_sd = "2 Mbps", delay_sd = "1 ms", every = "10 ms" }
[[link.change]]
at = "1 s"
rate = "5 Mbps"
rtt = "50 ms"
[[link]]
name = "core"
rate = "8 Mbps"
rtt = "10 ms"
buffer = "50 ms"
queue = { model = "dualpi2" }
policer = { rate = "6 Mbps", burst = "50 kB" }
[[flow]]
name = "main"
controller = "c4"
download = "1 MB"
route = ["access", "core"]
[[flow]]
name = "real"
stack = "quic"
controller = "cubic"
download = "500 kB"
route = ["access", "core"]
[[flow]]
name = "up"
controller = "bbr"
upload = "300 kB"
route = ["core"]
[[flow]]
name = "prague"
controller = "prague"
download = "500 kB"
route = ["core"]
"#;

#[test]
fn a_trial_is_the_same_with_and_without_the_auditor() {
    let mixed = Scenario::from_toml(MIXED.as_bytes(), "mixed.toml", &[], &[]).unwrap();
    let suite = Path::new(SUITES).join("c4");
    let shipped = ["simple-20mbps", "media-bad-wifi"]
        .map(|name| read(&suite.join(format!("{name}.toml")), &[]));
    for scenario in shipped.iter().chain([&mixed]) {
        let (plain, traced) = run_trial(scenario, 3, true);
        let (watched, watched_trace) = run_audited(scenario, 3, true).unwrap();
        assert_eq!(plain, watched);
        // What became of packets and drops included: the auditor and the trace share one record.
        let (traced, watched_trace) = (traced.unwrap(), watched_trace.unwrap());
        assert!(!traced.senders.packets.is_empty());
        assert_eq!(traced, watched_trace);
        let (untraced, _) = run_audited(scenario, 3, false).unwrap();
        assert_eq!(plain.trace_hash, untraced.trace_hash);
    }
}

#[test]
fn a_run_that_is_watched_is_the_same_run() {
    let scenario = Scenario::from_toml(MIXED.as_bytes(), "mixed.toml", &[], &[]).unwrap();
    let run = |progress: Progress| {
        let finished = run_trials(&scenario, &[1, 2, 3], 2, &progress);
        assert_eq!(progress.finding.get(), None);
        let hashes = finished.iter().map(|trial| trial.outcome.trace_hash);
        hashes.collect::<Vec<_>>()
    };
    assert!(Progress::audited().audit);
    assert_eq!(run(Progress::audited()), run(Progress::default()));
    let (traced, _) = run_traced(&scenario, 2, &Progress::audited()).unwrap();
    assert_eq!(traced.outcome, run_trial(&scenario, 2, false).0);
}

/// All controllers, and what options make of some.
fn controllers() -> Vec<&'static str> {
    let all = [
        Purpose::Internet,
        Purpose::DataCenter,
        Purpose::Background,
        Purpose::Media,
    ];
    let mut found = lists::controllers(&all);
    found.extend([
        "c4:variant=draft-05",
        "c4:variant=2026-10",
        "c4:variant=v1",
        "cubic:variant=picoquic",
        "cubic:variant=linux",
        "bbr:variant=picoquic",
        "cubic:variant=cuback,abe=on,rate_limited_increase=on",
        "cbr:rate=4Mbps",
    ]);
    found
}

/// All disciplines, and what keys make of some.
fn queues() -> Vec<String> {
    let mut found = lists::queues();
    found.extend(
        [
            "{ model = \"step\", threshold = \"10 packets\" }",
            "{ model = \"step\", threshold = \"2 ms\", drop = true }",
            "{ model = \"cake\", ack_filter = \"aggressive\" }",
            "{ model = \"cake\", bandwidth = \"3 Mbps\", rtt = \"regional\" }",
        ]
        .map(str::to_owned),
    );
    found
}

const JITTERS: [&str; 8] = [
    "",
    "jitter = { model = \"uniform\", min = \"0 s\", max = \"20 ms\" }\n",
    "jitter = { model = \"wifi\", mean = \"5 ms\" }\n",
    "jitter = { model = \"normal\", mean = \"3 ms\" }\nreorder = true\n",
    "jitter = { model = \"bursts\", every = \"10 ms\" }\necn = \"drop-ce\"\n",
    "jitter = { model = \"nr-bpdv\" }\necn = \"bleach\"\n",
    "jitter = { model = \"reordering\", share = \"5 %\", extent = 4 }\nreorder = true\n",
    "up = { jitter = { model = \"bursts\", every = \"20 ms\" }, ecn = \"bleach\" }\n",
];

prop_compose! {
    /// A path of one hop.
    fn path()(
        rate in prop::sample::select(vec!["200 kbps", "3 Mbps", "20 Mbps", "150 Mbps"]),
        rtt in prop::sample::select(vec!["100 us", "5 ms", "40 ms", "600 ms"]),
        buffer in prop::sample::select(vec!["0.3 bdp", "2 bdp", "40 packets", "60 kB", "30 ms"]),
        queue in prop::sample::select(queues()),
        loss in prop::sample::select(vec![0u32, 0, 1, 5, 30]),
        jitter in prop::sample::select(JITTERS.to_vec()),
        change in prop::option::of((100u32..3000, prop::sample::select(vec!["1 Mbps", "50 Mbps"]), 1u32..200)),
        noise in prop::bool::weighted(0.2),
        policer in prop::bool::weighted(0.2),
    ) -> String {
        // A buffer that holds no packet is refused: 200 kbps and 100 us have a product of 3 bytes.
        let short = rate == "200 kbps" || rtt == "100 us" || (rate == "3 Mbps" && rtt == "5 ms");
        let buffer = if short && !buffer.starts_with(['4', '6']) { "5 packets" } else { buffer };
        let mut text = format!(
            "[path]\nrate = \"{rate}\"\nrtt = \"{rtt}\"\nbuffer = \"{buffer}\"\nqueue = {queue}\n{jitter}"
        );
        if loss > 0 {
            text += &format!("loss = {{ model = \"random\", rate = \"{loss} %\" }}\n");
        }
        if noise {
            text += "noise = { rate_sd = \"300 kbps\", delay_sd = \"20 us\", every = \"5 ms\" }\n";
        }
        if policer {
            text += "policer = { rate = \"2 Mbps\", burst = \"30 kB\", mark = true }\n";
        }
        if let Some((at, rate, rtt)) = change {
            text += &format!("[[path.change]]\nat = \"{at} ms\"\nrate = \"{rate}\"\nrtt = \"{rtt} ms\"\n");
        }
        text
    }
}

fn flow() -> impl Strategy<Value = String> {
    let controller = prop::sample::select(controllers());
    let workload = prop::sample::select(vec![
        "download = \"30 kB\"",
        "download = \"1 MB\"\nstreams = 3",
        "upload = \"200 kB\"",
        "download = \"200 kB\"\nzero_rtt = true",
    ]);
    let quic = prop::bool::weighted(0.3);
    (controller, workload, quic, 0u32..500).prop_map(|(controller, workload, quic, start)| {
        // The real stack knows no 0-RTT here.
        let quic = quic && !workload.contains("zero_rtt");
        let stack = if quic { "quic" } else { "model" };
        format!("controller = \"{controller}\"\n{workload}\nstack = \"{stack}\"\nstart = \"{start} ms\"\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_found_in_random_scenarios(
        path in path(),
        flows in prop::collection::vec(flow(), 1..4),
        seed in 1u64..1000,
    ) {
        let mut text = format!("title = \"random\"\ntime_limit = \"15 s\"\n{path}");
        for (index, flow) in flows.iter().enumerate() {
            text += &format!("[[flow]]\nname = \"f{index}\"\n{flow}");
        }
        let scenario = any_variant::from_toml(text.as_bytes(), "random.toml", &[], &[]);
        let scenario = scenario.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        let (plain, _) = run_trial(&scenario, seed, false);
        match run_audited(&scenario, seed, false) {
            Ok((watched, _)) => prop_assert_eq!(plain.trace_hash, watched.trace_hash),
            Err(finding) => return Err(TestCaseError::fail(format!("{finding}\n{text}"))),
        }
    }
}

#[test]
fn a_transmission_may_end_in_the_nanosecond_of_a_change() {
    // A packet of 1250 B takes 2 ms at 5 Mbps: transmissions end at whole milliseconds, as the change at 150 ms.
    let text = "title = \"tie\"\noverhead = \"0 B\"\nnoise = { start = \"0 s\", wakeup = \"0 s\" }\n[path]\nrate = \"5 Mbps\"\nrtt = \"40 ms\"\n[[path.change]]\nat = \"150 ms\"\nrtt = \"80 ms\"\n[transport]\ninitial_mtu = \"1250 B\"\n[[flow]]\nname = \"main\"\ncontroller = \"reno\"\ndownload = \"500 kB\"\n";
    let scenario = Scenario::from_toml(text.as_bytes(), "tie.toml", &[], &[]).unwrap();
    if let Err(finding) = run_audited(&scenario, 1, false) {
        panic!("{finding}");
    }
}
