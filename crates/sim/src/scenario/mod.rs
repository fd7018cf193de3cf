//! A scenario, read and checked.

pub(crate) mod buffer_size;
pub(crate) mod check;
pub(crate) mod clock;
mod dead_end;
pub(crate) mod error;
pub(crate) mod floor;
pub(crate) mod hop;
pub(crate) mod limits;
mod overrides;
pub(crate) mod queue;
mod refusal;
pub(crate) mod schema;
pub(crate) mod trace_files;

use crate::scenario::check::Checker;
use crate::scenario::clock::Clock;
use crate::scenario::error::{ScenarioError, with_sets};
use crate::scenario::hop::{DOWN, Hop};
use crate::scenario::limits::check_text;
use crate::scenario::refusal::refused;
use crate::scenario::schema::{ScenarioFile, Stack};
use crate::trial::media::MediaSpec;
use crate::trial::requests::Arrivals;
use crate::trial::stack::FlowController;
use std::path::Path;
use thalweg_transport::TransportConfig;
use thalweg_units::{Bytes, Duration, Instant};

/// What a flow moves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Workload {
    /// From server to client, asked for by a request.
    Download {
        bytes: Bytes,
        request: Bytes,
        streams: u32,
    },
    /// From client to server.
    Upload { bytes: Bytes, streams: u32 },
    /// A media call.
    Call(Vec<MediaSpec>),
    /// Many downloads, one connection each.
    Requests(Arrivals),
}

/// One flow of a scenario.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Name.
    pub name: String,
    /// Controller of its sender.
    pub controller: FlowController,
    /// Whether a modelled endpoint or a real stack carries it.
    pub(crate) stack: Stack,
    /// When it starts.
    pub start: Duration,
    /// Whether a trial ends without waiting for it.
    pub background: bool,
    /// Indices of the hops that it takes from server to client.
    pub(crate) route: Vec<usize>,
    pub(crate) workload: Workload,
    pub(crate) transport: TransportConfig,
}

impl FlowSpec {
    /// The workload in words.
    pub fn workload(&self) -> String {
        match &self.workload {
            Workload::Download { bytes, .. } => format!("download {bytes}"),
            Workload::Upload { bytes, .. } => format!("upload {bytes}"),
            Workload::Requests(arrivals) => format!("{} requests", arrivals.count),
            Workload::Call(media) => {
                let names: Vec<_> = media.iter().map(|stream| stream.name.as_str()).collect();
                format!("call: {}", names.join(", "))
            }
        }
    }
}

/// A number of a flow that a criterion can bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The last byte is delivered to the application.
    Completion,
    /// The close exchange that follows is over.
    Closed,
    /// Mean delay of a stream of media.
    MeanDelay,
    /// Its 95th percentile.
    P95Delay,
    /// Its 99th percentile.
    P99Delay,
    /// The largest.
    MaxDelay,
    /// Mean delay with the frames before the start of measurement.
    MeanDelayFromStart,
    /// The largest, with them.
    MaxDelayFromStart,
}

impl Metric {
    /// The name in scenario files.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Completion => "completion",
            Metric::Closed => "closed",
            Metric::MeanDelay => "mean-delay",
            Metric::P95Delay => "p95-delay",
            Metric::P99Delay => "p99-delay",
            Metric::MaxDelay => "max-delay",
            Metric::MeanDelayFromStart => "mean-delay-from-start",
            Metric::MaxDelayFromStart => "max-delay-from-start",
        }
    }
    pub(crate) const ALL: [Metric; 8] = [
        Metric::Completion,
        Metric::Closed,
        Metric::MeanDelay,
        Metric::P95Delay,
        Metric::P99Delay,
        Metric::MaxDelay,
        Metric::MeanDelayFromStart,
        Metric::MaxDelayFromStart,
    ];
    /// Whether it is a number of one stream of media.
    pub(crate) fn is_of_media(self) -> bool {
        !matches!(self, Metric::Completion | Metric::Closed)
    }
    /// Whether frames before the start of measurement count as well.
    pub(crate) fn counts_from_start(self) -> bool {
        matches!(self, Metric::MeanDelayFromStart | Metric::MaxDelayFromStart)
    }
    pub(crate) fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name)
    }
}

