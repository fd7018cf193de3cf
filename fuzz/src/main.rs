//! Attacks Thalweg with random cases: `make fuzz`. See `README.md`.

mod attack;
mod corpus;
mod driver;
mod failure;
mod flow;
mod hashes;
mod minimise;
mod process;
mod random;
mod registry;
mod relations;
mod script;
mod shipped;
mod targets;
mod trial;
mod values;
mod watch;
mod worker;

use cap::Cap;
use std::alloc::System;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use targets::Target;

/// Counts what is held, and refuses what goes beyond the limit of a case.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

const USAGE: &str = "usage:
  thalweg-fuzz run [--seconds N] [--seed TEXT] [--targets A,B] [--corpus FOLDER]
                                   new cases of all targets in turn; finds go to the corpus
  thalweg-fuzz replay [PATH]       plays a case of the corpus again, or all of them
  thalweg-fuzz case TARGET SEED    makes the case of that seed again, plays it and prints it
  thalweg-fuzz minimise FILE       makes a case of the corpus smaller
  thalweg-fuzz hashes random COUNT [FILE], hashes shipped SEEDS [FILE]
                                   a hash of each trial; with the lines of another build, what differs
  thalweg-fuzz relations COUNT SEED
                                   new cases of the target `relations`, and how often each relation had something to say
  thalweg-fuzz list                names the targets";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match command(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("thalweg-fuzz: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Whether all held.
fn command(words: &[&str]) -> Result<bool, String> {
    let failed = |error: io::Error| error.to_string();
    match words {
        ["run", options @ ..] => Ok(driver::run(&order(options)?).map_err(failed)? == 0),
        ["replay"] => replay(Path::new(corpus::FOLDER)),
        ["replay", path] => replay(Path::new(path)),
        ["case", target, seed] => {
            let target = target_of(target)?;
            let text = process::made(target, number(seed)?).map_err(failed)?;
            io::stdout().write_all(&text).map_err(failed)?;
            let file = driver::scratch(target);
            let failure = (std::fs::write(&file, &text))
                .and_then(|()| process::of_file(target, &file))
                .map_err(failed)?;
            let _ = std::fs::remove_file(&file);
            println!("# {}", worker::tell(&failure));
            Ok(failure.is_none())
        }
        ["hashes", "random", count, before @ ..] if before.len() < 2 => {
            let target = target_of("scenario-random")?;
            hashes::random(target, number(count)?, before.first().map(Path::new))
        }
        ["hashes", "shipped", seeds, before @ ..] if before.len() < 2 => {
            hashes::shipped(number(seeds)?, before.first().map(Path::new))
        }
        ["relations", count, seed] => {
            let (seed, target) = (number(seed)?, target_of("relations")?);
            Ok(worker::count_relations(target, seed, number(count)?))
        }
        ["minimise", file] => corpus::smaller(Path::new(file)).map_err(failed),
        ["list"] => {
            targets::ALL
                .iter()
                .for_each(|target| println!("{}", target.name));
            Ok(true)
        }
        // What follows is said by this program to itself.
        ["check", target, files @ ..] => worker::check(target_of(target)?, files).map_err(failed),
        ["make", target, seed] => {
            let (target, seed) = (target_of(target)?, number(seed)?);
            let targets::Plays::Engine { make, .. } = target.plays else {
                return Err(format!("{} is in Python", target.name));
            };
            let text = make(&mut random::Random::new(seed));
            io::stdout().write_all(&text).map_err(failed)?;
            Ok(true)
        }
        ["work", target, seed, first, milliseconds] => {
            let span = Duration::from_millis(number(milliseconds)?);
            worker::run(target_of(target)?, number(seed)?, number(first)?, span);
            Ok(true)
        }
        _ => Err(USAGE.to_owned()),
    }
}

fn replay(path: &Path) -> Result<bool, String> {
    let (cases, failures) = corpus::replay(path).map_err(|error| error.to_string())?;
    println!("{cases} cases, {failures} failed");
    Ok(failures == 0)
}

fn order(mut options: &[&str]) -> Result<driver::Order, String> {
    let mut order = driver::Order {
        targets: targets::ALL.iter().collect(),
        span: Duration::from_secs(60),
        seed: 0,
        corpus: PathBuf::from(corpus::FOLDER),
    };
    while let [option, value, rest @ ..] = options {
        options = rest;
        match *option {
            "--seconds" => order.span = Duration::from_secs(number(value)?),
            // A number, or any text, such as the hash of a commit.
            "--seed" => order.seed = value.parse().unwrap_or(random::hash(value.as_bytes())),
            "--targets" => {
                order.targets = value.split(',').map(target_of).collect::<Result<_, _>>()?
            }
            "--corpus" => order.corpus = PathBuf::from(value),
            _ => return Err(USAGE.to_owned()),
        }
    }
    if !options.is_empty() {
        return Err(USAGE.to_owned());
    }
    match order
        .targets
        .iter()
        .find(|target| !process::is_there(target))
    {
        Some(target) => Err(format!(
            "{} is in Python, which needs `make build`",
            target.name
        )),
        None => Ok(order),
    }
}

fn target_of(name: &str) -> Result<&'static Target, String> {
    targets::find(name).ok_or_else(|| {
        let names: Vec<&str> = targets::ALL.iter().map(|target| target.name).collect();
        format!(
            "there is no target \"{name}\"; accepted: {}",
            names.join(", ")
        )
    })
}

fn number(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("\"{text}\" is not a number; accepted: whole numbers"))
}
