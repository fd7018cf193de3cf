//! Names of flows, streams of media, links, sources of traffic and tunnels.
//!
//! A name is a part of keys (`flow.NAME.start` of `--set`, `link.NAME up.utilisation` of a sweep), of options
//! (`NAME=CONTROLLER`) and of files. It has none of the characters that mean something there, and cannot be mistaken for
//! the index of an entry: it is a bare key of TOML that begins with a letter.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use thalweg_units::quoted;

const LONGEST: usize = 64;

/// A name that is unique among its kind, as `check/names.rs` makes sure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Name(String);

impl Name {
    fn read(text: &str) -> Result<Name, String> {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        let begins = text.starts_with(|letter: char| letter.is_ascii_alphabetic());
        if begins && text.len() <= LONGEST && text.chars().all(fits) {
            return Ok(Name(text.to_owned()));
        }
        let words: Vec<&str> = text
            .split(|letter| !fits(letter))
            .filter(|word| !word.is_empty())
            .collect();
        let joined = words.join("-");
        let like = joined.trim_start_matches(|letter: char| !letter.is_ascii_alphabetic());
        let like = &like[..like.len().min(LONGEST)];
        let like = if like.is_empty() { "main" } else { like };
        Err(format!(
            "{} is not a name; accepted: a letter of ASCII, then up to {} letters, digits, \"-\" and \"_\", such as \"{like}\"",
            quoted(text),
            LONGEST - 1
        ))
    }
}

impl Deref for Name {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Name::read(&text).map_err(D::Error::custom)
    }
}

impl JsonSchema for Name {
    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A letter of ASCII, then letters, digits, \"-\" and \"_\".",
            "type": "string",
            "pattern": "^[A-Za-z][A-Za-z0-9_-]*$",
            "maxLength": LONGEST
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Any text either comes back as it is, or the refusal proposes a name that is accepted.
        #[test]
        fn a_text_is_a_name_or_its_refusal_has_one(text in "\\PC{0,80}|[a-z .=_0-9-]{0,80}") {
            match Name::read(&text) {
                Ok(name) => prop_assert_eq!(&*name, text.as_str()),
                Err(problem) => {
                    let like = problem.rsplit('"').nth(1).unwrap_or_default();
                    prop_assert!(Name::read(like).is_ok(), "{}", problem);
                }
            }
        }
    }

    #[test]
    fn a_name_is_a_bare_key_of_toml_that_begins_with_a_letter() {
        for name in ["a", "main", "video-high", "f0", "A_b-3", &"n".repeat(64)] {
            assert!(Name::read(name).is_ok(), "{name}");
        }
        for (text, like) in [
            ("first user", "first-user"),
            ("a.b", "a-b"),
            ("a=b", "a-b"),
            ("a up", "a-up"),
            ("0", "main"),
            ("3rd", "rd"),
            ("-x", "x"),
            ("größer", "gr-er"),
            ("*", "main"),
            ("", "main"),
            (&"n".repeat(65), &"n".repeat(64)),
        ] {
            let problem = Name::read(text).unwrap_err();
            assert!(
                problem.ends_with(&format!("such as \"{like}\"")),
                "{problem}"
            );
        }
    }
}
