//! A scenario, read and checked.

use crate::error::{ScenarioError, line_of, line_of_key};
use crate::schema::{self, ScenarioFile};
use crate::{floor, overrides};
use std::collections::BTreeSet;
use thalweg_control::ControllerSpec;
use thalweg_path::{CapacitySchedule, JitterConfig, LinkConfig, LossConfig, WifiFormula};
use thalweg_transport::TransportConfig;
use thalweg_units::{Bytes, Duration};

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
}

/// One flow of a scenario.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Name.
    pub name: String,
    /// Controller of its sender.
    pub controller: ControllerSpec,
    /// When it starts.
    pub start: Duration,
    pub(crate) workload: Workload,
    pub(crate) transport: TransportConfig,
}

impl FlowSpec {
    /// The workload in words.
    pub fn workload(&self) -> String {
        match &self.workload {
            Workload::Download { bytes, .. } => format!("download {bytes}"),
            Workload::Upload { bytes, .. } => format!("upload {bytes}"),
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
}

impl Metric {
    /// The name in scenario files.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Completion => "completion",
            Metric::Closed => "closed",
        }
    }
    /// The column of the outcomes that holds it, and its unit.
    pub fn column(self) -> (&'static str, &'static str) {
        match self {
            Metric::Completion => ("completion_s", "s"),
            Metric::Closed => ("closed_s", "s"),
        }
    }
    fn from_name(name: &str) -> Option<Metric> {
        [Metric::Completion, Metric::Closed]
            .into_iter()
            .find(|metric| metric.name() == name)
    }
}

/// A pass criterion.
#[derive(Clone, Debug)]
pub struct Criterion {
    /// Index of the flow.
    pub flow: usize,
    /// What is bounded.
    pub metric: Metric,
    /// The bound.
    pub at_most: Duration,
    /// Where the bound comes from.
    pub source: Option<String>,
    /// Whether it is shown without deciding the verdict.
    pub informative: bool,
    /// The least value that physics allows.
    pub floor: Option<Duration>,
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
    /// From server to client, and back.
    pub(crate) down: LinkConfig,
    pub(crate) up: LinkConfig,
    toml: String,
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
        let text = utf8(text, origin)?;
        let file: ScenarioFile =
            toml::from_str(text).map_err(|error| refused(&error, text, origin))?;
        let checker = Checker { text, origin };
        if sets.is_empty() && controllers.is_empty() {
            return checker.check(file, text.to_owned());
        }
        let mut table: toml::Table =
            toml::from_str(text).map_err(|error| refused(&error, text, origin))?;
        let mut named = String::new();
        for (key, value) in sets {
            overrides::set(&mut table, key, value)?;
            named += &format!(" --set {key}={value}");
        }
        for (flow, controller) in controllers {
            let names: Vec<_> = file.flow.iter().map(|flow| flow.name.as_str()).collect();
            let option = format!("--controller {flow}={controller}");
            if !names.contains(&flow.as_str()) {
                let problem = format!(
                    "there is no flow \"{flow}\"; accepted: {}",
                    names.join(", ")
                );
                return Err(ScenarioError {
                    origin: option,
                    line: None,
                    key: None,
                    problem,
                });
            }
            if let Err(error) = controller.parse::<ControllerSpec>() {
                let problem = error.to_string();
                return Err(ScenarioError {
                    origin: option,
                    line: None,
                    key: None,
                    problem,
                });
            }
            let quoted = toml::Value::String(controller.clone()).to_string();
            overrides::set(&mut table, &format!("flow.{flow}.controller"), &quoted)?;
        }
        let changed = toml::to_string(&table).unwrap_or_default();
        // Lines of the changed text say nothing to its reader: errors name what was set instead.
        let origin = if named.is_empty() {
            origin.to_owned()
        } else {
            format!("{origin}{named}")
        };
        let file: ScenarioFile = toml::from_str(&changed).map_err(|error| {
            let mut error = refused(&error, &changed, &origin);
            error.line = None;
            error
        })?;
        let checker = Checker {
            text: "",
            origin: &origin,
        };
        checker.check(file, changed.clone())
    }

    /// The scenario as it runs, overrides included; [`Scenario::from_toml`] reads it back.
    pub fn toml(&self) -> &str {
        &self.toml
    }

    /// Floor of the completion of the main flow.
    pub fn floor(&self) -> Option<Duration> {
        floor::of(
            &self.down,
            &self.up,
            &self.flows[0],
            self.overhead,
            Metric::Completion,
        )
    }
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

