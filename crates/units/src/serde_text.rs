//! Quantities as texts in scenario files, and their JSON schema.

use crate::{Bytes, Duration, Fraction, Instant, Rate};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// Reads any quantity from a text; a number is refused with the accepted forms.
struct Text<T>(PhantomData<T>, &'static str);

impl<T: FromStr<Err = crate::ParseError>> Visitor<'_> for Text<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a text with a unit, such as \"{}\"", self.1)
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

macro_rules! quantity_as_text {
    ($type:ident, $example:literal, $meaning:literal) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Text(PhantomData, $example))
            }
        }
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "description": $meaning,
                    "examples": [$example]
                })
            }
        }
    };
}

quantity_as_text!(
    Duration,
    "80 ms",
    "A duration with its unit: ns, us, ms, s, min, h."
);
quantity_as_text!(
    Rate,
    "20 Mbps",
    "A rate with its unit: bps, kbps, Mbps, Gbps, Tbps."
);
quantity_as_text!(
    Bytes,
    "10 MB",
    "A size with its unit: B, kB, MB, GB (decimal), KiB, MiB, GiB."
);
quantity_as_text!(Fraction, "1 %", "A fraction from 0 to 1, or a percentage.");

/// An instant is in no scenario; between processes it is nanoseconds since the start.
impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.as_nanos())
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u64::deserialize(deserializer).map(Instant::from_nanos)
    }
}
