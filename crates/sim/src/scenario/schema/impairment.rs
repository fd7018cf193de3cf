//! Keys of `jitter` and `loss`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
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
    /// Normal, drawn again until it lies between two bounds.
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
    /// The two components of bad Wi-Fi with scales of their own; `thalweg probe analyze` fits them to a trace.
    TwoComponents {
        /// Share of the packets that have a long delay as well.
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
    /// As the reference simulator computes it: slope 84 ms, both components smoothed.
    #[default]
    Reference,
    /// As the draft prints it: saturation at 91 ms, long component not smoothed.
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
