//! What a scenario can name, and what one says.

use crate::{Answered, Problem};
use serde_json::{Map, Value, json};
use thalweg_columns::descriptions;
use thalweg_control::Registry;
use thalweg_sim::Scenario;
use thalweg_units::{Bytes, Duration, Fraction, Rate};

/// The version of the engine, the controllers, the models of the path, and the JSON schema of a scenario file.
pub(crate) fn about() -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "controllers": descriptions::controllers(&Registry::standard()),
        "models": descriptions::models(),
        "schema": thalweg_sim::json_schema(),
    })
}

/// A scenario as it runs, with what the page has set: its text, the keys and values in it, criteria, and flows. Targets and
/// floors are in seconds, bits per second or parts of 1; flows start, before noise, in seconds.
pub(crate) fn of(scenario: &Scenario) -> Answered {
    let failed = |error: toml::de::Error| Problem::Failed(error.to_string());
    let values: toml::Table = toml::from_str(scenario.toml()).map_err(failed)?;
    let values = json!(values);
    let mut amounts = Map::new();
    collect("", &values, &mut amounts);
    let flows = scenario.flows.iter();
    let starts: Map<String, Value> = flows
        .map(|flow| (flow.name.clone(), json!(flow.start.as_secs_f64())))
        .collect();
    let names: Vec<&str> = scenario.flows.iter().map(|flow| &*flow.name).collect();
    Ok(json!({
        "title": scenario.title,
        "toml": scenario.toml(),
        "values": values,
        "amounts": amounts,
        "criteria": descriptions::criteria(scenario),
        "floorS": scenario.floor().map(Duration::as_secs_f64),
        "flows": names,
        "startsS": starts,
    }))
}

/// The number of each text that is a quantity, by its key: `path.rate`, `flow.0.start`.
fn collect(key: &str, value: &Value, amounts: &mut Map<String, Value>) {
    let below = |name: &str| match key {
        "" => name.to_owned(),
        _ => format!("{key}.{name}"),
    };
    match value {
        Value::String(text) => {
            if let Some(number) = amount(text) {
                amounts.insert(key.to_owned(), json!(number));
            }
        }
        Value::Object(entries) => {
            for (name, inner) in entries {
                collect(&below(name), inner, amounts);
            }
        }
        Value::Array(entries) => {
            for (index, inner) in entries.iter().enumerate() {
                collect(&below(&index.to_string()), inner, amounts);
            }
        }
        _ => {}
    }
}

/// The number that a quantity stands for: of a rate in bits per second, of a time in seconds, of a size in bytes, of a
/// fraction in parts of 1.
fn amount(text: &str) -> Option<f64> {
    let rate = text.parse().map(|rate: Rate| rate.as_bits_per_sec() as f64);
    let time = || text.parse().map(Duration::as_secs_f64);
    let size = || text.parse().map(|size: Bytes| size.as_u64() as f64);
    let share = || text.parse().map(Fraction::as_f64);
    rate.or_else(|_| time())
        .or_else(|_| size())
        .or_else(|_| share())
        .ok()
}
