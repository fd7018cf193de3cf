//! What the reader of TOML and of types says, in the words of scenario files.

use crate::scenario::error::{LINE, ScenarioError, line_of};
use crate::scenario::schema::ScenarioFile;
use thalweg_units::brief;

/// Turns an error of the TOML reader into ours: line, the text of that line, and the problem.
pub(crate) fn refused(error: &toml::de::Error, text: &str, origin: &str) -> ScenarioError {
    let line = error.span().map(|span| line_of(text, span.start));
    let shown = line
        .and_then(|line| text.lines().nth(line - 1))
        .map(str::trim);
    let message = (error.message().replace('`', "\""))
        .replace("unknown field ", "unknown key ")
        .replace("unknown variant ", "unknown value ");
    let choices = shown.map(key_of).and_then(choices);
    let problem = match (message.strip_prefix("missing field "), choices) {
        // The only required key of a choice is the one that chooses.
        (Some("\"model\""), Some(choices)) => {
            format!("the key \"model\" is missing here; accepted: {choices}")
        }
        (Some(field), _) => {
            let name = field.trim_matches('"');
            format!("the key {field} is missing here; accepted: {name} = ...")
        }
        // What is wrong within a table may be any of its keys.
        (None, choices) => {
            let within = shown.is_some_and(|shown| shown.contains('{'));
            in_words(&message, choices.filter(|_| !within))
        }
    };
    ScenarioError {
        origin: origin.to_owned(),
        line,
        key: shown.map(|shown| format!("`{}`", brief(shown, LINE))),
        problem,
    }
}

/// The key that a line of TOML is about: that of a value, or the last part of the name of a table.
fn key_of(line: &str) -> &str {
    let key = line.split('=').next().unwrap_or_default();
    let name = key.trim().trim_matches(['[', ']']);
    name.rsplit('.').next().unwrap_or_default().trim()
}

/// What was found and what is accepted. `choices` are those of the key in question, if it has any.
fn in_words(message: &str, choices: Option<String>) -> String {
    if message == "wanted string or table" {
        let accepted = choices.unwrap_or_else(|| "a text in quotes".to_owned());
        return format!("is neither a text nor a table; accepted: {accepted}");
    }
    let Some((found, expected)) = message.split_once(", expected ") else {
        return message.to_owned();
    };
    let expected = match expected {
        "a sequence" => "a list, or tables with their name in double brackets",
        "a string" | "string" | "string or map" | "a string or map" => "a text in quotes",
        "a boolean" => "true or false",
        "u8" => "a whole number from 0 to 255",
        "u32" | "u64" => "a whole number, 0 or more",
        // Tables, whose type has a name of its own.
        _ if expected.starts_with("struct ") => "a table of keys",
        _ if expected.starts_with("internally tagged enum ") => "a table with a model",
        expected => expected,
    };
    match choices {
        // What is unknown is refused with the known ones already.
        Some(choices) if found.starts_with("invalid type") => {
            format!("{found}; accepted: {choices}")
        }
        _ => format!("{found}; accepted: {expected}"),
    }
}

/// What a key that leaves a choice accepts: the models of `loss`, the words of `stack`. None for any other key.
fn choices(key: &str) -> Option<String> {
    let schema = schemars::schema_for!(ScenarioFile);
    let types = schema.as_value().get("$defs")?.as_object()?;
    let property = (types.values()).find_map(|kind| kind.get("properties")?.get(key))?;
    // An optional key is one of its type and null.
    let kind = match property.get("anyOf") {
        Some(several) => several.get(0)?,
        None => property,
    };
    let name = kind.get("$ref")?.as_str()?.rsplit('/').next()?;
    let variants = types.get(name)?.get("oneOf")?.as_array()?;
    let named = |place: &str| -> Option<String> {
        let names = variants
            .iter()
            .map(|variant| variant.pointer(place)?.as_str());
        let names = names.collect::<Option<Vec<&str>>>()?;
        Some(format!("\"{}\"", names.join("\", \"")))
    };
    let models =
        named("/properties/model/const").map(|names| format!("a table with model = {names}"));
    models.or_else(|| named("/const"))
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
