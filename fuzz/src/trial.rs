//! A scenario text as a case: it is refused with one message, or its trial keeps what every trial has to keep.
//!
//! Comments of the first lines say what a command line would: `# seed 7`, `# set path.rate=5 Mbps`,
//! `# controller main=cubic`.

use crate::failure::{Failure, Held, Verdict, require};
use crate::random::hash;
use crate::registry::registry;
use crate::watch::Watch;
use std::time::Duration as Span;
use thalweg_sim::{
    Clock, Outcome, Progress, Scenario, ScenarioError, Trace, run_traced, run_trials,
};
use thalweg_units::{Duration, Instant};

/// The folder that names of trace files are relative to.
pub(crate) const ORIGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/case.toml");
/// A trial that takes longer is not repeated with a trace, whose memory grows with each event.
const SHORT: Span = Span::from_millis(300);
/// Most characters of a message to a user.
const LONGEST_MESSAGE: usize = 2_000;

/// Reads a scenario and plays it: under the auditor, plainly, with a trace, and with series.
pub(crate) fn check(text: &[u8], watch: &Watch) -> Verdict {
    let header = Header::of(text);
    watch.stage("reading");
    let scenario = match from_toml(text, &header.sets, &header.controllers) {
        Ok(scenario) => scenario,
        Err(error) => return refused(&error.to_string()),
    };
    watch.stage("reading what ran");
    if let Err(error) = from_toml(scenario.toml().as_bytes(), &[], &[]) {
        let message = format!("what ran cannot be run again: {error}");
        return Err(Failure::new("round trip", message));
    }
    let progress = watch.stage_with("audited trial", Progress::audited());
    let trials = run_trials(&scenario, &[header.seed], 1, &progress);
    if let Some(finding) = progress.finding.get() {
        let rule = format!("audit: {}", without_numbers(&finding.problem));
        return Err(Failure::new(&rule, finding.to_string()));
    }
    let Some(audited) = trials.first() else {
        return Ok(Held::Stopped);
    };
    let outcome = &audited.outcome;
    consistent(&scenario, outcome)?;
    if watch.taken() > SHORT {
        return Ok(Held::Played);
    }
    let progress = watch.stage("trial");
    if let [plain] = &run_trials(&scenario, &[header.seed], 1, &progress)[..] {
        same(outcome, &plain.outcome, "without the auditor")?;
    }
    let progress = watch.stage("trial with a trace");
    if let Some((traced, trace)) = run_traced(&scenario, header.seed, &progress) {
        same(outcome, &traced.outcome, "with a trace")?;
        in_order(&trace)?;
    }
    sampled(&scenario, &header, outcome, watch)?;
    Ok(Held::Played)
}

fn from_toml(
    text: &[u8],
    sets: &[(String, String)],
    controllers: &[(String, String)],
) -> Result<Scenario, ScenarioError> {
    Scenario::read(text, ORIGIN, sets, controllers, Clock::Virtual, registry())
}

/// A hash of what a trial yields: its arrivals and its outcome, but for the count of events, of which a faster engine
/// may need fewer. `None` if it was stopped, zero if it was refused.
pub(crate) fn fingerprint(text: &[u8], watch: &Watch) -> Option<u64> {
    let header = Header::of(text);
    let scenario = from_toml(text, &header.sets, &header.controllers);
    let Ok(scenario) = scenario else {
        return Some(0);
    };
    let progress = watch.stage("trial");
    let trials = run_trials(&scenario, &[header.seed], 1, &progress);
    let outcome = Outcome {
        events: 0,
        ..trials.first()?.outcome.clone()
    };
    Some(hash(format!("{outcome:?}").as_bytes()))
}

/// A message as the name of a rule: the beginning of it, without numbers and units.
fn without_numbers(message: &str) -> String {
    let words = message.split_whitespace();
    let names =
        words.filter(|word| word.len() > 2 && word.chars().all(|c| c.is_ascii_alphabetic()));
    names.take(8).collect::<Vec<_>>().join(" ")
}

/// What the first lines say.
pub(crate) struct Header {
    pub(crate) seed: u64,
    sets: Vec<(String, String)>,
    controllers: Vec<(String, String)>,
    /// Names of relations.
    pub(crate) relations: Vec<String>,
}

impl Header {
    pub(crate) fn of(text: &[u8]) -> Header {
        let (mut seed, mut sets, mut controllers) = (1, Vec::new(), Vec::new());
        let mut relations = Vec::new();
        for line in text.split(|byte| *byte == b'\n') {
            let Some(line) = std::str::from_utf8(line)
                .ok()
                .and_then(|l| l.strip_prefix("# "))
            else {
                break;
            };
            let pair = |text: &str| {
                let (key, value) = text.split_once('=')?;
                Some((key.to_owned(), value.to_owned()))
            };
            if let Some(number) = line.strip_prefix("seed ") {
                seed = number.parse().unwrap_or(1);
            } else if let Some(set) = line.strip_prefix("set ") {
                sets.extend(pair(set));
            } else if let Some(controller) = line.strip_prefix("controller ") {
                controllers.extend(pair(controller));
            } else if let Some(name) = line.strip_prefix("relation ") {
                relations.push(name.to_owned());
            }
        }
        Header {
            seed,
            sets,
            controllers,
            relations,
        }
    }
}

