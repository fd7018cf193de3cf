//! `--set KEY=VALUE` and `--controller FLOW=NAME`: changes to a scenario before it is read.

use crate::error::ScenarioError;
use toml::{Table, Value};

/// Sets `key` (`path.rate`, `flow.main.start`, `path.change.0.at`) to `text`. Flows are named, other lists
/// are counted from 0. A text that is TOML is taken as such, anything else as a string.
pub(crate) fn set(document: &mut Table, key: &str, text: &str) -> Result<(), ScenarioError> {
    let fail = |problem: String| ScenarioError {
        origin: format!("--set {key}={text}"),
        line: None,
        key: None,
        problem,
    };
    let value = parse(text);
    let mut segments = key.split('.').map(str::trim).peekable();
    let mut root = Value::Table(std::mem::take(document));
    let mut place = &mut root;
    let mut walked = String::new();
    let result = loop {
        let Some(segment) = segments.next() else {
            break Ok(());
        };
        if segment.is_empty() {
            break Err(fail(
                "the key has an empty part; accepted: path.rate=\"10 Mbps\"".into(),
            ));
        }
        let last = segments.peek().is_none();
        match place {
            Value::Table(table) => {
                let entry = table
                    .entry(segment)
                    .or_insert_with(|| Value::Table(Table::new()));
                if last {
                    *entry = value;
                    break Ok(());
                }
                place = entry;
            }
            Value::Array(items) => {
                let names: Vec<String> = items.iter().enumerate().map(name_of).collect();
                let found = names
                    .iter()
                    .position(|name| name == segment)
                    .or_else(|| segment.parse().ok().filter(|index| *index < items.len()));
                let Some(index) = found else {
                    let accepted = names.join(", ");
                    break Err(fail(format!(
                        "{walked} has no entry \"{segment}\"; accepted: {accepted}"
                    )));
                };
                if last {
                    items[index] = value;
                    break Ok(());
                }
                place = &mut items[index];
            }
            _ => {
                break Err(fail(format!(
                    "{walked} is a value and has no key \"{segment}\"; accepted: {walked}=VALUE"
                )));
            }
        }
        walked = if walked.is_empty() {
            segment.into()
        } else {
            format!("{walked}.{segment}")
        };
    };
    if let Value::Table(table) = root {
        *document = table;
    }
    result
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
        assert_eq!(table["path"]["rate"].as_str(), Some("10 Mbps"));
        assert_eq!(table["flow"][0]["streams"].as_integer(), Some(3));
        assert_eq!(table["path"]["jitter"]["mean"].as_str(), Some("7 ms"));
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