/// A pass criterion.
#[derive(Clone, Debug)]
pub struct Criterion {
    /// Index of the flow.
    pub flow: usize,
    /// What is bounded.
    pub metric: Metric,
    /// Which stream of media, for delays.
    pub stream: Option<String>,
    /// The bound.
    pub at_most: Duration,
    /// Where the bound comes from.
    pub source: Option<String>,
    /// Whether it is shown without deciding the verdict.
    pub informative: bool,
    /// The least value that physics allows.
    pub floor: Option<Duration>,
}

impl Criterion {
    /// The column of the outcomes that holds the metric, in seconds.
    pub fn column(&self) -> String {
        let metric = self.metric.name().replace('-', "_");
        match &self.stream {
            Some(stream) => format!("{}_{metric}_s", column_name(stream)),
            None => format!("{metric}_s"),
        }
    }
}

/// A name as part of a column name.
pub fn column_name(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect()
}

/// A scenario: path, flows and pass criteria.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it is called in tables.
    pub title: String,
    /// The document that it comes from.
    pub source: Option<String>,
    /// Where it differs from its source.
    pub note: Option<String>,
    /// Its flows; the first is the main flow.
    pub flows: Vec<FlowSpec>,
    /// Its pass criteria.
    pub criteria: Vec<Criterion>,
    pub(crate) overhead: u32,
    pub(crate) time_limit: Duration,
    pub(crate) start_noise: Duration,
    /// Takes the place of the trial's seed in the links.
    pub(crate) jitter_seed: Option<u64>,
    /// Bins of the recorded series.
    pub(crate) sample: Option<Duration>,
    pub(crate) hops: Vec<Hop>,
    pub(crate) toml: String,
}

impl Scenario {
    /// Reads and checks a scenario. `origin` is the file name that errors show; `sets` are pairs of
    /// `--set` (key, value), `controllers` pairs of `--controller` (flow, controller).
    ///
    /// # Errors
    /// A [`ScenarioError`] with file, line, key, value and accepted forms.
    pub fn from_toml(
        text: &[u8],
        origin: &str,
        sets: &[(String, String)],
        controllers: &[(String, String)],
    ) -> Result<Scenario, ScenarioError> {
        Scenario::read(text, origin, sets, controllers, Clock::Virtual)
    }

    /// The same for any clock.
    ///
    /// # Errors
    /// As [`Scenario::from_toml`], and if a flow cannot be carried under this clock.
    pub fn read(
        text: &[u8],
        origin: &str,
        sets: &[(String, String)],
        controllers: &[(String, String)],
        clock: Clock,
    ) -> Result<Scenario, ScenarioError> {
        let table = Scenario::table(text, origin, sets)?;
        let text = utf8(text, origin)?;
        let folder = Path::new(origin).parent().unwrap_or(Path::new(""));
        let (mut file, toml, origin) = match (sets, controllers) {
            ([], []) => (typed(text, origin)?, text.to_owned(), origin.to_owned()),
            _ => changed(table.clone(), origin, sets, controllers, clock)?,
        };
        let origin = origin.as_str();
        // Lines of a text in which `--set` has changed something say nothing to its reader: errors name what was set.
        let text = if sets.is_empty() { text } else { "" };
        let refuse = |key: &str, problem: &str| ScenarioError::at(text, origin, &[], key, problem);
        clock.choose_stacks(&mut file, &table, refuse)?;
        let embedded = trace_files::embed(&mut file, folder, text, origin)?;
        let toml = if embedded {
            toml::to_string(&file).unwrap_or_default()
        } else {
            toml
        };
        let checker = Checker {
            text,
            origin,
            clock,
            controllers,
        };
        checker.check(file, toml)
    }

