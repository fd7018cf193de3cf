//! `circuit_breaker` of a `[[flow]]`, of `[[traffic]]` and of a `[[tunnel]]`.

use super::Checker;
use crate::scenario::breaker::BreakerSpec;
use crate::scenario::clock::Clock;
use crate::scenario::error::ScenarioError;
use crate::scenario::schema::{CircuitBreaker, Flow, ScenarioFile};
use crate::scenario::{FlowSpec, Workload};
use thalweg_units::{Duration, Fraction};

/// The shortest interval.
const LEAST: Duration = Duration::from_millis(10);
/// The most intervals in a row.
const MOST_INTERVALS: u32 = 1000;
/// The least fixed time between two reports of RTP (RFC 8083 section 4.1).
const REPORTS: Duration = Duration::from_secs(5);

impl Checker<'_> {
    /// The circuit breaker of a flow.
    pub(super) fn breaker(
        &self,
        index: usize,
        flow: &Flow,
        workload: &Workload,
    ) -> Result<Option<BreakerSpec>, ScenarioError> {
        let Some(breaker) = flow.circuit_breaker.as_deref() else {
            return Ok(None);
        };
        let key = format!("flow.{index}.circuit_breaker");
        if matches!(self.clock, Clock::Real(_)) {
            return self.fail(&key, "cannot be combined with real time");
        }
        if matches!(workload, Workload::Requests(_)) {
            let problem =
                "cannot be combined with requests, each of which is a connection of its own";
            return self.fail(&key, problem);
        }
        let media = match workload {
            Workload::Call(media) => Some(media.iter().map(|stream| stream.per_second)),
            _ => None,
        };
        let slowest = media.map(|rates| u64::from(rates.min().unwrap_or(1).max(1)));
        self.breaker_of(&key, breaker, slowest).map(Some)
    }

    /// The circuit breakers of tunnels, with the names of these.
    pub(super) fn tunnels(
        &self,
        file: &ScenarioFile,
        flows: &[FlowSpec],
    ) -> Result<Vec<(String, BreakerSpec)>, ScenarioError> {
        let mut tunnels = Vec::new();
        for (index, tunnel) in file.tunnel.iter().enumerate() {
            let key = |name: &str| format!("tunnel.{index}.{name}");
            let name = &*tunnel.name;
            let is_inside = |inner: Option<&str>| inner == Some(name);
            let inside = flows
                .iter()
                .filter(|flow| is_inside(flow.tunnel.as_deref()));
            let mut traffic = file.traffic.iter();
            let has_traffic = traffic.any(|traffic| is_inside(traffic.tunnel.as_deref()));
            if inside.clone().next().is_none() && !has_traffic {
                let problem = format!(
                    "nothing is in the tunnel \"{name}\"; accepted: the name that a flow or traffic gives as its tunnel"
                );
                return self.fail(&key("name"), problem);
            }
            let requests = |flow: &&FlowSpec| matches!(flow.workload, Workload::Requests(_));
            if let Some(flow) = inside.clone().find(requests) {
                let problem = format!(
                    "cannot be combined with the requests of the flow \"{}\" in this tunnel, each of which is a connection of its own",
                    flow.name
                );
                return self.fail(&key("circuit_breaker"), problem);
            }
            let spec = self.breaker_of(&key("circuit_breaker"), &tunnel.circuit_breaker, None)?;
            tunnels.push((name.to_owned(), spec));
        }
        Ok(tunnels)
    }

    /// A circuit breaker that `key` describes; `slowest` is the least number of frames per second, of a call.
    pub(super) fn breaker_of(
        &self,
        key: &str,
        breaker: &CircuitBreaker,
        slowest: Option<u64>,
    ) -> Result<BreakerSpec, ScenarioError> {
        let spec = match *breaker {
            CircuitBreaker::Transport {
                loss,
                interval,
                intervals,
            } => BreakerSpec::Transport {
                loss,
                interval,
                intervals: intervals.unwrap_or(3),
            },
            CircuitBreaker::Media { interval, unusable } => {
                let Some(slowest) = slowest else {
                    let problem = "model \"media\" requires a call or [[flow.media]]; use \"transport\" for other flows, traffic and tunnels";
                    return self.fail(key, problem);
                };
                BreakerSpec::Media {
                    interval: interval.unwrap_or(REPORTS),
                    unusable,
                    framing: Duration::from_secs(1) / slowest,
                }
            }
        };
        if spec.interval() < LEAST {
            let problem = format!(
                "interval \"{}\" is too short; accepted: \"{LEAST}\" or more",
                spec.interval()
            );
            return self.fail(key, problem);
        }
        if let BreakerSpec::Transport { intervals, .. } = spec
            && !(1..=MOST_INTERVALS).contains(&intervals)
        {
            let problem = format!(
                "intervals {intervals} is out of range; accepted: 1 to {MOST_INTERVALS} in a row"
            );
            return self.fail(key, problem);
        }
        let (name, threshold) = match spec {
            BreakerSpec::Transport { loss, .. } => ("loss", Some(loss)),
            BreakerSpec::Media { unusable, .. } => ("unusable", unusable),
        };
        if threshold == Some(Fraction::ZERO) {
            let problem =
                format!("{name} \"0 %\" trips without loss; accepted: \"10 %\", up to \"100 %\"");
            return self.fail(key, problem);
        }
        Ok(spec)
    }
}
