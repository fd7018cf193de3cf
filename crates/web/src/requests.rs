//! What a page can ask.
//!
//! The scenario that was read last is the one that runs: a slider, a run and its hundred trials ask for the same one.

use crate::controller::{self, records::records};
use crate::tables::Columns;
use crate::{Answered, Problem, boundary, description};
use serde::Deserialize;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use thalweg_columns::{PassageTables, TraceTables, outcomes as tables, qlog};
use thalweg_sim::{
    Clock, Finished, Progress, Scenario, Watch, run_traced, run_trials, run_watched,
};

thread_local! {
    static SCENARIO: RefCell<Option<Scenario>> = const { RefCell::new(None) };
}

#[derive(Deserialize)]
#[serde(tag = "name", rename_all = "lowercase")]
enum Request {
    /// What the engine knows.
    About,
    /// What is in the records that controllers of the page get.
    Records,
    /// Reads and checks the text of a scenario file. `origin` is the name that messages show.
    Read {
        text: String,
        origin: String,
        sets: BTreeMap<String, String>,
        controllers: BTreeMap<String, String>,
    },
    /// Describes the scenario.
    Describe,
    /// Runs one trial: its outcomes, and its trace only if it was asked for.
    Run { seed: String, traced: bool },
    /// Runs one trial for the passages of its packets through links: of at most `most` packets, from a time on.
    Packets {
        seed: String,
        from_s: String,
        most: usize,
    },
    /// Runs one trial for each seed. The page hears how many are finished; the rest is left out when it wants no more.
    Trials { seeds: Vec<String> },
    /// A trace as qlog: `sequence` of the current drafts, or the older form that qvis reads. The trace is JSON in a text,
    /// which is read without a copy of each of its numbers.
    Qlog { trace: String, sequence: bool },
}

/// Answers a request in JSON. Columns of the result go to `columns`.
pub(crate) fn answer(request: &str, columns: &mut Columns) -> Answered {
    let request = serde_json::from_str(request);
    match request.map_err(|error| Problem::Failed(error.to_string()))? {
        Request::About => Ok(description::about()),
        Request::Records => Ok(records()),
        Request::Read {
            text,
            origin,
            sets,
            controllers,
        } => read(&text, &origin, sets, controllers),
        Request::Describe => of_scenario(description::of),
        Request::Run { seed, traced } => {
            let seed = number(&seed)?;
            of_scenario(|scenario| run(scenario, seed, traced, columns))
        }
        Request::Packets { seed, from_s, most } => {
            let (seed, from_s) = (number(&seed)?, number(&from_s)?);
            of_scenario(|scenario| packets(scenario, seed, from_s, most, columns))
        }
        Request::Trials { seeds } => {
            let seeds: Result<Vec<u64>, Problem> = seeds.iter().map(|seed| number(seed)).collect();
            let seeds = seeds?;
            of_scenario(|scenario| Ok(trials(scenario, &seeds, columns)))
        }
        Request::Qlog { trace, sequence } => {
            let text = qlog::written(&trace, "server", sequence).map_err(Problem::Failed)?;
            Ok(Value::String(text))
        }
    }
}

/// A number that JSON could not carry.
fn number<T: std::str::FromStr>(text: &str) -> Result<T, Problem> {
    let read = text.parse();
    read.map_err(|_| Problem::Failed(format!("\"{text}\" is not a number of this kind")))
}

fn of_scenario(answer: impl FnOnce(&Scenario) -> Answered) -> Answered {
    SCENARIO.with_borrow(|scenario| match scenario {
        Some(scenario) => answer(scenario),
        None => Err(Problem::Failed("no scenario was read".to_owned())),
    })
}

fn read(
    text: &str,
    origin: &str,
    sets: BTreeMap<String, String>,
    controllers: BTreeMap<String, String>,
) -> Answered {
    let (sets, controllers) = (Vec::from_iter(sets), Vec::from_iter(controllers));
    let scenario = Scenario::read(
        text.as_bytes(),
        origin,
        &sets,
        &controllers,
        Clock::Virtual,
        &controller::registry(),
    );
    let mut scenario = scenario.map_err(|error| Problem::Refused(Box::new(error)))?;
    controller::bind(&mut scenario.flows);
    SCENARIO.set(Some(scenario));
    Ok(Value::Null)
}

fn run(scenario: &Scenario, seed: u64, traced: bool, columns: &mut Columns) -> Answered {
    let progress = begin();
    if !traced {
        let finished = run_trials(scenario, &[seed], 1, &progress);
        return Ok(json!({ "outcomes": outcomes(scenario, &finished, columns) }));
    }
    let (finished, trace) = run_traced(scenario, seed, &progress).ok_or_else(stopped)?;
    let found = TraceTables::from(trace);
    let trace = columns.tables([
        ("flows", found.flows),
        ("variables", found.variables),
        ("links", found.links),
        ("drops", found.drops),
        ("packets", found.packets),
        ("held", found.held),
        ("frames", found.frames),
    ]);
    Ok(json!({ "outcomes": outcomes(scenario, &[finished], columns), "trace": trace }))
}

/// `untilS` says up to when no packet is left out.
fn packets(
    scenario: &Scenario,
    seed: u64,
    from_s: f64,
    most: usize,
    columns: &mut Columns,
) -> Answered {
    let watch = Watch::from_seconds(from_s, most);
    let trial = run_watched(scenario, seed, watch, &begin());
    let (_, passages) = trial.ok_or_else(stopped)?;
    let found = PassageTables::from(passages);
    let tables = columns.tables([("packets", found.packets), ("limits", found.limits)]);
    Ok(json!({ "tables": tables, "links": found.links, "untilS": found.until_s }))
}

fn trials(scenario: &Scenario, seeds: &[u64], columns: &mut Columns) -> Value {
    let mut finished: Vec<Finished> = Vec::with_capacity(seeds.len());
    for (index, seed) in seeds.iter().enumerate() {
        let trial = run_trials(scenario, &[*seed], 1, &begin());
        finished.extend(trial.into_iter().map(|trial| Finished { index, ..trial }));
        if !boundary::finished(finished.len() as u32) {
            break;
        }
    }
    outcomes(scenario, &finished, columns)
}

fn outcomes(scenario: &Scenario, finished: &[Finished], columns: &mut Columns) -> Value {
    let flows = &scenario.flows;
    columns.tables([
        ("flows", tables::flows(flows, finished)),
        ("links", tables::links(finished)),
        ("trials", tables::trials(finished)),
        ("requests", tables::requests(flows, finished)),
        ("streams", tables::streams(flows, finished)),
    ])
}

/// A trial begins: the random sources of those before it go.
fn begin() -> Progress {
    controller::forget_draws();
    Progress::default()
}

/// Nothing here stops a trial: pages end their worker.
fn stopped() -> Problem {
    Problem::Failed("the trial was stopped".to_owned())
}