    /// The tables of a scenario file with the values of `--set` in them, not checked yet. `--controller` comes after
    /// them: it has the last word on the controller of a flow.
    ///
    /// # Errors
    /// If the file is not a scenario, or if a key of `sets` leads nowhere.
    fn table(
        text: &[u8],
        origin: &str,
        sets: &[(String, String)],
    ) -> Result<toml::Table, ScenarioError> {
        let text = utf8(text, origin)?;
        check_text(text, origin)?;
        typed(text, origin)?;
        let mut table = toml::from_str(text).map_err(|error| refused(&error, text, origin))?;
        for (key, value) in sets {
            overrides::set(&mut table, key, value)?;
        }
        Ok(table)
    }

    /// The scenario as it runs, overrides included; [`Scenario::read`] reads it back under the same clock.
    pub fn toml(&self) -> &str {
        &self.toml
    }

    /// Simulated time at which a trial ends whatever has finished.
    pub fn time_limit(&self) -> Duration {
        self.time_limit
    }

    /// Whether a trial ends only when this flow has: those that criteria name, and without criteria all but
    /// the background. A scenario in which this is no flow runs until its time limit.
    pub fn is_awaited(&self, flow: usize) -> bool {
        if self.criteria.is_empty() {
            return !self.flows[flow].background;
        }
        self.criteria.iter().any(|criterion| criterion.flow == flow)
    }

    /// The times until `end` at which the route of a flow changes, from server to client.
    pub(crate) fn changes(&self, flow: usize, end: Instant) -> Vec<Instant> {
        let mut times = Vec::new();
        for hop in &self.flows[flow].route {
            let config = &self.hops[*hop].links[DOWN];
            let mut period = Instant::START;
            while !config.changes.is_empty() && period <= end {
                let within = config.changes.iter().map(|change| period + change.at);
                times.extend(within.filter(|at| *at <= end));
                match config.repeat {
                    Some(repeat) => period += repeat,
                    None => break,
                }
            }
        }
        times.sort_unstable();
        times
    }

    /// Floor of the completion of the main flow.
    pub fn floor(&self) -> Option<Duration> {
        floor::of(
            &self.hops,
            &self.flows[0],
            self.overhead,
            Metric::Completion,
        )
    }
}

/// The file with all its keys, if their types are right.
fn typed(text: &str, origin: &str) -> Result<ScenarioFile, ScenarioError> {
    toml::from_str(text).map_err(|error| refused(&error, text, origin))
}

/// A file with what `--set` and `--controller` change in it, its text, and what errors call it. `table` has the values
/// of `--set` already.
fn changed(
    mut table: toml::Table,
    origin: &str,
    sets: &[(String, String)],
    controllers: &[(String, String)],
    clock: Clock,
) -> Result<(ScenarioFile, String, String), ScenarioError> {
    for (flow, controller) in controllers {
        let flows = table.get("flow").and_then(toml::Value::as_array);
        let names = flows
            .into_iter()
            .flatten()
            .filter_map(|flow| flow.get("name"));
        let names: Vec<&str> = names.filter_map(toml::Value::as_str).collect();
        let option = format!("--controller {flow}={controller}");
        if !names.contains(&flow.as_str()) {
            let problem = format!(
                "there is no flow \"{flow}\"; accepted: {}",
                names.join(", ")
            );
            return Err(ScenarioError::of_option(option, problem));
        }
        if let Err(problem) = clock.controller(controller) {
            return Err(ScenarioError::of_option(option, problem));
        }
        let quoted = toml::Value::String(controller.clone()).to_string();
        overrides::set(&mut table, &format!("flow.{flow}.controller"), &quoted)?;
    }
    let changed = toml::to_string(&table).unwrap_or_default();
    let origin = with_sets(origin, sets);
    let file: ScenarioFile = toml::from_str(&changed).map_err(|error| {
        let mut error = refused(&error, &changed, &origin);
        error.line = None;
        error
    })?;
    Ok((file, changed, origin))
}

fn utf8<'a>(text: &'a [u8], origin: &str) -> Result<&'a str, ScenarioError> {
    std::str::from_utf8(text).map_err(|error| {
        let valid = String::from_utf8_lossy(&text[..error.valid_up_to()]);
        ScenarioError {
            origin: origin.to_owned(),
            line: Some(valid.matches('\n').count() + 1),
            key: None,
            problem: "is not UTF-8; accepted: a TOML text in UTF-8".into(),
        }
    })
}
