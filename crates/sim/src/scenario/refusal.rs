//! What the reader of TOML and of types says, in the words of scenario files.

use crate::scenario::error::{LINE, ScenarioError, line_of};
use crate::scenario::guesses;
use crate::scenario::known_keys::KnownKeys;
use thalweg_units::{brief, did_you_mean};

pub(super) const TOO_DEEP: &str =
    "too many lists or tables inside each other; accepted: fewer levels";

/// Turns an error of the TOML reader into ours: line, the text of that line, and the problem.
pub(crate) fn refused(error: &toml::de::Error, text: &str, origin: &str) -> ScenarioError {
    let (line, shown) = line_shown(error, text);
    let message = (error.message().replace('`', "\""))
        .replace("unknown field ", "unknown key ")
        .replace("unknown variant ", "unknown value ");
    let known = KnownKeys::new();
    let choices = shown.map(key_of).and_then(|key| known.choices(key));
    // A list in the place of a table is read as its keys, one by one.
    let is_one = |line: &&str| line.starts_with("[[") && known.is_table(key_of(line));
    let problem = match (message.strip_prefix("missing field "), choices) {
        _ if shown.as_ref().is_some_and(is_one) => {
            let line = shown.unwrap_or_default();
            let name = line.trim_matches(['[', ']']).trim();
            format!("{} is one table: write [{name}]", key_of(line))
        }
        // The only required key of a choice is the one that chooses.
        (Some("\"model\""), Some(choices)) => {
            format!("the key \"model\" is missing here; accepted: {choices}")
        }
        (Some(field), _) => return missing(&known, field.trim_matches('"'), line, shown, origin),
        // What is wrong within a table may be any of its keys.
        (None, choices) => {
            let within = shown.is_some_and(|shown| shown.contains('{'));
            in_words(
                &message,
                choices.filter(|_| !within),
                shown.unwrap_or_default(),
            )
        }
    };
    at(line, shown, origin, problem)
}

/// A key that has no default and no value. `shown` is the line of its table.
fn missing(
    known: &KnownKeys,
    name: &str,
    line: Option<usize>,
    shown: Option<&str>,
    origin: &str,
) -> ScenarioError {
    let table = shown.map_or("", key_of);
    let example = known.example(table, name);
    let example = example.unwrap_or_else(|| format!("{name} = ..."));
    if known.is_needed_at_top(name) {
        let problem = format!("the key \"{name}\" is missing at the top; accepted: {example}");
        return at(line, None, origin, problem);
    }
    // The text of the short form names a model that needs more.
    let text = shown.and_then(|shown| shown.split_once('='));
    let model = text.and_then(|(_, text)| text.trim().strip_prefix('"')?.split('"').next());
    let problem = match model.and_then(|model| Some((model, known.with_model(table, model)?))) {
        Some((model, form)) => {
            format!("\"{model}\" requires \"{name}\": {table} = {form}")
        }
        None => format!("the key \"{name}\" is missing here; accepted: {example}"),
    };
    at(line, shown, origin, problem)
}

/// The same for a text that is not TOML, whatever its keys mean.
pub(super) fn not_toml(error: &toml::de::Error, text: &str, origin: &str) -> ScenarioError {
    let (line, shown) = line_shown(error, text);
    let problem = in_words(error.message(), None, shown.unwrap_or_default());
    at(line, shown, origin, problem)
}

fn line_shown<'t>(error: &toml::de::Error, text: &'t str) -> (Option<usize>, Option<&'t str>) {
    let line = error.span().map(|span| line_of(text, span.start));
    let shown = line.and_then(|line| text.lines().nth(line - 1));
    (line, shown.map(str::trim))
}

fn at(line: Option<usize>, shown: Option<&str>, origin: &str, problem: String) -> ScenarioError {
    ScenarioError {
        origin: origin.to_owned(),
        line,
        key: shown.map(|shown| format!("`{}`", brief(shown, LINE))),
        problem,
    }
}

/// The key that a line of TOML is about: the key of a value, or the last part of the name of a table.
fn key_of(line: &str) -> &str {
    let key = line.split('=').next().unwrap_or_default();
    let name = key.trim().trim_matches(['[', ']']);
    name.rsplit('.').next().unwrap_or_default().trim()
}

