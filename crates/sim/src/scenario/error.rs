//! One clear message for a scenario that cannot be run.

use std::borrow::Cow;
use std::fmt;
use thalweg_units::{brief, visible};

/// Why a scenario is refused: where, what, and which forms are accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError {
    /// File name, or the command-line option of the value.
    pub origin: String,
    /// Line, counted from 1, if the error is in the file.
    pub line: Option<usize>,
    /// The key in question, for example `path.rate`, with the text of its line where that helps.
    pub key: Option<String>,
    /// What is wrong, and the accepted forms.
    pub problem: String,
}

impl ScenarioError {
    /// Reports the value of a key, `flow.1.controller`, of the file `origin`, at its line. Lines of a file that
    /// `--set` has changed are meaningless: then the `--set` options replace the line.
    pub fn at(
        text: &str,
        origin: &str,
        sets: &[(String, String)],
        key: &str,
        problem: impl Into<String>,
    ) -> Self {
        ScenarioError {
            origin: with_sets(origin, sets),
            line: line_of_key(text, key).filter(|_| sets.is_empty()),
            key: Some(key.to_owned()),
            problem: problem.into(),
        }
    }

    /// Reports a command-line option: `--controller main=c9`.
    pub fn of_option(option: String, problem: impl Into<String>) -> Self {
        ScenarioError {
            origin: brief(&option, LINE).into_owned(),
            line: None,
            key: None,
            problem: problem.into(),
        }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.origin))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        f.write_str(": ")?;
        if let Some(key) = &self.key {
            write!(f, "{}: ", visible(&brief(key, LINE + 2)))?;
        }
        f.write_str(&visible(&shortened(&self.problem)))
    }
}

/// Most characters of a line or option in a message.
pub(crate) const LINE: usize = 120;
/// Most characters of a quoted value.
const VALUE: usize = 60;
/// Most characters at the beginning and at the end of a message, which says what is accepted.
const BEGINNING: usize = 800;
const END: usize = 400;

/// A message with long quoted values cut, and never longer than a screen.
fn shortened(message: &str) -> Cow<'_, str> {
    if message.chars().nth(VALUE).is_none() {
        return Cow::Borrowed(message);
    }
    let parts = message.split('"').enumerate();
    let parts: Vec<_> = parts
        .map(|(position, part)| {
            let most = if position % 2 == 1 { VALUE } else { usize::MAX };
            brief(part, most)
        })
        .collect();
    let text = parts.join("\"");
    let length = text.chars().count();
    if length <= BEGINNING + END {
        return Cow::Owned(text);
    }
    let end: String = text.chars().skip(length - END).collect();
    Cow::Owned(format!("{} {end}", brief(&text, BEGINNING)))
}

/// The name in errors of a file that `--set` has changed.
pub(crate) fn with_sets(origin: &str, sets: &[(String, String)]) -> String {
    let named = sets
        .iter()
        .map(|(key, value)| format!(" --set {}={}", brief(key, LINE), brief(value, VALUE)));
    std::iter::once(origin.to_owned()).chain(named).collect()
}

/// The line, counted from 1, of byte `offset` in `text`.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}

/// Finds the line of a key, given as a path of names and indices (`path`, `change`, `0`, `at`), or of the
/// longest part of it that is there.
pub(crate) fn line_of_key(text: &str, path: &str) -> Option<usize> {
    let document = toml::de::DeTable::parse(text).ok()?;
    let mut table = Some(document.get_ref());
    let mut array: Option<&toml::de::DeArray<'_>> = None;
    let mut line = None;
    for segment in path.split('.') {
        let value = if let Some(items) = array.take() {
            items.get(segment.parse::<usize>().ok()?)
        } else if let Some(keys) = table.take() {
            let Some((key, value)) = keys.iter().find(|(key, _)| key.get_ref() == segment) else {
                break;
            };
            line = Some(line_of(text, key.span().start));
            Some(value)
        } else {
            break;
        };
        let Some(value) = value else { break };
        match value.get_ref() {
            toml::de::DeValue::Table(inner) => table = Some(inner),
            toml::de::DeValue::Array(items) => array = Some(items),
            _ => {}
        }
        if segment.parse::<usize>().is_ok() {
            line = Some(line_of(text, value.span().start));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_where_they_stand() {
        let text = "title = \"a\"\n[path]\nrate = \"1 Mbps\"\n[[flow]]\nname = \"main\"\n[[flow]]\nname = \"b\"\n";
        assert_eq!(line_of_key(text, "path.rate"), Some(3));
        assert_eq!(line_of_key(text, "flow.1.name"), Some(7));
        assert_eq!(line_of_key(text, "path.jitter"), Some(2));
        assert_eq!(line_of_key(text, "pass"), None);
    }

    #[test]
    fn a_message_is_short_however_long_the_value_is() {
        let say = |problem: &str| ScenarioError::of_option("--set a=b".into(), problem).to_string();
        let long = "x".repeat(12_000_000);
        let error = say(&format!("\"{long}\" is not a name; accepted: \"main\""));
        let sixty = "x".repeat(60);
        assert_eq!(
            error,
            format!("--set a=b: \"{sixty}…\" is not a name; accepted: \"main\"")
        );
        // Quotes within the value, and lists without quotes, are cut in the middle; the end stays.
        for value in ["\"".repeat(5_000), "one, ".repeat(5_000)] {
            let error = say(&format!("{value} is wrong; accepted: less"));
            assert!(error.chars().count() < 1_300, "{}", error.chars().count());
            assert!(error.ends_with("is wrong; accepted: less"), "{error}");
        }
        let option = ScenarioError::of_option(format!("--set a={long}"), "is wrong").to_string();
        assert!(option.chars().count() < 200);
    }
}
