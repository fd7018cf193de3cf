//! Bounds of criteria: a quantity, or a multiple of what the path of the flow has at the start.

use super::Checker;
use crate::scenario::error::ScenarioError;
use crate::scenario::hop::{Direction, Hop};
use crate::scenario::{Amount, Bound, FlowSpec, Metric, Unit, schema};
use thalweg_units::{Duration, Rate};

/// The path of a flow at the start of a trial, in the direction of its data.
pub(super) struct PathAtStart {
    /// Without queues and jitter.
    rtt: Duration,
    /// The least one of its links.
    rate: Rate,
}

impl PathAtStart {
    pub(super) fn of(flow: &FlowSpec, hops: &[Hop]) -> Self {
        let links = |direction| (flow.route.iter()).map(move |hop| &hops[*hop].links[direction]);
        let delays = Direction::BOTH.into_iter().flat_map(links);
        let of_data = flow.workload.senders().map(Direction::from);
        let rates = of_data.flat_map(links).map(|link| link.rate_at_start());
        PathAtStart {
            rtt: delays.fold(Duration::ZERO, |rtt, link| rtt + link.delay),
            rate: rates.min().unwrap_or(Rate::ZERO),
        }
    }

    /// A bound such as "3 rtt", "0.98 rate" or "2 bdp", if the metric has this unit.
    fn multiple(&self, text: &str, unit: Unit) -> Option<Amount> {
        let takes = |asked: Unit| unit == asked || unit == Unit::Number;
        let factor = |name: &str| {
            let number = text.trim().strip_suffix(name)?.trim_end().parse::<f64>();
            number.ok().filter(|factor| (0.0..=1e6).contains(factor))
        };
        if let Some(factor) = factor("rtt").filter(|_| takes(Unit::Time)) {
            let time = self.rtt.as_secs_f64() * factor;
            return Some(Amount::Time(Duration::from_secs_f64(time)));
        }
        let bps = self.rate.as_bits_per_sec() as f64;
        if let Some(factor) = factor("rate").filter(|_| takes(Unit::Rate)) {
            let rate = (bps * factor).round() as u64;
            return Some(Amount::Rate(Rate::from_bits_per_sec(rate)));
        }
        let factor = factor("bdp").filter(|_| takes(Unit::Bytes))?;
        let thousandths = (factor * 1000.0).round() as u64;
        let bdp = self.rate.bytes_in(self.rtt);
        Some(Amount::Bytes(bdp.mul_div(thousandths, 1000)))
    }
}

impl Checker<'_> {
    /// One bound, in the unit of the metric.
    pub(super) fn bound(
        &self,
        index: usize,
        pass: &schema::Pass,
        metric: Metric,
        path: &PathAtStart,
    ) -> Result<Bound, ScenarioError> {
        let (name, text) = match (&pass.at_most, &pass.at_least) {
            (Some(bound), None) => ("at_most", &bound.0),
            (None, Some(bound)) => ("at_least", &bound.0),
            (given, _) => {
                let example = match metric.unit() {
                    Unit::Time => "at_most = \"5 s\"",
                    Unit::Rate => "at_least = \"10 Mbps\"",
                    Unit::Share => "at_most = \"1 %\"",
                    Unit::Bytes => "at_most = \"64 kB\"",
                    Unit::Count => "at_most = \"0\"",
                    Unit::Number => "at_most = \"0.5\"",
                    Unit::Score => "at_least = \"3.5\"",
                };
                let problem = match given {
                    None => format!("there is no bound; accepted: {example}"),
                    Some(_) => "at_most cannot be combined with at_least; use another [[pass]] for the second bound".to_owned(),
                };
                return self.fail(&format!("pass.{index}"), problem);
            }
        };
        let amount = match path.multiple(text, metric.unit()) {
            Some(amount) => Ok(amount),
            None => Amount::read(text, metric.unit()),
        };
        match amount {
            Ok(amount) if name == "at_most" => Ok(Bound::AtMost(amount)),
            Ok(amount) => Ok(Bound::AtLeast(amount)),
            Err(error) => self.fail(&format!("pass.{index}.{name}"), error.to_string()),
        }
    }
}
