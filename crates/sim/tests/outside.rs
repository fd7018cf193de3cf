//! A controller that another crate brings along: the controller of `examples/rust-controller`.

use std::path::Path;
use thalweg_control::Registry;
use thalweg_sim::{Clock, Scenario, ScenarioError, run_audited};

#[path = "../../../examples/rust-controller/src/main.rs"]
#[allow(unreachable_pub, dead_code)]
mod program;

const TEXT: &str = r#"
title = "Outside"
[path]
rate = "10 Mbps"
rtt = "40 ms"
buffer = "1 bdp"
[[flow]]
name = "main"
controller = "cubic"
download = "5 MB"
"#;

fn read(controller: &str, registry: &Registry) -> Result<Scenario, ScenarioError> {
    let bound = [("main".to_owned(), controller.to_owned())];
    let text = TEXT.as_bytes();
    Scenario::read(text, "outside.toml", &[], &bound, Clock::Virtual, registry)
}

#[test]
fn a_registry_with_an_entry_of_another_crate_reads_scenarios_that_name_it() {
    let mut registry = Registry::standard();
    registry.add(program::controller::ENTRY).unwrap();
    let completion = |controller: &str| {
        let scenario = read(controller, &registry).unwrap();
        let (outcome, _) = run_audited(&scenario, 1, false).unwrap();
        outcome.flows[0].completion.unwrap().as_secs_f64()
    };
    // 5 MB at 10 Mbps take 4 s, with headers 4.2 s; from 10 packets to the 35 of the path, one each round trip of
    // 40 to 80 ms, another second or two.
    let (plain, faster) = (completion("aimd"), completion("aimd:increase=4"));
    assert!((4.2..7.0).contains(&plain), "{plain}");
    assert!((4.2..plain).contains(&faster), "{faster}");
    // Its reading back names the controller.
    let again = read("aimd:decrease=0.8", &registry).unwrap();
    assert!(again.toml().contains("aimd:decrease=0.8"));
}

#[test]
fn what_is_not_in_the_registry_is_refused_with_the_names_that_are() {
    let error = read("aimd", &Registry::standard()).unwrap_err().to_string();
    assert!(error.contains("unknown controller \"aimd\""), "{error}");
    let mut registry = Registry::standard();
    registry.add(program::controller::ENTRY).unwrap();
    let error = read("aimd2", &registry).unwrap_err().to_string();
    assert!(error.contains("cbr, aimd"), "{error}");
    let error = read("aimd:increase=0", &registry).unwrap_err().to_string();
    assert!(error.contains("a number from 0.01 to 100"), "{error}");
}

#[test]
fn the_program_of_the_example_plays_a_suite_with_it() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("outside.toml"), TEXT).unwrap();
    std::fs::write(folder.join("suite.toml"), "order = [\"outside\"]").unwrap();
    let played = program::play(&folder, "aimd:increase=4", 3).unwrap();
    assert_eq!(played.len(), 1);
    assert_eq!(played[0].0, "Outside");
    assert!((4.2..7.0).contains(&played[0].1.unwrap()), "{played:?}");
    assert!(program::play(&folder, "none", 1).is_err());
    assert!(program::play(&folder.join("none"), "aimd", 1).is_err());
}
