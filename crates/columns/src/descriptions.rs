//! What a scenario can name, and what it asks for, as JSON: controllers, models of the path, metrics, criteria.
//!
//! Python and web pages show the same descriptions; each turns this value into its own objects.

use serde_json::{Value, json};
use thalweg_control::Registry;
use thalweg_sim::{Better, Bound, LimitedBy, Metric, Scenario};
use thalweg_units::Duration;

/// The controllers of a registry: name, purpose, title, source and options of each.
pub fn controllers(registry: &Registry) -> Vec<Value> {
    let entries = registry.entries().iter().map(|entry| {
        let options = entry.options.iter().map(|option| {
            json!({
                "name": option.name,
                "accepted": registry.accepted(entry, option),
                "default": option.default,
                "meaning": option.meaning,
            })
        });
        json!({
            "name": entry.name,
            "purpose": entry.purpose.name(),
            "title": entry.title,
            "source": entry.source,
            "options": options.collect::<Vec<_>>(),
        })
    });
    entries.collect()
}

/// The models of the path: kind, name, title and source of each.
pub fn models() -> Vec<Value> {
    let models = thalweg_path::models();
    let entries = models.iter().map(|model| {
        json!({
            "kind": model.kind.name(),
            "name": model.name,
            "title": model.title,
            "source": model.source,
        })
    });
    entries.collect()
}

/// The metrics that a criterion can bound: name, unit, what it is a number of, column of the outcomes, better end,
/// workloads that it compares, whether only virtual time measures it, whether it is a time from the start of the trial,
/// whether a flow that does not finish has it, meaning, and what a criterion has to name of each.
pub fn metrics() -> Vec<Value> {
    let entries = Metric::ALL.iter().map(|metric| {
        json!({
            "name": metric.name(),
            "unit": metric.unit().name(),
            "of": match metric {
                metric if metric.is_of_media() => "stream",
                metric if metric.is_of_controller() => "controller",
                metric if metric.is_of_link() => "link",
                _ => "flow",
            },
            "column": metric.column(),
            "better": metric.better().map(Better::name),
            "compares": metric.compares(),
            "virtual_only": metric.is_virtual_only(),
            "from_start": metric.is_end(),
            "until_the_end": metric.is_until_the_end(),
            "meaning": metric.meaning(),
            "by": limits_of(*metric),
        })
    });
    entries.collect()
}

/// What a criterion on limits names: the column and the meaning of each, by name; empty for any other metric.
fn limits_of(metric: Metric) -> Value {
    let limits = LimitedBy::ALL
        .into_iter()
        .filter(|_| metric == Metric::Limited);
    limits
        .map(|by| json!({ "name": by.name(), "column": by.column(), "meaning": by.meaning() }))
        .collect()
}

/// The criteria of a scenario: flow, metric, stream, column, unit, at_most, at_least, in, floor, source and informative of
/// each. Bounds and floors are in seconds, bits per second, or shares of 1.
pub fn criteria(scenario: &Scenario) -> Vec<Value> {
    let entries = scenario.criteria.iter().map(|criterion| {
        let (at_most, at_least) = match criterion.bound {
            Bound::AtMost(amount) => (Some(amount.as_f64()), None),
            Bound::AtLeast(amount) => (None, Some(amount.as_f64())),
        };
        json!({
            "flow": scenario.flows[criterion.flow].name,
            "metric": criterion.title(),
            "stream": criterion.stream,
            "column": criterion.column(),
            "unit": criterion.unit().name(),
            "until_the_end": scenario.judges_until_the_end(criterion),
            "at_most": at_most,
            "at_least": at_least,
            "in": criterion.within.as_f64(),
            "floor": criterion.floor.map(Duration::as_secs_f64),
            "source": criterion.source,
            "informative": criterion.informative,
        })
    });
    entries.collect()
}