/// What was found and what is accepted. `choices` are the choices of the key in question, if it has any; `line` is its line.
fn in_words(message: &str, choices: Option<String>, line: &str) -> String {
    if message == "duplicate key" {
        return twice(line);
    }
    if message == "wanted string or table" {
        let accepted = choices.unwrap_or_else(|| "a text in quotes".to_owned());
        return format!("is neither a text nor a table; accepted: {accepted}");
    }
    if message == "recursion limit" || message.starts_with("cannot recurse further") {
        return TOO_DEEP.to_owned();
    }
    if let Some(found) = message.strip_suffix(", there are no fields") {
        return format!("{found}; accepted: no other key, as this choice has none");
    }
    let Some((found, expected)) = message.split_once(", expected ") else {
        return message.to_owned();
    };
    // The reader takes integers of 64 bits.
    if let Some(value) = found.strip_suffix("\" as i128") {
        let value = value.rsplit('"').next().unwrap_or_default();
        return format!("{value} has too many digits; accepted: a whole number of at most 18");
    }
    if let Some(name) = found.strip_prefix("unknown key ") {
        return unknown_key(name.trim_matches('"'), expected);
    }
    if expected == "a sequence" {
        return not_a_list(found, line);
    }
    let accepted = match expected {
        "a string" | "string" | "literal string" | "string or map" | "a string or map"
        | "variant identifier" => "a text in quotes",
        "a boolean" => "true or false",
        "u8" => "a whole number from 0 to 255",
        "u32" | "u64" => "a whole number, 0 or more",
        "f64" => "a number",
        "a tuple of size 2" => "two times, such as [\"40 s\", \"60 s\"]",
        // Tables, whose type has a name of its own.
        _ if expected.starts_with("struct ") => "a table of keys",
        _ if expected.starts_with("internally tagged enum ") => "a table with a model",
        expected => expected,
    };
    let is_type = found.starts_with("invalid type");
    let mut found = value_in_words(found, expected);
    if let Some(value) = found.strip_prefix("unknown value ") {
        found += &did_you_mean(value.trim_matches('"'), quoted(expected));
    }
    match choices {
        // What is unknown is refused with the known ones already.
        Some(choices) if is_type => format!("{found}; accepted: {choices}"),
        _ => format!("{found}; accepted: {accepted}"),
    }
}

/// A key or a table that stands above already.
fn twice(line: &str) -> String {
    match line.split_once('=') {
        Some((key, _)) => format!("\"{}\" comes twice here; accepted: once", key.trim()),
        // The first of several has single brackets.
        None if line.starts_with("[[") => not_a_list("map", line),
        None => format!("{line} comes twice; accepted: once"),
    }
}

/// A value of the wrong type.
fn value_in_words(found: &str, expected: &str) -> String {
    let kinds = ["invalid type: ", "invalid value: "];
    let Some(what) = kinds.iter().find_map(|kind| found.strip_prefix(kind)) else {
        return found.to_owned();
    };
    let (kind, value) = what.split_once(" \"").unwrap_or((what, ""));
    let value = value.trim_end_matches('"');
    let wants_unit = expected.contains("with a unit");
    match kind {
        "integer" if expected.starts_with('u') => format!("{value} is not in range"),
        "integer" | "floating point" if wants_unit => format!("{value} has no unit"),
        "integer" | "floating point" => format!("{value} is a number"),
        "boolean" => format!("{value} is neither a text nor a number"),
        "string" => format!("\"{value}\" is a text"),
        "map" => "this is a table".to_owned(),
        "sequence" => "this is a list".to_owned(),
        _ => found.to_owned(),
    }
}

/// A key that is not known here, and perhaps elsewhere.
fn unknown_key(name: &str, expected: &str) -> String {
    let known: Vec<&str> = quoted(expected).collect();
    let mut hint = guesses::hint(name, known.iter().copied());
    // At the top of a file stands what no other table has.
    if hint.is_empty() && known.contains(&"title") {
        let keys = KnownKeys::new();
        let guess = guesses::guessed(name, |ours| keys.home(ours).is_some());
        let (ours, remark) = guess.unwrap_or((name, ""));
        let home = keys.home(ours);
        hint = home.map_or(hint, |home| format!(" (did you mean \"{home}\"{remark}?)"));
    }
    format!("unknown key \"{name}\"{hint}; accepted: {expected}")
}

/// The names in quotes of a list of them.
fn quoted(names: &str) -> impl Iterator<Item = &str> {
    names.split('"').skip(1).step_by(2)
}

/// Something in the place of a list: most often a table whose name has single brackets.
fn not_a_list(found: &str, line: &str) -> String {
    if !found.ends_with("map") {
        let found = value_in_words(found, "a list");
        return format!("{found}; accepted: a list in square brackets");
    }
    // Within a choice, only the line of the choice is known.
    let is_within = line.contains('{') || KnownKeys::new().choices(key_of(line)).is_some();
    if is_within {
        return "a table stands in the place of a list; accepted: a list of tables, [{ ... }]"
            .to_owned();
    }
    let name = line.split('=').next().unwrap_or_default();
    let name = name.trim().trim_matches(['[', ']']).trim();
    let several = match key_of(line) {
        "flow" => "flows are a list",
        "link" => "links are a list",
        "change" => "changes are a list",
        "media" => "streams of media are a list",
        "pass" => "pass criteria are a list",
        _ => "this is a list of tables",
    };
    format!("{several}: write [[{name}]]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_line_is_that_of_its_value_or_its_table() {
        for (line, key) in [
            ("loss = 3", "loss"),
            ("path.loss={ }", "loss"),
            ("[path.up.jitter]", "jitter"),
            ("[[flow]]", "flow"),
            ("", ""),
        ] {
            assert_eq!(key_of(line), key, "{line}");
        }
    }
}
