//! A controller from outside of Thalweg: registered at run time, and played on every scenario of a suite.
//!
//! `cargo run --release -- ../../python/thalweg/suites/c4 aimd:increase=2`

pub mod controller;

use std::error::Error;
use std::path::Path;
use thalweg_control::Registry;
use thalweg_sim::{Clock, Progress, Scenario, run_trials};

const TRIALS: u64 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "expected: the folder of a suite, and a controller such as aimd";
    let suite = arguments.next().ok_or(usage)?;
    let controller = arguments.next().ok_or(usage)?;
    for (title, median_s) in play(Path::new(&suite), &controller, TRIALS)? {
        match median_s {
            Some(median_s) => println!("{title:40} {median_s:8.3} s"),
            None => println!("{title:40} did not complete"),
        }
    }
    Ok(())
}

/// A scenario's title, and the median completion of its first flow in seconds; none if half of the trials did not
/// complete.
pub type Median = (String, Option<f64>);

/// Plays each scenario in a folder, its first flow with that controller.
pub fn play(suite: &Path, controller: &str, trials: u64) -> Result<Vec<Median>, Box<dyn Error>> {
    let mut registry = Registry::standard();
    registry.add(controller::ENTRY)?;
    let mut files: Vec<_> = std::fs::read_dir(suite)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.retain(|file| !file.ends_with("suite.toml"));
    files.sort();
    let seeds: Vec<u64> = (1..=trials).collect();
    let played = files.iter().map(|file| {
        let (text, name) = (std::fs::read(file)?, file.display().to_string());
        let read = |bound: &[(String, String)]| {
            Scenario::read(&text, &name, &[], bound, Clock::Virtual, &registry)
        };
        let flow = read(&[])?.flows[0].name.clone();
        let scenario = read(&[(flow, controller.to_owned())])?;
        let ended = run_trials(&scenario, &seeds, 2, &Progress::default());
        let mut times: Vec<_> = (ended.iter())
            .map(|trial| trial.outcome.flows[0].completion)
            .collect();
        // What did not complete is the largest.
        times.sort_by_key(|time| time.unwrap_or(thalweg_units::Duration::MAX));
        let median = times[times.len() / 2].map(|time| time.as_secs_f64());
        Ok((scenario.title.clone(), median))
    });
    played.collect()
}
