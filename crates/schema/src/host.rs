//! The key `host` of a `[[flow]]`.

use crate::buffer_size::BufferSize;
use schemars::JsonSchema;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use thalweg_units::{Bytes, Duration, did_you_mean, quoted};

/// What the hosts at both ends do to packets and timers. A key that is not given is as the model has it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// What the other keys differ from; without it, the host that `rules` of `[transport]` have.
    #[serde(default, skip_serializing_if = "HostModel::is_of_rules")]
    pub model: HostModel,
    /// "each" packet when it arrives, "all" that has arrived before an answer, or all within a time after the first.
    pub reads: Option<Reads>,
    /// How much is sent at once: "auto", or a constant number of packets or bytes.
    pub bundle: Option<BundleSize>,
    /// Whether a controller that sets no pacing rate is paced, as `pacing` of `[transport]`.
    pub pacing: Option<bool>,
    /// Timers fire at multiples of this time; "0 s" for exact ones.
    pub timer: Option<Duration>,
    /// Each wake-up of a paced sender is late by up to this much, as `wakeup` of `[noise]`.
    pub lateness: Option<Duration>,
    /// How often the controller of the sender hears of acknowledgements: of "each", or in reports, after "1 rtt" or a time.
    #[schemars(example = &"1 rtt")]
    pub reports: Option<String>,
}

/// A kind of host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostModel {
    /// No model is named.
    #[default]
    #[serde(skip)]
    OfRules,
    /// It reads each packet when it arrives and sends each by itself, and its timers are exact.
    Ideal,
    /// It reads all that has arrived, sends in bundles that follow the rate, as TCP, and paces no controller without a rate.
    Linux,
    /// It reads all that has arrived, as the simulator of picoquic.
    Picoquic,
}

impl HostModel {
    fn is_of_rules(&self) -> bool {
        *self == HostModel::OfRules
    }
}

/// A text with a few words that mean something.
macro_rules! text {
    ($kind:ident, $examples:expr, $words:expr) => {
        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $kind;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "a text such as {}", $examples)
                    }
                    fn visit_str<E: Error>(self, text: &str) -> Result<$kind, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }
        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl JsonSchema for $kind {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($kind).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "examples": $words })
            }
        }
    };
}

/// When a host reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Each packet when it arrives.
    Each,
    /// All that has arrived at an instant.
    All,
    /// All that has arrived this long after the first.
    Within(Duration),
}

const READS: &str = "\"each\", \"all\", \"50 us\"";
text!(Reads, READS, ["each", "all", "50 us"]);

impl FromStr for Reads {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "each" => Ok(Reads::Each),
            "all" => Ok(Reads::All),
            _ => text.parse().map(Reads::Within).map_err(|_| {
                let hint = did_you_mean(text, ["each", "all"]);
                format!("{} is not a time{hint}; accepted: {READS}", quoted(text))
            }),
        }
    }
}

impl fmt::Display for Reads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reads::Each => f.write_str("each"),
            Reads::All => f.write_str("all"),
            Reads::Within(span) => span.fmt(f),
        }
    }
}

/// How much a host sends at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleSize {
    /// By the pacing rate, as the stack of the host sizes it.
    Auto,
    /// A number of packets.
    Packets(u64),
    /// As many packets as these bytes hold.
    Bytes(Bytes),
}

/// The accepted forms of a size.
pub const BUNDLES: &str = "\"auto\", \"7 packets\", \"10 kB\"";
text!(BundleSize, BUNDLES, ["auto", "7 packets", "10 kB"]);

impl FromStr for BundleSize {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(BundleSize::Auto);
        }
        match text.parse() {
            Ok(BufferSize::Packets(packets)) => Ok(BundleSize::Packets(packets)),
            Ok(BufferSize::Bytes(bytes)) => Ok(BundleSize::Bytes(bytes)),
            _ => {
                let hint = did_you_mean(text, ["auto"]);
                let problem = format!("{} is not a size of a bundle{hint}", quoted(text));
                Err(format!("{problem}; accepted: {BUNDLES}"))
            }
        }
    }
}

impl fmt::Display for BundleSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BundleSize::Auto => f.write_str("auto"),
            BundleSize::Packets(packets) => write!(f, "{packets} packets"),
            BundleSize::Bytes(bytes) => bytes.fmt(f),
        }
    }
}
