//! Keys of `jitter`, `loss` and `ecn`.

use crate::INLINE_JITTER;
use crate::packets::Packets;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Duration, Fraction};

/// Random delay of packets.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, tag = "model", rename_all = "kebab-case")]
pub enum Jitter {
    /// No jitter.
    None {},
    /// Uniform between two bounds.
    Uniform {
        /// Least delay.
        #[serde(default)]
        min: Duration,
        /// Largest delay.
        #[schemars(example = "10 ms")]
        max: Duration,
    },
    /// Normal; negative values count as zero. Without `sd`, a third of the mean.
    Normal {
        /// Mean.
        #[schemars(example = "5 ms")]
        mean: Duration,
        /// Standard deviation.
        sd: Option<Duration>,
    },
    /// Normal, redrawn until it is between two bounds.
    TruncatedNormal {
        /// Mean.
        #[schemars(example = "5 ms")]
        mean: Duration,
        /// Standard deviation.
        #[schemars(example = "2 ms")]
        sd: Duration,
        /// Least delay.
        #[serde(default)]
        min: Duration,
        /// Largest delay.
        #[schemars(example = "10 ms")]
        max: Duration,
    },
    /// The two components of bad Wi-Fi.
    Wifi {
        /// Requested mean of independent draws; a busy flow experiences more, since packets stay in order.
        #[schemars(example = "7 ms")]
        mean: Duration,
        /// Which published formula.
        #[serde(default)]
        formula: WifiFormula,
        /// One draw for all packets that leave within each such time; without it, one for each packet.
        #[schemars(example = "20 ms")]
        every: Option<Duration>,
    },
    /// The two components of bad Wi-Fi with explicit scales; `thalweg probe analyze` fits them to a trace.
    TwoComponents {
        /// Share of the packets that also have a long delay.
        #[schemars(example = "8 %")]
        fraction: Fraction,
        /// Step of the short component, whose mean is 0.684 steps; "1 ms" in the published model.
        #[schemars(example = "1 ms")]
        short: Duration,
        /// Step of the long component, whose mean is 11.5 steps; "7.5 ms" in the published model.
        #[schemars(example = "7.5 ms")]
        long: Duration,
    },
    /// A measured series of delays, replayed at its times; `thalweg probe export` writes one.
    Trace {
        /// A file with a time and a delay in whole microseconds on each line, relative to this file. The
        /// contents stand here as "us: ..." in a scenario that ran.
        #[schemars(example = "wifi.jitter", extend("x-file" = [INLINE_JITTER]))]
        file: String,
    },
    /// Aggregation: packets wait for the next multiple of an interval, and come out together.
    Bursts {
        /// The interval between releases.
        #[schemars(example = "10 ms")]
        every: Duration,
    },
    /// NR-BPDV of RFC 8868: the absolute value of a normal number, clipped; packets stay apart by their time at the capacity.
    NrBpdv {
        /// Standard deviation; "5 ms".
        sd: Option<Duration>,
        /// Where the number is clipped, in standard deviations; 3.
        clip: Option<f64>,
    },
    /// Some packets are held until so many others have passed, on a busy link; needs `reorder = true`.
    Reordering {
        /// Probability that a packet is held.
        #[schemars(example = "1 %")]
        share: Fraction,
        /// Number of packets that pass it.
        #[schemars(example = 3)]
        extent: u32,
    },
}

/// What a link does to ECN codepoints at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnTreatment {
    /// They arrive.
    #[default]
    Keep,
    /// All packets arrive as Not-ECT.
    Bleach,
    /// Packets that carry CE are lost.
    DropCe,
    /// Packets that carry CE arrive as if they were not marked, as from a receiver that hides marks.
    HideCe,
}

/// Published forms of the Wi-Fi model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WifiFormula {
    /// As in the reference simulator: slope 84 ms, both components smoothed.
    #[default]
    Reference,
    /// As in the draft: saturation at 91 ms, long component not smoothed.
    Draft,
}

/// Loss of packets.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, tag = "model", rename_all = "kebab-case")]
pub enum Loss {
    /// Each packet independently.
    Random {
        /// Probability.
        #[schemars(example = "1 %")]
        rate: Fraction,
    },
    /// Bursts, by a chain of a good and a bad state: with a step for each packet, `p` and `r`, or in time, `good` and `bad`.
    GilbertElliott {
        /// Probability of the step from good to bad, for each packet.
        #[schemars(example = "0.1 %")]
        p: Option<Fraction>,
        /// Probability of the step from bad to good; its inverse is the mean burst in packets.
        #[schemars(example = "30 %")]
        r: Option<Fraction>,
        /// Mean time in the good state.
        #[schemars(example = "636 ms")]
        good: Option<Duration>,
        /// Mean time in the bad state: the mean burst.
        #[schemars(example = "16.7 ms")]
        bad: Option<Duration>,
        /// Probability of loss in the good state.
        #[serde(default)]
        good_loss: Fraction,
        /// Probability of loss in the bad state.
        #[serde(default = "certain")]
        bad_loss: Fraction,
    },
    /// One packet of so many: the nth that the link transmits, the 2nth, ...
    Periodic {
        /// Number of packets of which one is lost.
        #[schemars(example = 1000, range(min = 1))]
        every: u64,
    },
    /// Given packets.
    Scripted {
        /// Numbers and ranges of numbers of packets, counted from 1 as the link transmits them.
        #[schemars(example = serde_json::json!([10, "20-22"]))]
        packets: Vec<Packets>,
    },
}

fn certain() -> Fraction {
    Fraction::ONE
}
