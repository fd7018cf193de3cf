//! Gives each target its turns until the time is over, and reduces each new failure to a small case and one line that
//! repeats it.

use crate::failure::Failure;
use crate::targets::Target;
use crate::{corpus, minimise, process};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a turn is, at most.
const TURN: Duration = Duration::from_secs(20);

/// Options of a run.
pub(crate) struct Order {
    pub(crate) targets: Vec<&'static Target>,
    pub(crate) span: Duration,
    pub(crate) seed: u64,
    /// Where finds are kept.
    pub(crate) corpus: PathBuf,
}

/// Results of a target.
#[derive(Default)]
struct Tally {
    cases: u64,
    held: [u64; 3],
    time: Duration,
    peak: u64,
    /// Failures by their kind: how often, and the seed of the first.
    failures: BTreeMap<String, (u64, u64)>,
}

/// Runs, reports, and returns the number of different failures. Minimising takes additional time.
pub(crate) fn run(order: &Order) -> io::Result<usize> {
    let mut tallies: Vec<Tally> = order.targets.iter().map(|_| Tally::default()).collect();
    let share = order.span / order.targets.len().max(1) as u32;
    let turn = TURN.min(share).max(Duration::from_millis(100));
    let mut left = order.span;
    while !left.is_zero() {
        for (target, tally) in order.targets.iter().zip(&mut tallies) {
            let before = tally.time;
            take_turn(target, tally, turn.min(left), order)?;
            left = left.saturating_sub(tally.time - before);
        }
    }
    let mut different = 0;
    for (target, tally) in order.targets.iter().zip(&tallies) {
        report(target, tally);
        different += tally.failures.len();
    }
    Ok(different)
}

/// New cases of one target for `span`. A worker killed by a case is replaced.
fn take_turn(target: &Target, tally: &mut Tally, span: Duration, order: &Order) -> io::Result<()> {
    let end = tally.time + span;
    while tally.time < end {
        let mut since = Instant::now();
        let left = (end - tally.time).as_millis().max(1);
        let (seed, first) = (order.seed.to_string(), tally.cases.to_string());
        let (mut at, mut counts) = (0, String::new());
        let mut found: Vec<(u64, Failure, Option<Vec<u8>>)> = Vec::new();
        let (arguments, mut done) = ([seed, first, left.to_string()], false);
        let died = process::run(target, "work", arguments, |line| {
            if let Some(case) = line.strip_prefix("at ") {
                if at == 0 {
                    since = Instant::now(); // to start a worker is not part of the turn
                }
                let (seed, sofar) = case.split_once(' ').unwrap_or((case, ""));
                at = seed.parse().unwrap_or(0);
                counts = sofar.to_owned();
                tally.cases += 1;
            } else if let Some(failure) = process::failed(line) {
                found.push((at, failure, None));
            } else if let (Some(text), Some(last)) = (line.strip_prefix("case "), found.last_mut())
            {
                last.2 = serde_json::from_str::<String>(text)
                    .ok()
                    .map(String::into_bytes);
            } else if let Some(all) = line.strip_prefix("done ") {
                (counts, done) = (all.to_owned(), true);
            }
        })?;
        if died.is_none() && !done {
            let problem = format!("{}: its worker has ended before its time", target.name);
            return Err(io::Error::other(problem));
        }
        found.extend(died.map(|failure| (at, failure, None)));
        tally.add(&counts);
        tally.time += since.elapsed();
        for (seed, failure, text) in found {
            let is_new = !tally.failures.contains_key(&failure.kind);
            let entry = tally
                .failures
                .entry(failure.kind.clone())
                .or_insert((0, seed));
            entry.0 += 1;
            if is_new {
                show(target, seed, text, &failure, order)?;
            }
        }
    }
    Ok(())
}

impl Tally {
    fn add(&mut self, counts: &str) {
        let numbers: Vec<u64> = counts
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        if let [played, stopped, refused, peak] = numbers[..] {
            for (sum, count) in self.held.iter_mut().zip([played, stopped, refused]) {
                *sum += count;
            }
            self.peak = self.peak.max(peak);
        }
    }
}

/// Keeps the smallest case that shows a failure, and says how to repeat it.
fn show(
    target: &Target,
    seed: u64,
    text: Option<Vec<u8>>,
    failure: &Failure,
    order: &Order,
) -> io::Result<()> {
    println!("{}: {}: {}", target.name, failure.kind, failure.message);
    let text = text.map_or_else(|| process::made(target, seed), Ok)?;
    let scratch = scratch(target);
    let small = minimise::minimise(target, &text, &failure.kind, &scratch)?;
    let _ = std::fs::remove_file(&scratch);
    let file = corpus::keep(&order.corpus, target, &failure.kind, &small)?;
    println!(
        "  case {seed}, {} of {} bytes left; repeat it with",
        small.len(),
        text.len()
    );
    println!("  {}", command(&file));
    Ok(())
}

/// A file for attempts, unique to this run.
pub(crate) fn scratch(target: &Target) -> PathBuf {
    let name = format!("thalweg-fuzz-{}.{}", std::process::id(), target.ending);
    std::env::temp_dir().join(name)
}

fn command(file: &Path) -> String {
    format!("cargo run -p thalweg-fuzz -- replay {}", file.display())
}

fn report(target: &Target, tally: &Tally) {
    let seconds = tally.time.as_secs_f64();
    let [played, stopped, refused] = tally.held;
    let peak = tally.peak >> 20;
    println!(
        "{:20} {:9} cases, {:8.1}/s: {played} played, {stopped} stopped, {refused} refused, at most {peak} MiB",
        target.name,
        tally.cases,
        tally.cases as f64 / seconds.max(0.001),
    );
    for (kind, (count, seed)) in &tally.failures {
        println!(
            "  {count} x {kind}; case {seed}: cargo run -p thalweg-fuzz -- case {} {seed}",
            target.name
        );
    }
}
