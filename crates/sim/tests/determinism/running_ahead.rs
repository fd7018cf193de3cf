//! A sender that runs ahead of the event loop (`trial/network/ahead.rs`) has the trial that it has when somebody looks
//! at each step. An auditor and a trace take the long way, and see the same to the last counter.

use proptest::prelude::*;
use std::path::Path;
use thalweg_control::Purpose;
use thalweg_sim::{Scenario, run_audited, run_trial};

fn read(text: &str) -> Scenario {
    Scenario::from_toml(text.as_bytes(), "ahead.toml", &[], &[])
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The same with a tape: a run ahead ends where a block does.
fn taped(text: &str) -> Scenario {
    let tape = [("noise.tape".to_owned(), "1-4:7 30:2".to_owned())];
    Scenario::from_toml(text.as_bytes(), "ahead.toml", &tape, &[])
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Compares the outcome of a trial at which nobody looks with the outcome of one which is audited and traced.
fn compare(scenario: &Scenario, seed: u64, what: &str) {
    let (ahead, _) = run_trial(scenario, seed, false);
    let (step_by_step, _) =
        run_audited(scenario, seed, true).unwrap_or_else(|finding| panic!("{what}: {finding}"));
    assert_eq!(ahead, step_by_step, "{what}, seed {seed}");
}

#[test]
fn shipped_scenarios_of_one_flow_are_the_same_step_by_step() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/thalweg/suites/c4");
    let mut compared = 0;
    for file in std::fs::read_dir(suite).unwrap() {
        let file = file.unwrap().path();
        let text = std::fs::read_to_string(&file).unwrap();
        if text.matches("[[flow]]").count() != 1 || text.contains("call") {
            continue;
        }
        for seed in 1..4 {
            compare(&read(&text), seed, &file.display().to_string());
            compare(
                &taped(&text),
                seed,
                &format!("{} with a tape", file.display()),
            );
        }
        compared += 1;
    }
    assert!(compared >= 10, "{compared} scenarios");
}

#[test]
fn flows_whose_packets_arrive_together_answer_in_one_order_whether_somebody_looks_or_not() {
    // Both hosts read all that arrives at an instant; jitter that keeps the order bunches packets of both flows.
    for name in ["c4-bad-wifi", "cubic-bad-wifi"] {
        let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/thalweg/suites/c4");
        let text = std::fs::read_to_string(suite.join(format!("{name}.toml"))).unwrap();
        for seed in 1..6 {
            compare(&read(&text), seed, name);
        }
    }
}

/// A path that changes, and whatever else moves an arrival.
fn path() -> impl Strategy<Value = String> {
    let buffer = prop_oneof![
        Just("2 bdp"),
        Just("20 packets"),
        Just("120 ms"),
        Just("unlimited")
    ];
    let queue = prop::sample::select(crate::lists::queues());
    let more = prop_oneof![
        4 => Just(""),
        1 => Just("jitter = { model = \"wifi\", mean = \"5 ms\" }\n"),
        1 => Just("jitter = { model = \"wifi\", mean = \"5 ms\" }\nreorder = true\n"),
        1 => Just("loss = \"1 %\"\n"),
        1 => Just("jitter = \"nr-bpdv\"\n"),
    ];
    let change = prop::option::of((1u64..3000, 1u64..20_000, 0u64..200)); // a rate of 0 for ever is refused
    ((100u64..50_000, 0u64..300), buffer, queue, more, change).prop_map(
        |((rate, rtt), buffer, queue, more, change)| {
            // A buffer that does not hold the first packet, 1280 bytes, is refused: 100 kbps x 120 ms are 1500 bytes,
            // and 2 BDP are 2 x rate [kbit/s] x rtt [ms] / 8.
            let rtt = if buffer == "2 bdp" {
                rtt.max(5120_u64.div_ceil(rate))
            } else {
                rtt
            };
            let mut text = format!(
                "title = \"t\"\n[path]\nrate = \"{rate} kbps\"\nrtt = \"{rtt} ms\"\nbuffer = \"{buffer}\"\nqueue = {queue}\n{more}"
            );
            if let Some((at, rate, rtt)) = change {
                text += &format!(
                    "[[path.change]]\nat = \"{at} ms\"\nrate = \"{rate} kbps\"\nrtt = \"{rtt} ms\"\n"
                );
            }
            text
        },
    )
}

fn flow() -> impl Strategy<Value = String> {
    let controllers = crate::lists::controllers(&[Purpose::Internet, Purpose::Test]);
    (
        prop::sample::select(controllers),
        prop::sample::select(vec!["download", "upload"]),
        1u64..3000,
        1u64..4,
        any::<bool>(),
    )
        .prop_map(|(controller, way, kilobytes, streams, zero_rtt)| {
            format!(
                "[[flow]]\nname = \"main\"\ncontroller = \"{controller}\"\n{way} = \"{kilobytes} kB\"\n\
                 streams = {streams}\nzero_rtt = {zero_rtt}\n"
            )
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_random_connection_is_the_same_step_by_step(
        path in path(), flow in flow(), seed in 1u64..1000, wakeup in 0usize..3, sampled in any::<bool>(),
    ) {
        let sample = if sampled { "sample = \"10 ms\"\n" } else { "" };
        let noise = format!("noise = {{ wakeup = \"{} us\" }}\n", [0, 1, 1000][wakeup]);
        let text = format!("time_limit = \"20 s\"\n{sample}{noise}{path}{flow}");
        compare(&read(&text), seed, &text);
        compare(&taped(&text), seed, &text);
    }
}
