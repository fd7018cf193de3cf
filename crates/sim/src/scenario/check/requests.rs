//! `requests` of a `[[flow]]`: rounds of downloads.

use super::Checker;
use crate::scenario::error::ScenarioError;
use crate::scenario::flow::{Arrivals, Lengths, Pace};
use crate::scenario::limits::STREAMS;
use crate::scenario::schema;
use crate::scenario::{Clock, Workload};
use thalweg_units::Bytes;

impl Checker<'_> {
    pub(super) fn requests(
        &self,
        index: usize,
        given: &schema::Requests,
        request: Bytes,
    ) -> Result<Workload, ScenarioError> {
        let key = |name: &str| format!("flow.{index}.requests.{name}");
        for (name, number, most) in [
            ("count", given.count, 100_000),
            ("users", given.users, 100_000),
            ("parallel", given.parallel, 100_000),
            ("objects", given.objects, STREAMS),
        ] {
            if !(1..=most).contains(&number) {
                let problem = format!("{number} is out of range; accepted: 1 to {most}");
                return self.fail(&key(name), problem);
            }
        }
        let pace = self.pace(index, given)?;
        let is_sequence = given.objects > 1 || matches!(pace, Pace::Closed { .. });
        if let (Clock::Real(_), true) = (self.clock, is_sequence) {
            let name = if given.objects > 1 {
                "objects"
            } else {
                "mean_idle"
            };
            let problem = format!("{name} cannot be combined with real time");
            return self.fail(&key(name), problem);
        }
        Ok(Workload::Requests(Arrivals {
            count: given.count,
            users: given.users,
            parallel: given.parallel,
            objects: given.objects,
            pace,
            gap: given.gap,
            lengths: self.lengths(index, given)?,
            request,
        }))
    }

    fn pace(&self, index: usize, given: &schema::Requests) -> Result<Pace, ScenarioError> {
        let table = format!("flow.{index}.requests");
        let idle_first = given.idle_first;
        match (given.mean_gap, given.mean_idle) {
            (Some(mean_gap), None) if !idle_first => Ok(Pace::Open { mean_gap }),
            (Some(_), None) => {
                let problem = "idle_first requires mean_idle: with gaps, nothing is idle";
                self.fail(&format!("{table}.idle_first"), problem)
            }
            (None, Some(mean_idle)) => Ok(Pace::Closed {
                mean_idle,
                idle_first,
            }),
            (None, None) => {
                let problem = "there is neither a gap nor an idle time; accepted: mean_gap = \"50 ms\", from start to start, or mean_idle = \"10 s\", from end to start";
                self.fail(&table, problem)
            }
            (Some(_), Some(_)) => {
                let problem = "mean_idle cannot be combined with mean_gap; a round starts after the start of the one before, or after its end";
                self.fail(&format!("{table}.mean_idle"), problem)
            }
        }
    }

    fn lengths(&self, index: usize, given: &schema::Requests) -> Result<Lengths, ScenarioError> {
        let table = format!("flow.{index}.requests");
        let (low, high, names) = match (given.p5, given.p95, given.least, given.most) {
            (Some(low), Some(high), None, None) => (low, high, ["p5", "p95"]),
            (None, None, Some(low), Some(high)) => (low, high, ["least", "most"]),
            (None, None, None, None) => {
                let problem = "there are no lengths; accepted: p5 = \"2 kB\" and p95 = \"200 kB\", or least = \"30 kB\" and most = \"50 kB\"";
                return self.fail(&table, problem);
            }
            (low, high, least, most) => {
                let is_both =
                    (low.is_some() || high.is_some()) && (least.is_some() || most.is_some());
                let problem = match is_both {
                    true => {
                        "p5 and p95 cannot be combined with least and most; lengths are log-normal or uniform"
                    }
                    false => "p5 requires p95, and least requires most",
                };
                return self.fail(&table, problem);
            }
        };
        if low.is_zero() {
            let problem = "\"0 B\" is too small; accepted: \"1 B\" or more";
            return self.fail(&format!("{table}.{}", names[0]), problem);
        }
        if high < low {
            let problem = format!(
                "\"{high}\" is below {}; accepted: at least \"{low}\"",
                names[0]
            );
            return self.fail(&format!("{table}.{}", names[1]), problem);
        }
        Ok(match names[0] {
            "p5" => Lengths::LogNormal { p5: low, p95: high },
            _ => Lengths::Uniform {
                least: low,
                most: high,
            },
        })
    }
}
