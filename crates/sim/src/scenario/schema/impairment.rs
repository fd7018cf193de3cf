//! Keys of `jitter` and `loss`.

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use thalweg_units::{Duration, Fraction};

/// Random delay of packets.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, tag = "model", rename_all = "kebab-case")]
pub(crate) enum Jitter {
    /// No jitter.
    None {},
    /// Uniform between two bounds.
    Uniform {
        /// Least delay.
        #[serde(default)]
        min: Duration,
        /// Largest delay.
        max: Duration,
    },
    /// Normal; negative values count as zero. Without `sd`, a third of the mean.
    Normal {
        /// Mean.
        mean: Duration,
        /// Standard deviation.
        sd: Option<Duration>,
    },
    /// Normal, redrawn until it is between two bounds.
    TruncatedNormal {
        /// Mean.
        mean: Duration,
        /// Standard deviation.
        sd: Duration,
        /// Least delay.
        #[serde(default)]
        min: Duration,
        /// Largest delay.
        max: Duration,
    },
    /// The two components of bad Wi-Fi.
    Wifi {
        /// Requested mean of independent draws; a busy flow experiences more, since packets stay in order.
        mean: Duration,
        /// Which published formula.
        #[serde(default)]
        formula: WifiFormula,
    },
    /// The two components of bad Wi-Fi with explicit scales; `thalweg probe analyze` fits them to a trace.
    TwoComponents {
        /// Share of the packets that also have a long delay.
        fraction: Fraction,
        /// Step of the short component, whose mean is 0.684 steps; "1 ms" in the published model.
        short: Duration,
        /// Step of the long component, whose mean is 11.5 steps; "7.5 ms" in the published model.
        long: Duration,
    },
    /// A measured series of delays, replayed at its times; `thalweg probe export` writes one.
    Trace {
        /// A file with a time and a delay in whole microseconds on each line, relative to this file. The
        /// contents stand here as "us: ..." in a scenario that ran.
        file: String,
    },
}

/// Published forms of the Wi-Fi model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WifiFormula {
    /// That of the reference simulator: slope 84 ms, both components smoothed.
    #[default]
    Reference,
    /// That of the draft: saturation at 91 ms, long component not smoothed.
    Draft,
}

/// Random loss of packets.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, tag = "model", rename_all = "kebab-case")]
pub(crate) enum Loss {
    /// Each packet independently.
    Random {
        /// Probability.
        rate: Fraction,
    },
    /// Bursts, by a chain of a good and a bad state.
    GilbertElliott {
        /// Probability of the step from good to bad, for each packet.
        p: Fraction,
        /// Probability of the step from bad to good; its inverse is the mean burst in packets.
        r: Fraction,
        /// Probability of loss in the good state.
        #[serde(default)]
        good_loss: Fraction,
        /// Probability of loss in the bad state.
        #[serde(default = "certain")]
        bad_loss: Fraction,
    },
}

fn certain() -> Fraction {
    Fraction::ONE
}

/// What `loss` may be: the probability of random loss, or a model.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the schema is made of it")]
pub(crate) enum LossForm {
    /// Each packet independently, with this probability.
    Rate(Fraction),
    /// A model.
    Model(Loss),
}

/// Reads `loss`: "0.1 %", or a table with a model.
pub(crate) fn loss<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Loss>, D::Error> {
    deserializer.deserialize_any(LossVisitor).map(Some)
}

struct LossVisitor;

impl<'de> Visitor<'de> for LossVisitor {
    type Value = Loss;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text with a unit, such as \"1 %\", or a table with a model")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Loss, E> {
        let rate = text.parse().map_err(E::custom)?;
        Ok(Loss::Random { rate })
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Loss, A::Error> {
        Loss::deserialize(MapAccessDeserializer::new(map))
    }
}
