//! A controller from outside of Thalweg: registered at run time, and played on every scenario of a suite.
//!
//! `cargo run --release -- ../../python/thalweg/suites/c4 aimd:increase=2`

mod aimd;

use std::path::Path;
use thalweg_control::Registry;
use thalweg_sim::{Clock, Progress, Scenario, run_trials};

const TRIALS: u64 = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "expected: the folder of a suite, and a controller such as aimd";
    let suite = arguments.next().ok_or(usage)?;
    let controller = arguments.next().ok_or(usage)?;

    let mut registry = Registry::standard();
    registry.add(aimd::ENTRY)?;

    let mut files: Vec<_> = std::fs::read_dir(suite)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.retain(|file| !file.ends_with("suite.toml"));
    files.sort();
    for file in &files {
        play(file, &controller, &registry)?;
    }
    Ok(())
}

/// Binds the first flow of a scenario to a controller, plays it, and prints the median of its completion.
fn play(
    file: &Path,
    controller: &str,
    registry: &Registry,
) -> Result<(), Box<dyn std::error::Error>> {
    let (text, name) = (std::fs::read(file)?, file.display().to_string());
    let read = |bound: &[(String, String)]| {
        Scenario::read(&text, &name, &[], bound, Clock::Virtual, registry)
    };
    let flow = read(&[])?.flows[0].name.clone();
    let scenario = read(&[(flow, controller.to_owned())])?;
    let seeds: Vec<u64> = (1..=TRIALS).collect();
    let trials = run_trials(&scenario, &seeds, 2, &Progress::default());
    let mut times: Vec<_> = (trials.iter())
        .map(|trial| trial.outcome.flows[0].completion)
        .collect();
    // What did not complete is the largest.
    times.sort_by_key(|time| time.unwrap_or(thalweg_units::Duration::MAX));
    match times[times.len() / 2] {
        Some(median) => println!("{:40} {:8.3} s", scenario.title, median.as_secs_f64()),
        None => println!("{:40} did not complete", scenario.title),
    }
    Ok(())
}
