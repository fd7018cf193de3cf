//! `--set KEY=VALUE` and `--controller FLOW=NAME`: changes to a scenario before it is read.

use super::known_keys::KnownKeys;
use super::schema::written_out;
use crate::scenario::error::ScenarioError;
use thalweg_units::did_you_mean;
use toml::{Table, Value};

/// Sets `key` (`path.rate`, `flow.main.start`, `path.change.0.at`, `flow.*.stack`) to `text`. Flows are selected by
/// name, other lists by index from 0, and `*` selects every entry of a list. Valid TOML is taken as
/// such, anything else as a string, and so is a number for a share.
pub(crate) fn set(document: &mut Table, key: &str, text: &str) -> Result<(), ScenarioError> {
    let segments: Vec<&str> = key.split('.').map(str::trim).collect();
    let mut value = parse(text);
    // A share is a text, which may be a bare number.
    let is_number = matches!(value, Value::Integer(_) | Value::Float(_));
    if is_number && KnownKeys::new().is_share(&segments) {
        value = Value::String(text.to_owned());
    }
    let mut root = Value::Table(std::mem::take(document));
    let result = place(&mut root, &segments, 0, &value);
    if let Value::Table(table) = root {
        *document = table;
    }
    result.map_err(|problem| ScenarioError::of_option(format!("--set {key}={text}"), problem))
}

/// Sets the value at `segments[depth..]` below `node`, or says why it cannot.
fn place(node: &mut Value, segments: &[&str], depth: usize, value: &Value) -> Result<(), String> {
    let Some(&segment) = segments.get(depth) else {
        *node = value.clone();
        return Ok(());
    };
    if segment.is_empty() {
        return Err("the key has an empty part; accepted: path.rate=\"10 Mbps\"".into());
    }
    let walked = segments[..depth].join(".");
    if let (Value::String(text), Some(key)) = (&*node, segments[..depth].last())
        && let Some(table) = written_out(key, text)
    {
        let own = |(key, text): (&str, &str)| (key.to_owned(), Value::String(text.to_owned()));
        *node = Value::Table(table.into_iter().map(own).collect());
    }
    match node {
        Value::Table(table) => {
            let next = table
                .entry(segment)
                .or_insert_with(|| Value::Table(Table::new()));
            place(next, segments, depth + 1, value)
        }
        Value::Array(items) if segment == "*" => items
            .iter_mut()
            .try_for_each(|item| place(item, segments, depth + 1, value)),
        Value::Array(items) => {
            let names: Vec<String> = items.iter().enumerate().map(name_of).collect();
            let found = names
                .iter()
                .position(|name| name == segment)
                .or_else(|| segment.parse().ok().filter(|index| *index < items.len()));
            let Some(index) = found else {
                let accepted = names.join(", ");
                let hint = did_you_mean(segment, names.iter().map(String::as_str));
                return Err(format!(
                    "{walked} has no entry \"{segment}\"{hint}; accepted: {accepted}, or * for all"
                ));
            };
            place(&mut items[index], segments, depth + 1, value)
        }
        _ => Err(format!(
            "{walked} is a value and has no key \"{segment}\"; accepted: {walked}=VALUE"
        )),
    }
}

fn name_of((index, item): (usize, &Value)) -> String {
    item.get("name")
        .and_then(Value::as_str)
        .map_or_else(|| index.to_string(), str::to_owned)
}

fn parse(text: &str) -> Value {
    toml::from_str::<Table>(&format!("v = {text}"))
        .ok()
        .and_then(|mut table| table.remove("v"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Table {
        toml::from_str("title = \"t\"\n[path]\nrate = \"1 Mbps\"\n[[flow]]\nname = \"main\"\n")
            .unwrap()
    }

    #[test]
    fn values_are_set_by_key_and_flows_by_name() {
        let mut table = document();
        set(&mut table, "path.rate", "10 Mbps").unwrap();
        set(&mut table, "flow.main.streams", "3").unwrap();
        set(
            &mut table,
            "path.jitter",
            "{ model = \"wifi\", mean = \"7 ms\" }",
        )
        .unwrap();
        set(&mut table, "path.loss", "0.01").unwrap();
        assert_eq!(table["path"]["loss"].as_str(), Some("0.01"));
        assert_eq!(table["path"]["rate"].as_str(), Some("10 Mbps"));
        assert_eq!(table["flow"][0]["streams"].as_integer(), Some(3));
        assert_eq!(table["path"]["jitter"]["mean"].as_str(), Some("7 ms"));
    }

    #[test]
    fn a_star_stands_for_every_entry_of_a_list() {
        let mut table = document();
        let second: Value = toml::from_str::<Table>("name = \"other\"").unwrap().into();
        table["flow"].as_array_mut().unwrap().push(second);
        set(&mut table, "flow.*.stack", "quic").unwrap();
        for flow in table["flow"].as_array().unwrap() {
            assert_eq!(flow["stack"].as_str(), Some("quic"));
        }
    }

    #[test]
    fn an_unknown_flow_is_refused_with_the_known_ones() {
        let mut table = document();
        let error = set(&mut table, "flow.other.streams", "3")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("\"other\"") && error.contains("accepted: main"),
            "{error}"
        );
        assert_eq!(table, document());
    }
}