/// Turns an error of the TOML reader into ours: line, the text of that line, and the problem.
fn refused(error: &toml::de::Error, text: &str, origin: &str) -> ScenarioError {
    let line = error.span().map(|span| line_of(text, span.start));
    let shown = line
        .and_then(|line| text.lines().nth(line - 1))
        .map(|line| format!("`{}`", line.trim()));
    let mut problem = error
        .message()
        .replace('`', "\"")
        .replace(", expected ", "; accepted: ");
    if let Some(field) = problem.strip_prefix("missing field ") {
        let name = field.trim_matches('"');
        problem = format!("the key {field} is missing here; accepted: {name} = ...");
    }
    ScenarioError {
        origin: origin.to_owned(),
        line,
        key: shown,
        problem,
    }
}

/// Checks what the types cannot say.
struct Checker<'a> {
    text: &'a str,
    origin: &'a str,
}

impl Checker<'_> {
    fn fail<T>(&self, key: &str, problem: impl Into<String>) -> Result<T, ScenarioError> {
        Err(ScenarioError {
            origin: self.origin.to_owned(),
            line: line_of_key(self.text, key),
            key: Some(key.to_owned()),
            problem: problem.into(),
        })
    }

    fn check(&self, file: ScenarioFile, toml: String) -> Result<Scenario, ScenarioError> {
        if file.flow.is_empty() {
            return self.fail(
                "flow",
                "there is no flow; accepted: one or more [[flow]] tables",
            );
        }
        if file.time_limit.is_zero() {
            return self.fail("time_limit", "\"0 s\" leaves no time; accepted: \"600 s\"");
        }
        let overhead = u32::try_from(file.overhead.as_u64())
            .ok()
            .filter(|bytes| *bytes <= 1000);
        let Some(overhead) = overhead else {
            let problem = format!(
                "\"{}\" is too much; accepted: \"0 B\" to \"1000 B\"",
                file.overhead
            );
            return self.fail("overhead", problem);
        };
        let (down, up) = self.links(&file.path)?;
        let mut flows = Vec::new();
        let mut names = BTreeSet::new();
        for (index, flow) in file.flow.iter().enumerate() {
            if !names.insert(flow.name.as_str()) {
                let problem = format!("\"{}\" names two flows; accepted: unique names", flow.name);
                return self.fail(&format!("flow.{index}.name"), problem);
            }
            flows.push(self.flow(index, flow, &file)?);
        }
        for (index, flow) in flows.iter().enumerate() {
            self.check_can_finish(index, flow, &down, &up, overhead)?;
        }
        let criteria = self.criteria(&file.pass, &flows, &down, &up, overhead)?;
        Ok(Scenario {
            title: file.title,
            source: file.source,
            note: file.note,
            flows,
            criteria,
            overhead,
            time_limit: file.time_limit,
            start_noise: file.noise.start,
            down,
            up,
            toml,
        })
    }

    fn links(&self, path: &schema::Path) -> Result<(LinkConfig, LinkConfig), ScenarioError> {
        if path.rate.is_zero()
            && path
                .change
                .iter()
                .all(|c| c.rate.is_none_or(|rate| rate.is_zero()))
        {
            return self.fail("path.rate", format!("\"{}\" for ever moves nothing; accepted: a rate above 0, or a [[path.change]] to one", path.rate));
        }
        let mut last = Duration::ZERO;
        for (index, change) in path.change.iter().enumerate() {
            let key = format!("path.change.{index}.at");
            if change.at < last {
                return self.fail(
                    &key,
                    format!(
                        "\"{}\" is before the change above; accepted: changes in the order of time",
                        change.at
                    ),
                );
            }
            if path.repeat.is_some_and(|repeat| change.at >= repeat) {
                return self.fail(&key, format!("\"{}\" is not within the period that repeats; accepted: less than path.repeat", change.at));
            }
            last = change.at;
        }
        if path.repeat.is_some_and(Duration::is_zero) {
            return self.fail("path.repeat", "\"0 s\" is no period; accepted: \"2 s\"");
        }
        if let Some(jitter) = &path.jitter {
            self.check_jitter("path.jitter", jitter)?;
        }
        let up = path.up.clone().unwrap_or_default();
        let up_rate = up.rate.unwrap_or(path.rate);
        let link = |is_up: bool| {
            let rate = if is_up { up_rate } else { path.rate };
            let buffer = up.buffer.filter(|_| is_up).unwrap_or(path.buffer);
            let jitter = up
                .jitter
                .as_ref()
                .filter(|_| is_up)
                .or(path.jitter.as_ref());
            let loss = up.loss.as_ref().filter(|_| is_up).or(path.loss.as_ref());
            let mut config = LinkConfig::new(rate, path.rtt / 2);
            config.limit = buffer.limit(rate, path.rtt);
            config.jitter = jitter.map(jitter_config).unwrap_or_default();
            config.loss = loss.map(loss_config).unwrap_or_default();
            config.reorder = path.reorder;
            config.repeat = path.repeat;
            let (mut rate, mut rtt) = (rate, path.rtt);
            for change in &path.change {
                let new_rate = change.up_rate.filter(|_| is_up).or(change.rate);
                rate = new_rate.unwrap_or(rate);
                rtt = change.rtt.unwrap_or(rtt);
                config.changes.push(thalweg_path::Change {
                    at: change.at,
                    rate: new_rate,
                    delay: change.rtt.map(|rtt| rtt / 2),
                    jitter: change.jitter.as_ref().map(jitter_config),
                    limit: change.buffer.map(|buffer| buffer.limit(rate, rtt)),
                });
            }
            config
        };
        Ok((link(false), link(true)))
    }

    fn check_jitter(&self, key: &str, jitter: &schema::Jitter) -> Result<(), ScenarioError> {
        let bounds = match jitter {
            schema::Jitter::Uniform { min, max }
            | schema::Jitter::TruncatedNormal { min, max, .. } => (min, max),
            _ => return Ok(()),
        };
        if bounds.0 > bounds.1 {
            let problem = format!(
                "min \"{}\" is above max \"{}\"; accepted: min <= max",
                bounds.0, bounds.1
            );
            return self.fail(key, problem);
        }
        Ok(())
    }

    fn flow(
        &self,
        index: usize,
        flow: &schema::Flow,
        file: &ScenarioFile,
    ) -> Result<FlowSpec, ScenarioError> {
        let key = |name: &str| format!("flow.{index}.{name}");
        if flow.name.is_empty() {
            return self.fail(
                &key("name"),
                "\"\" is no name; accepted: a text such as \"main\"",
            );
        }
        let controller: ControllerSpec = match flow.controller.parse() {
            Ok(controller) => controller,
            Err(error) => return self.fail(&key("controller"), error.to_string()),
        };
        if flow.streams == 0 || flow.streams > 10_000 {
            return self.fail(
                &key("streams"),
                format!("{} is out of range; accepted: 1 to 10000", flow.streams),
            );
        }
        let workload = match (flow.download, flow.upload) {
            (Some(bytes), None) => Workload::Download {
                bytes,
                request: flow.request,
                streams: flow.streams,
            },
            (None, Some(bytes)) => Workload::Upload {
                bytes,
                streams: flow.streams,
            },
            (Some(_), Some(_)) => {
                return self.fail(
                    &key("upload"),
                    "a flow has one workload; accepted: download or upload",
                );
            }
            (None, None) => {
                return self.fail(&format!("flow.{index}"), format!("flow \"{}\" has no workload; accepted: download = \"10 MB\" or upload = \"10 MB\"", flow.name));
            }
        };
        let transport = self.transport(flow, file)?;
        let controller_name = flow.name.clone();
        Ok(FlowSpec {
            name: controller_name,
            controller,
            start: flow.start,
            workload,
            transport,
        })
    }

    fn transport(
        &self,
        flow: &schema::Flow,
        file: &ScenarioFile,
    ) -> Result<TransportConfig, ScenarioError> {
        let given = &file.transport;
        let standard = TransportConfig::default();
        let config = TransportConfig {
            initial_window: given.initial_window.unwrap_or(standard.initial_window),
            initial_mtu: given.initial_mtu.unwrap_or(standard.initial_mtu),
            max_mtu: given
                .max_mtu
                .or(given.initial_mtu)
                .unwrap_or(standard.max_mtu),
            max_ack_delay: given.max_ack_delay.unwrap_or(standard.max_ack_delay),
            min_ack_delay: standard
                .min_ack_delay
                .min(given.max_ack_delay.unwrap_or(Duration::MAX)),
            ack_every: given.ack_every.unwrap_or(standard.ack_every),
            ack_frequency: given.ack_frequency.unwrap_or(standard.ack_frequency),
            initial_max_data: given.initial_max_data.unwrap_or(standard.initial_max_data),
            initial_max_stream_data: given
                .initial_max_stream_data
                .unwrap_or(standard.initial_max_stream_data),
            zero_rtt: flow.zero_rtt,
            seed: flow.seed.as_ref().map(|seed| (seed.window, seed.rtt)),
            wakeup_noise: file.noise.wakeup,
        };
        for (key, bytes) in [
            ("initial_mtu", config.initial_mtu),
            ("max_mtu", config.max_mtu),
        ] {
            if !(1200..=65_527).contains(&bytes.as_u64()) {
                return self.fail(&format!("transport.{key}"), format!("\"{bytes}\" is no size of a QUIC packet; accepted: \"1200 B\" to \"65527 B\""));
            }
        }
        if config.max_mtu < config.initial_mtu {
            return self.fail(
                "transport.max_mtu",
                format!(
                    "\"{}\" is below initial_mtu; accepted: at least \"{}\"",
                    config.max_mtu, config.initial_mtu
                ),
            );
        }
        if config.initial_window < config.max_mtu * 2 {
            return self.fail(
                "transport.initial_window",
                format!(
                    "\"{}\" is below two packets; accepted: at least \"{}\"",
                    config.initial_window,
                    config.max_mtu * 2
                ),
            );
        }
        for (key, bytes) in [
            ("initial_max_data", config.initial_max_data),
            ("initial_max_stream_data", config.initial_max_stream_data),
        ] {
            if bytes.as_u64() < 4096 {
                return self.fail(
                    &format!("transport.{key}"),
                    format!("\"{bytes}\" is too small; accepted: at least \"4096 B\""),
                );
            }
        }
        Ok(config)
    }

    /// A flow on a path that is suspended for ever would never end: that is an error of the scenario.
    fn check_can_finish(
        &self,
        index: usize,
        flow: &FlowSpec,
        down: &LinkConfig,
        up: &LinkConfig,
        overhead: u32,
    ) -> Result<(), ScenarioError> {
        if floor::of(down, up, flow, overhead, Metric::Completion).is_some() {
            return Ok(());
        }
        let schedule = CapacitySchedule::new(down);
        let ends = schedule.segments(thalweg_units::Instant::START).last();
        let since = ends.map_or_else(String::new, |segment| format!(" from {} on", segment.start));
        let last = self.last_change();
        self.fail(&last, format!("the capacity is 0{since}, so flow \"{}\" (flow.{index}) can never finish; accepted: a later [[path.change]] to a rate above 0", flow.name))
    }

    fn last_change(&self) -> String {
        let changes = self.text.matches("[[path.change]]").count();
        format!("path.change.{}.rate", changes.saturating_sub(1))
    }

    fn criteria(
        &self,
        pass: &[schema::Pass],
        flows: &[FlowSpec],
        down: &LinkConfig,
        up: &LinkConfig,
        overhead: u32,
    ) -> Result<Vec<Criterion>, ScenarioError> {
        let mut criteria = Vec::new();
        for (index, pass) in pass.iter().enumerate() {
            let key = |name: &str| format!("pass.{index}.{name}");
            let Some(flow) = flows.iter().position(|flow| flow.name == pass.flow) else {
                let names: Vec<_> = flows.iter().map(|flow| flow.name.as_str()).collect();
                return self.fail(
                    &key("flow"),
                    format!(
                        "there is no flow \"{}\"; accepted: {}",
                        pass.flow,
                        names.join(", ")
                    ),
                );
            };
            let Some(metric) = Metric::from_name(&pass.metric) else {
                return self.fail(
                    &key("metric"),
                    format!(
                        "unknown metric \"{}\"; accepted: completion, closed",
                        pass.metric
                    ),
                );
            };
            criteria.push(Criterion {
                flow,
                metric,
                at_most: pass.at_most,
                source: pass.source.clone(),
                informative: pass.informative,
                floor: floor::of(down, up, &flows[flow], overhead, metric),
            });
        }
        Ok(criteria)
    }
}

fn jitter_config(jitter: &schema::Jitter) -> JitterConfig {
    match *jitter {
        schema::Jitter::None {} => JitterConfig::None,
        schema::Jitter::Uniform { min, max } => JitterConfig::Uniform { min, max },
        schema::Jitter::Normal { mean, sd: Some(sd) } => JitterConfig::Normal { mean, sd },
        schema::Jitter::Normal { mean, sd: None } => JitterConfig::reference_normal(mean),
        schema::Jitter::TruncatedNormal { mean, sd, min, max } => {
            JitterConfig::TruncatedNormal { mean, sd, min, max }
        }
        schema::Jitter::Wifi { mean, formula } => JitterConfig::Wifi {
            mean,
            formula: match formula {
                schema::WifiFormula::Reference => WifiFormula::Reference,
                schema::WifiFormula::Draft => WifiFormula::Draft,
            },
        },
    }
}

fn loss_config(loss: &schema::Loss) -> LossConfig {
    match *loss {
        schema::Loss::Random { rate } => LossConfig::Random { rate },
        schema::Loss::GilbertElliott {
            p,
            r,
            good_loss,
            bad_loss,
        } => LossConfig::GilbertElliott {
            p,
            r,
            good_loss,
            bad_loss,
        },
    }
}
