//! Keys of `[[pass]]`.

use schemars::JsonSchema;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use thalweg_units::{Duration, Fraction};

/// A pass criterion: every trial must meet it, unless `in` says how many.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pass {
    /// Which flow.
    #[schemars(example = &"main")]
    pub flow: String,
    /// Which number, as `thalweg list metrics` names it: of the flow, such as "completion", of a stream of media, such as
    /// "p95-delay", of the controller, such as "entered", or of a link on the way of the flow, such as "link-airtime".
    #[schemars(example = &"completion")]
    pub metric: String,
    /// Which stream of media, for its metrics.
    pub stream: Option<String>,
    /// Which link on the way of the flow, for metrics of links.
    #[schemars(example = &"air")]
    pub link: Option<String>,
    /// What limits the sender, for "limited": "handshake", "application", "flow-control", "pacing", "window" or "stalled".
    #[schemars(example = &"flow-control")]
    pub by: Option<String>,
    /// Which state of the controller, for "entered", "stay" and "entries"; for "variable" the state in which its
    /// value counts.
    #[schemars(example = &"Drain")]
    pub state: Option<String>,
    /// The state just before, for "entered" and "entries": other entries do not count.
    #[schemars(example = &"Startup")]
    pub after: Option<String>,
    /// Which variable of the controller, for "variable"; or "window", "pacing_rate", "in_flight" or "smoothed_rtt" of
    /// its flow.
    #[schemars(example = &"max_bw")]
    pub variable: Option<String>,
    /// What tells the sender the rate of its path, for "told-rate-error" and "time-to-notice": "window" (over the smoothed
    /// RTT), "pacing", or "media" (what an encoder is allowed).
    #[schemars(example = &"pacing")]
    pub estimate: Option<String>,
    /// What happened before does not count, for metrics of the controller.
    #[schemars(example = &"10 s")]
    pub from: Option<Duration>,
    /// What happens then or later does not count, for metrics of the controller.
    #[schemars(example = &"12 s")]
    pub until: Option<Duration>,
    /// Upper bound; this or `at_least`.
    pub at_most: Option<Bound>,
    /// Lower bound.
    pub at_least: Option<Bound>,
    /// The share of the trials that must meet it.
    #[serde(rename = "in", default = "all")]
    pub within: Fraction,
    /// Where the bound comes from.
    pub source: Option<String>,
    /// Whether it is only shown, without effect on the verdict.
    #[serde(default)]
    pub informative: bool,
}

fn all() -> Fraction {
    Fraction::ONE
}

/// A bound in the unit of its metric: a time, a rate, a share, or a number.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(example = "5 s", example = "20 Mbps", example = "1 %", example = "3")]
pub struct Bound(pub String);

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(BoundVisitor)
    }
}

struct BoundVisitor;

impl Visitor<'_> for BoundVisitor {
    type Value = Bound;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text with a unit, such as \"5 s\", \"20 Mbps\" or \"1 %\", or \"3\" for a metric without one")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Bound, E> {
        Ok(Bound(text.to_owned()))
    }
}
