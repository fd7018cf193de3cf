//! One hop of a `[path]` or `[[link]]`: the settings of each direction.

use super::{Checker, queue};
use crate::scenario::error::ScenarioError;
use crate::scenario::hop::{Direction, PerDirection};
use crate::scenario::schema::{self, BufferSize};
use crate::scenario::trace_files;
pub(super) use propagation::Propagation;
use thalweg_path::{
    DeliveryTrace, EcnConfig, JitterConfig, Limit, LinkConfig, LossConfig, NoiseConfig,
    PolicerConfig, WifiFormula,
};
use thalweg_units::{Bytes, Duration, Rate};

mod jitter;
pub(super) mod loss;
mod medium;
mod propagation;

impl Checker<'_> {
    /// The links of one hop. `table` is its key in the file.
    pub(super) fn links(
        &self,
        table: &str,
        path: &schema::Path,
        packet: Bytes,
    ) -> Result<PerDirection<LinkConfig>, ScenarioError> {
        self.check_rate(table, path)?;
        let mut last = Duration::ZERO;
        for (index, change) in timed(path) {
            let key = format!("{table}.change.{index}.at");
            let Some(at) = change.at else {
                let problem = "is missing; accepted: at = \"2 s\", or when = { flow = \"main\", enters = \"Drain\" }";
                return self.fail(&key, problem);
            };
            if at < last {
                return self.fail(
                    &key,
                    format!(
                        "\"{at}\" is before the change above; changes must be in the order of time"
                    ),
                );
            }
            if path.repeat.is_some_and(|repeat| at >= repeat) {
                return self.fail(&key, format!("\"{at}\" is not within the period that repeats; accepted: less than {table}.repeat"));
            }
            last = at;
        }
        if path.repeat.is_some_and(Duration::is_zero) {
            let problem = "\"0 s\" is not a period; accepted: \"2 s\"";
            return self.fail(&format!("{table}.repeat"), problem);
        }
        for (key, queue) in queue::all(path) {
            if let Some(problem) = queue::problem(queue) {
                return self.fail(&format!("{table}.{key}"), problem);
            }
        }
        if path
            .noise
            .as_ref()
            .is_some_and(|noise| noise.every < Duration::from_micros(10))
        {
            let problem =
                "the interval is too short; accepted: every = \"1 ms\", and \"10 us\" at least";
            return self.fail(&format!("{table}.noise"), problem);
        }
        let up = path.up.clone().unwrap_or_default();
        let down = self.link(
            table,
            path,
            path.rate,
            path.trace.as_deref(),
            (Direction::Down, packet),
        )?;
        let (rate, trace) = match (up.rate, up.trace.as_deref()) {
            (None, None) => (path.rate, path.trace.as_deref()),
            own => own,
        };
        let up = self.link(table, path, rate, trace, (Direction::Up, packet))?;
        Ok(PerDirection { down, up })
    }

    /// A buffer must hold a packet: otherwise nothing ever gets through.
    fn limit(
        &self,
        key: &str,
        buffer: BufferSize,
        (rate, rtt): (Rate, Duration),
        packet: Bytes,
    ) -> Result<Limit, ScenarioError> {
        let limit = buffer.limit(rate, rtt);
        match limit {
            Limit::Bytes(bytes) if bytes < packet => {
                let size = match buffer {
                    BufferSize::Bdp(_) => {
                        format!("\"{buffer}\" of \"{rate}\" and \"{rtt}\" is {bytes}, which")
                    }
                    _ => format!("\"{buffer}\""),
                };
                let problem = format!(
                    "{size} holds no packet; accepted: buffer = \"{packet}\" or more, the first packet of a connection with its headers"
                );
                self.fail(key, problem)
            }
            limit => Ok(limit),
        }
    }

    /// Each direction has a rate or a delivery trace, and capacity at some time.
    fn check_rate(&self, table: &str, path: &schema::Path) -> Result<(), ScenarioError> {
        let key = format!("{table}.rate");
        let Some(rate) = path.rate else {
            if path.trace.is_none() {
                let problem = "is missing; accepted: rate = \"20 Mbps\", or trace = \"FILE\"";
                return self.fail(&key, problem);
            }
            if !path.change.is_empty() || path.repeat.is_some() {
                let problem = "a trace cannot be combined with [[path.change]] or repeat; it gives the whole capacity and repeats by itself";
                return self.fail(&format!("{table}.trace"), problem);
            }
            return Ok(());
        };
        if path.trace.is_some() {
            return self.fail(
                &key,
                "a rate cannot be combined with a trace; a link has one of them",
            );
        }
        let up = path.up.as_ref();
        if up.is_some_and(|up| up.rate.is_some() && up.trace.is_some()) {
            let problem = "a rate cannot be combined with a trace; a link has one of them";
            return self.fail(&format!("{table}.up.rate"), problem);
        }
        if up.is_some_and(|up| up.trace.is_some()) && !path.change.is_empty() {
            let problem =
                "a trace cannot be combined with [[path.change]]; it gives the whole capacity";
            return self.fail(&format!("{table}.up.trace"), problem);
        }
        let mut rates = path.change.iter().filter_map(|change| change.rate);
        if rate.is_zero() && rates.all(Rate::is_zero) {
            let problem = format!(
                "\"{rate}\" never transmits a packet; accepted: a rate above 0, or a [[path.change]] to one"
            );
            return self.fail(&key, problem);
        }
        Ok(())
    }

    /// One direction of a hop.
    fn link(
        &self,
        table: &str,
        path: &schema::Path,
        rate: Option<Rate>,
        trace: Option<&str>,
        (direction, packet): (Direction, Bytes),
    ) -> Result<LinkConfig, ScenarioError> {
        let is_up = direction == Direction::Up;
        let trace = match trace.map(trace_files::parse).transpose() {
            Ok(trace) => trace,
            Err(problem) => return self.fail(&format!("{table}.trace"), problem),
        };
        let mean = trace.as_ref().map(DeliveryTrace::mean_rate);
        let up = path.up.clone().unwrap_or_default();
        let mut rate = rate.or(mean).unwrap_or(Rate::ZERO);
        let mut propagation = Propagation::of(path);
        let buffer = up.buffer.filter(|_| is_up).unwrap_or(path.buffer);
        let jitter = (up.jitter.as_deref().filter(|_| is_up)).or(path.jitter.as_deref());
        let own_loss = up.loss.as_deref().filter(|_| is_up);
        let queue = up
            .queue
            .as_deref()
            .filter(|_| is_up)
            .or(path.queue.as_deref());
        let policer_key = if is_up && up.policer.is_some() {
            "up.policer"
        } else {
            "policer"
        };
        let policer = (up.policer.as_ref().filter(|_| is_up)).or(path.policer.as_ref());
        let mut config = LinkConfig::new(rate, propagation.delay(direction));
        config.trace = trace;
        let own = is_up && up.buffer.is_some();
        let key = if own { "up.buffer" } else { "buffer" };
        // A link that never has capacity gets a better message than a bdp of zero.
        let new_rate = |change: &schema::Change| change.up_rate.filter(|_| is_up).or(change.rate);
        let moves = |rate: Rate| !rate.is_zero();
        let is_alive = moves(rate) || path.change.iter().filter_map(new_rate).any(moves);
        let packet = if is_alive { packet } else { Bytes::ZERO };
        let on = (rate, propagation.round_trip());
        config.limit = self.limit(&format!("{table}.{key}"), buffer, on, packet)?;
        config.queue = queue.map(queue::config).unwrap_or_default();
        if let Some(policer) = policer.filter(|policer| policer.burst < packet && !policer.mark) {
            let problem = format!(
                "a burst of \"{}\" lets no packet pass; accepted: at least \"{packet}\", the first packet of a connection with its headers",
                policer.burst
            );
            return self.fail(&format!("{table}.{policer_key}.burst"), problem);
        }
        config.policer = policer.map(|policer| PolicerConfig {
            rate: policer.rate,
            burst: policer.burst,
            mark: policer.mark,
        });
        config.noise = path.noise.as_ref().map(|noise| NoiseConfig {
            rate_sd: noise.rate_sd.unwrap_or(Rate::ZERO),
            delay_sd: noise.delay_sd,
            every: noise.every,
        });
        config.jitter = match jitter {
            Some(jitter) => {
                let own = is_up && up.jitter.is_some();
                let field = if own { "up.jitter" } else { "jitter" };
                self.jitter(&format!("{table}.{field}"), jitter, path.reorder)?
            }
            None => JitterConfig::None,
        };
        let key = format!(
            "{table}.{}",
            if own_loss.is_some() {
                "up.loss"
            } else {
                "loss"
            }
        );
        let given = own_loss.or(path.loss.as_deref());
        config.loss = self.loss(&key, given)?.unwrap_or_default();
        config.ecn = match up.ecn.filter(|_| is_up).or(path.ecn).unwrap_or_default() {
            schema::EcnTreatment::Keep => EcnConfig::Kept,
            schema::EcnTreatment::Bleach => EcnConfig::Bleached,
            schema::EcnTreatment::DropCe => EcnConfig::CeLost,
            schema::EcnTreatment::HideCe => EcnConfig::CeHidden,
        };
        config.reorder = path.reorder;
        config.repeat = path.repeat;
        for (index, change) in timed(path) {
            rate = new_rate(change).unwrap_or(rate);
            propagation = propagation.after(change);
            let key = format!("{table}.change.{index}");
            let of = (direction, packet, path.reorder);
            let on = (rate, propagation.round_trip());
            (config.changes).push(self.change(&key, change, on, of)?);
        }
        Ok(config)
    }

    /// What a change makes of one direction; `rate` and `rtt` are those after it.
    pub(super) fn change(
        &self,
        table: &str,
        change: &schema::Change,
        (rate, rtt): (Rate, Duration),
        (direction, packet, reorder): (Direction, Bytes, bool),
    ) -> Result<thalweg_path::Change, ScenarioError> {
        let is_up = direction == Direction::Up;
        let key = |name: &str| format!("{table}.{name}");
        let jitter = change.jitter.as_deref();
        let own_loss = change.up_loss.as_deref().filter(|_| is_up);
        let loss_key = key(if own_loss.is_some() {
            "up_loss"
        } else {
            "loss"
        });
        let own_queue = change.up_queue.as_deref().filter(|_| is_up);
        Ok(thalweg_path::Change {
            at: change.at(),
            rate: change.up_rate.filter(|_| is_up).or(change.rate),
            delay: Propagation::set_by(change, direction),
            jitter: (jitter.map(|jitter| self.jitter(&key("jitter"), jitter, reorder)))
                .transpose()?,
            limit: (change.buffer)
                .map(|buffer| self.limit(&key("buffer"), buffer, (rate, rtt), packet))
                .transpose()?,
            loss: self.loss(&loss_key, own_loss.or(change.loss.as_deref()))?,
            queue: own_queue.or(change.queue.as_deref()).map(queue::config),
            flush: change.up_flush.filter(|_| is_up).unwrap_or(change.flush),
        })
    }

    /// The loss of the key `key`, if there is one.
    fn loss(
        &self,
        key: &str,
        given: Option<&schema::Loss>,
    ) -> Result<Option<LossConfig>, ScenarioError> {
        match given.map(loss::config).transpose() {
            Ok(loss) => Ok(loss),
            Err(problem) => self.fail(key, problem),
        }
    }

    /// The jitter of the key `key`.
    fn jitter(
        &self,
        key: &str,
        jitter: &schema::Jitter,
        reorder: bool,
    ) -> Result<JitterConfig, ScenarioError> {
        if let Some(problem) = jitter::problem(jitter, reorder) {
            return self.fail(key, problem);
        }
        Ok(match *jitter {
            schema::Jitter::None {} => JitterConfig::None,
            schema::Jitter::Uniform { min, max } => JitterConfig::Uniform { min, max },
            schema::Jitter::Normal { mean, sd: Some(sd) } => JitterConfig::Normal { mean, sd },
            schema::Jitter::Normal { mean, sd: None } => JitterConfig::reference_normal(mean),
            schema::Jitter::TruncatedNormal { mean, sd, min, max } => {
                JitterConfig::TruncatedNormal { mean, sd, min, max }
            }
            schema::Jitter::Wifi {
                mean,
                formula,
                every,
            } => JitterConfig::Wifi {
                mean,
                every,
                formula: match formula {
                    schema::WifiFormula::Reference => WifiFormula::Reference,
                    schema::WifiFormula::Draft => WifiFormula::Draft,
                },
            },
            schema::Jitter::TwoComponents {
                fraction,
                short,
                long,
            } => JitterConfig::TwoComponents {
                fraction,
                short,
                long,
            },
            schema::Jitter::Trace { ref file } => match trace_files::parse_jitter(file) {
                Ok(trace) => JitterConfig::Trace(trace),
                Err(problem) => return self.fail(&format!("{key}.file"), problem),
            },
            schema::Jitter::Bursts { every } => JitterConfig::Bursts { every },
            schema::Jitter::NrBpdv { sd, clip } => JitterConfig::NrBpdv {
                sd: sd.unwrap_or(Duration::from_millis(5)),
                clip: (clip.unwrap_or(3.0) * 1000.0 + 0.5) as u32,
            },
            schema::Jitter::Reordering { share, extent } => {
                JitterConfig::Reordering { share, extent }
            }
        })
    }
}

/// The changes that have a time, with their places.
fn timed(path: &schema::Path) -> impl Iterator<Item = (usize, &schema::Change)> {
    let changes = path.change.iter().enumerate();
    changes.filter(|(_, change)| change.when.is_none())
}
