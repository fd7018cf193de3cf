//! The round-trip time that CAKE assumes: a time, or a name that `tc-cake` has for one.

use schemars::JsonSchema;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use thalweg_path::CakeConfig;
use thalweg_units::{Duration, did_you_mean, quoted};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CakeRtt(pub Duration);

fn names() -> impl Iterator<Item = &'static str> + Clone {
    CakeConfig::PRESETS.iter().map(|(name, _)| *name)
}

fn accepted() -> String {
    let names: Vec<String> = names().map(|name| format!("\"{name}\"")).collect();
    format!("\"100 ms\", {}", names.join(", "))
}

impl FromStr for CakeRtt {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let known = CakeConfig::PRESETS.iter().find(|(name, _)| *name == text);
        if let Some((_, rtt)) = known {
            return Ok(CakeRtt(*rtt));
        }
        text.parse().map(CakeRtt).map_err(|_| {
            let hint = did_you_mean(text, names());
            format!(
                "{} is not a time{hint}; accepted: {}",
                quoted(text),
                accepted()
            )
        })
    }
}

impl<'de> Deserialize<'de> for CakeRtt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text)
    }
}

struct Text;

impl Visitor<'_> for Text {
    type Value = CakeRtt;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a text with a unit or a name, such as {}", accepted())
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<CakeRtt, E> {
        text.parse().map_err(E::custom)
    }
}

impl Serialize for CakeRtt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl JsonSchema for CakeRtt {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CakeRtt".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let examples: Vec<&str> = ["100 ms"].into_iter().chain(names()).collect();
        schemars::json_schema!({
            "type": "string",
            "description": "A round-trip time, or a name of tc-cake for one.",
            "examples": examples
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_the_times_of_tc_cake() {
        let read = |text: &str| text.parse::<CakeRtt>().map(|rtt| rtt.0);
        assert_eq!(read("oceanic"), Ok(Duration::from_millis(300)));
        assert_eq!(read("42 ms"), Ok(Duration::from_millis(42)));
        let error = read("oceanc").unwrap_err();
        assert!(
            error.contains("did you mean \"oceanic\"") && error.contains("\"lan\""),
            "{error}"
        );
    }
}
