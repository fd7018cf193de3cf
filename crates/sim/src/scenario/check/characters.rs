//! Characters that are obeyed in the place of being shown, which no text of a scenario has: names, titles and refused
//! values reach terminals, pages and the commands of services of CI.

use crate::scenario::error::{ScenarioError, line_of};
use thalweg_units::find_obeyed;
use toml::{Table, Value};

/// Texts of one line, at the top of a file and in its criteria.
const ONE_LINE: [&str; 2] = ["title", "source"];

/// Refuses a key or a value of any TOML text that has such a character.
pub(in crate::scenario) fn check_word(word: &str) -> Result<(), String> {
    match find_obeyed(word, true) {
        Some((_, letter)) => Err(problem(letter)),
        None => Ok(()),
    }
}

/// Refuses one in the text of a file as it stands, comments included.
pub(in crate::scenario) fn check_text(text: &str, origin: &str) -> Result<(), ScenarioError> {
    match find_obeyed(text, true) {
        None => Ok(()),
        Some((at, letter)) => Err(ScenarioError {
            origin: origin.to_owned(),
            line: Some(line_of(text, at)),
            key: None,
            problem: problem(letter),
        }),
    }
}

/// Refuses one that escapes stand for, in keys and in values; `text` is the text of the file, for the line.
pub(in crate::scenario) fn check_values(
    table: &Table,
    text: &str,
    origin: &str,
) -> Result<(), ScenarioError> {
    let mut left: Vec<(String, &Value)> = (table.iter())
        .map(|(key, value)| (key.clone(), value))
        .collect();
    while let Some((path, value)) = left.pop() {
        let key = path.rsplit('.').next().unwrap_or_default();
        let found = find_obeyed(value.as_str().unwrap_or_default(), !ONE_LINE.contains(&key));
        if let Some((_, letter)) = find_obeyed(&path, false).or(found) {
            let problem = problem(letter);
            return Err(ScenarioError::at(text, origin, &[], &path, problem));
        }
        match value {
            Value::Table(inner) => {
                left.extend(
                    inner
                        .iter()
                        .map(|(key, value)| (format!("{path}.{key}"), value)),
                );
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                left.extend(items.map(|(index, item)| (format!("{path}.{index}"), item)));
            }
            _ => {}
        }
    }
    Ok(())
}

fn problem(letter: char) -> String {
    let code = u32::from(letter);
    match letter {
        '\n' | '\t' => {
            format!("has the character U+{code:04X}; accepted: a text in one line")
        }
        _ => format!(
            "has the character U+{code:04X}, which terminals and pages obey and do not show; accepted: text without control characters and those that change its direction"
        ),
    }
}
