//! `circuit_breaker` of a `[[flow]]`.

use super::Checker;
use crate::scenario::Workload;
use crate::scenario::breaker::BreakerSpec;
use crate::scenario::clock::Clock;
use crate::scenario::error::ScenarioError;
use crate::scenario::schema::{CircuitBreaker, Flow};
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
                let Workload::Call(media) = workload else {
                    let problem = "model \"media\" requires a call or [[flow.media]]; use \"transport\" for other flows";
                    return self.fail(&key, problem);
                };
                let rates = media.iter().map(|stream| stream.per_second);
                let slowest = u64::from(rates.min().unwrap_or(1).max(1));
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
            return self.fail(&key, problem);
        }
        if let BreakerSpec::Transport { intervals, .. } = spec
            && !(1..=MOST_INTERVALS).contains(&intervals)
        {
            let problem = format!(
                "intervals {intervals} is out of range; accepted: 1 to {MOST_INTERVALS} in a row"
            );
            return self.fail(&key, problem);
        }
        let (name, threshold) = match spec {
            BreakerSpec::Transport { loss, .. } => ("loss", Some(loss)),
            BreakerSpec::Media { unusable, .. } => ("unusable", unusable),
        };
        if threshold == Some(Fraction::ZERO) {
            let problem =
                format!("{name} \"0 %\" trips without loss; accepted: \"10 %\", up to \"100 %\"");
            return self.fail(&key, problem);
        }
        Ok(Some(spec))
    }
}
