//! Sizes of buffers: in bytes, packets or time, or in multiples of the bandwidth-delay product.

use schemars::JsonSchema;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use thalweg_path::Limit;
use thalweg_units::{Bytes, Duration, Rate, quoted};

const ACCEPTED: &str = "\"80 ms\", \"250 kB\", \"100 packets\", \"1 bdp\", \"unlimited\"";

/// Limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BufferSize {
    /// No limit.
    Unlimited,
    /// What the link carries in this time.
    Time(Duration),
    /// Bytes as links count them.
    Bytes(Bytes),
    /// Packets of any size.
    Packets(u64),
    /// Multiple of rate times round-trip time, in thousandths.
    Bdp(u64),
}

impl BufferSize {
    /// The limit of a link whose path starts with `rate` and `rtt`.
    pub fn limit(self, rate: Rate, rtt: Duration) -> Limit {
        match self {
            BufferSize::Unlimited => Limit::Unlimited,
            BufferSize::Time(span) => Limit::Time(span),
            BufferSize::Bytes(bytes) => Limit::Bytes(bytes),
            BufferSize::Packets(packets) => Limit::Packets(packets),
            BufferSize::Bdp(thousandths) => {
                Limit::Bytes(rate.bytes_in(rtt).mul_div(thousandths, 1000))
            }
        }
    }
}

impl FromStr for BufferSize {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        if trimmed == "unlimited" {
            return Ok(BufferSize::Unlimited);
        }
        let number = |unit: &str| trimmed.strip_suffix(unit).map(str::trim);
        let refuse =
            |problem: &str| Err(format!("{} {problem}; accepted: {ACCEPTED}", quoted(text)));
        if let Some(count) = number("packets").or_else(|| number("packet")) {
            return match count.parse() {
                Ok(count) if count > 0 => Ok(BufferSize::Packets(count)),
                _ => refuse("is not a number of packets above 0"),
            };
        }
        if let Some(multiple) = number("bdp").or_else(|| number("BDP")) {
            return match multiple.parse::<f64>() {
                Ok(multiple) if (0.001..=1e6).contains(&multiple) => {
                    Ok(BufferSize::Bdp((multiple * 1000.0 + 0.5) as u64))
                }
                _ => refuse("is not a multiple of the bandwidth-delay product above 0"),
            };
        }
        if let Ok(span) = trimmed.parse::<Duration>() {
            return if span.is_zero() {
                refuse("is 0")
            } else {
                Ok(BufferSize::Time(span))
            };
        }
        match trimmed.parse::<Bytes>() {
            Ok(bytes) if !bytes.is_zero() => Ok(BufferSize::Bytes(bytes)),
            Ok(_) => refuse("is 0"),
            Err(error) => Err(format!("{}; accepted: {ACCEPTED}", error.problem)),
        }
    }
}

impl fmt::Display for BufferSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BufferSize::Unlimited => f.write_str("unlimited"),
            BufferSize::Time(span) => span.fmt(f),
            BufferSize::Bytes(bytes) => bytes.fmt(f),
            BufferSize::Packets(packets) => write!(f, "{packets} packets"),
            BufferSize::Bdp(thousandths) => write!(f, "{} bdp", *thousandths as f64 / 1000.0),
        }
    }
}

impl<'de> Deserialize<'de> for BufferSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text)
    }
}

struct Text;

impl Visitor<'_> for Text {
    type Value = BufferSize;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a text with a unit, such as {ACCEPTED}")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<BufferSize, E> {
        text.parse().map_err(E::custom)
    }
}
impl Serialize for BufferSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
impl JsonSchema for BufferSize {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "BufferSize".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "A buffer: time at the current capacity, bytes, packets, multiples of the bandwidth-delay product of the path at the start, or unlimited.",
            "examples": ["80 ms", "250 kB", "100 packets", "1 bdp", "unlimited"]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bdp_is_rate_times_rtt() {
        let rate = "20 Mbps".parse().unwrap();
        let limit = "1.5 bdp"
            .parse::<BufferSize>()
            .unwrap()
            .limit(rate, Duration::from_millis(80));
        assert_eq!(limit, Limit::Bytes(Bytes::new(300_000))); // 2.5 MB/s * 0.08 s * 1.5
    }

    #[test]
    fn refusals_name_the_accepted_forms() {
        for text in ["80", "-1 MB", "0 ms", "zero packets", "0 bdp", "much"] {
            let error = text.parse::<BufferSize>().unwrap_err();
            assert!(
                error.contains(text) && error.contains("\"1 bdp\""),
                "{error}"
            );
        }
    }
}
