//! Numbers of packets in a script: one, or a range.

use schemars::JsonSchema;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use thalweg_units::quoted;

const ACCEPTED: &str = "a number such as 10, counted from 1, or a range such as \"10-12\"";

/// From a first to a last packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packets {
    pub first: u64,
    pub last: u64,
}

impl FromStr for Packets {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let number = |text: &str| text.trim().parse::<u64>().ok().filter(|number| *number > 0);
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Packets { first, last }),
            _ => Err(format!(
                "{} is not a range of packets; accepted: {ACCEPTED}",
                quoted(text)
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Packets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrText)
    }
}

struct NumberOrText;

impl Visitor<'_> for NumberOrText {
    type Value = Packets;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ACCEPTED)
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Packets, E> {
        match u64::try_from(number) {
            Ok(number) if number > 0 => Ok(Packets {
                first: number,
                last: number,
            }),
            _ => Err(E::custom(format!(
                "{number} is not a packet; accepted: {ACCEPTED}"
            ))),
        }
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Packets, E> {
        text.parse().map_err(E::custom)
    }
}

impl Serialize for Packets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Packets { first, last } = *self;
        serializer.collect_str(&format_args!("{first}-{last}"))
    }
}

impl JsonSchema for Packets {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Packets".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A number of a packet, counted from 1, or a range of them.",
            "anyOf": [
                { "type": "integer", "minimum": 1 },
                { "type": "string", "pattern": "^ *[0-9]+ *(- *[0-9]+ *)?$", "examples": ["10-12"] }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_number_or_a_range_from_one_on() {
        let read = |text: &str| {
            text.parse::<Packets>()
                .map(|range| (range.first, range.last))
        };
        assert_eq!(read("10-12"), Ok((10, 12)));
        assert_eq!(read(" 7 - 7 "), Ok((7, 7)));
        assert_eq!(read("3"), Ok((3, 3)));
        for text in ["", "0", "0-4", "12-10", "1-2-3", "-3", "ten", "1..3", "1.5"] {
            let error = read(text).unwrap_err();
            assert!(
                error.contains("is not a range of packets; accepted: a number such as 10"),
                "{error}"
            );
        }
    }
}