fn refused(message: &str) -> Verdict {
    let length = message.chars().count();
    require(!message.trim().is_empty(), "message", || {
        "it is empty".into()
    })?;
    require(length <= LONGEST_MESSAGE, "message", || {
        let beginning: String = message.chars().take(200).collect();
        format!("it has {length} characters: {beginning}...")
    })?;
    Ok(Held::Refused)
}

/// Once more with series, or with other bins: nothing may change.
fn sampled(
    scenario: &Scenario,
    header: &Header,
    outcome: &Outcome,
    watch: &Watch,
) -> Result<(), Failure> {
    let bin = (scenario.time_limit() / 1000).max(Duration::from_millis(10));
    let sets = [("sample".to_owned(), format!("{} ns", bin.as_nanos()))];
    let toml = scenario.toml().as_bytes();
    watch.stage("reading with series");
    let Ok(sampled) = from_toml(toml, &sets, &[]) else {
        return Ok(());
    };
    let progress = watch.stage("trial with series");
    let trials = run_trials(&sampled, &[header.seed], 1, &progress);
    match trials.first() {
        Some(trial) => same(outcome, &trial.outcome, "with series"),
        None => Ok(()),
    }
}

fn same(first: &Outcome, second: &Outcome, how: &str) -> Result<(), Failure> {
    require(first.trace_hash == second.trace_hash, "hash", || {
        let (a, b) = (first.trace_hash, second.trace_hash);
        format!("{a:x?} at first and {b:x?} {how}")
    })?;
    let bare = |outcome: &Outcome| Outcome {
        series: None,
        ..outcome.clone()
    };
    let alike = format!("{:?}", bare(first)) == format!("{:?}", bare(second));
    require(alike, "outcome", || format!("another outcome {how}"))
}

/// Numbers that contradict each other or physics.
fn consistent(scenario: &Scenario, outcome: &Outcome) -> Result<(), Failure> {
    let limit = scenario.time_limit();
    require(outcome.end <= limit, "end", || {
        format!("the trial ended at {}, its limit is {limit}", outcome.end)
    })?;
    let floor = scenario.floor().unwrap_or(Duration::ZERO);
    for (index, flow) in outcome.flows.iter().enumerate() {
        let name = &scenario.flows[index].name;
        let rule =
            |holds, kind, message: String| require(holds, kind, || format!("{name}: {message}"));
        if let Some(completion) = flow.completion {
            rule(
                completion <= outcome.end && Some(completion) >= flow.start,
                "completion",
                format!(
                    "started {:?}, complete {completion}, end {}",
                    flow.start, outcome.end
                ),
            )?;
            rule(
                index > 0 || completion >= floor,
                "floor",
                format!("complete at {completion}, the floor is {floor}"),
            )?;
        }
        if let (Some(completion), Some(closed)) = (flow.completion, flow.closed) {
            rule(
                completion <= closed || !scenario.flows[index].has_honest_receiver(),
                "closed",
                format!("closed at {closed}, complete at {completion}"),
            )?;
        }
        if let (Some(min), Some(mean), Some(max)) = (flow.min_rtt, flow.mean_rtt, flow.max_rtt) {
            rule(
                min <= mean && mean <= max,
                "rtt",
                format!("RTT from {min} to {max}, mean {mean}"),
            )?;
        }
        let share = flow.share.unwrap_or(0.0);
        rule(
            (0.0..=1.0).contains(&share),
            "share",
            format!("share {share}"),
        )?;
        rule(
            flow.packets_lost <= flow.packets_sent && flow.spurious_losses <= flow.packets_lost,
            "losses",
            format!(
                "sent {}, lost {}, spurious {}",
                flow.packets_sent, flow.packets_lost, flow.spurious_losses
            ),
        )?;
    }
    for criterion in &scenario.criteria {
        let flow = &outcome.flows[criterion.flow];
        let reached = match criterion.metric {
            thalweg_sim::Metric::Completion => flow.completion,
            // One that an error has closed did not finish, and holds no criterion.
            thalweg_sim::Metric::Closed => flow.completion.and(flow.closed),
            _ => None,
        };
        if let (Some(reached), Some(floor)) = (reached, criterion.floor) {
            require(reached >= floor, "floor", || {
                format!("{:?} at {reached}, the floor is {floor}", criterion.metric)
            })?;
        }
    }
    for link in &outcome.links {
        let used = link.utilisation;
        require((0.0..=1.000_001).contains(&used), "utilisation", || {
            format!("link {}: {used}", link.name)
        })?;
    }
    Ok(())
}

/// Time never falls in a trace, and what a controller shows is a number.
fn in_order(trace: &Trace) -> Result<(), Failure> {
    let mut last = Instant::START;
    for row in &trace.senders.samples {
        require(row.time >= last, "time", || {
            format!("flow {}: {} after {last}", row.flow, row.time)
        })?;
        last = row.time;
    }
    last = Instant::START;
    for row in &trace.links {
        require(row.time >= last, "time", || {
            format!("link {}: {} after {last}", row.link, row.time)
        })?;
        last = row.time;
    }
    for row in &trace.senders.variables {
        require(!row.value.is_nan(), "variable", || {
            format!(
                "flow {} at {}: {} is {}",
                row.flow, row.time, row.name, row.value
            )
        })?;
    }
    Ok(())
}
