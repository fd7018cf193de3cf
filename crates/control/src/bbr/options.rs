//! Options of BBR. The constants behind their defaults are in [`crate::bbr_model::parameters`].

use crate::bbr_model::Gain;
use crate::options::IN_REFERENCE;
use crate::{OptionDoc, OptionKind, Options};
use thalweg_units::Duration;

/// All options.
pub(super) const OPTIONS: &[OptionDoc] = &[
    OptionDoc {
        name: "variant",
        kind: OptionKind::Variant {
            here: &["draft"],
            elsewhere: &["picoquic"],
            whence: IN_REFERENCE,
        },
        default: "draft",
        meaning: "the specification, or picoquic's version of August 2026",
    },
    OptionDoc {
        name: "ecn",
        kind: OptionKind::Flag,
        default: "off",
        meaning: "claim ECN support and treat a CE mark like a lost packet (draft only)",
    },
    gain(
        "startup_gain",
        "2.77",
        "pacing gain of Startup, 4 ln 2 (draft only, section 2.5)",
    ),
    gain(
        "down_gain",
        "0.9",
        "pacing gain of ProbeBW_DOWN (draft only, section 5.6.1)",
    ),
    gain(
        "up_gain",
        "1.25",
        "pacing gain of ProbeBW_UP (draft only, section 5.6.1)",
    ),
    gain(
        "cwnd_gain",
        "2",
        "window in bandwidth-delay products of the model (draft only, section 2.6)",
    ),
    share(
        "loss_thresh",
        (0.001, 0.5),
        "0.02",
        "tolerated loss of a round trip (draft only, section 2.8)",
    ),
    share(
        "beta",
        (0.1, 0.99),
        "0.7",
        "share of the bounds that a round with loss keeps (draft only, section 2.8)",
    ),
    share(
        "headroom",
        (0.0, 0.9),
        "0.15",
        "share of inflight_longterm that is left to others (draft only, section 2.8)",
    ),
    OptionDoc {
        name: "min_rtt_window",
        kind: OptionKind::Duration,
        default: "10 s",
        meaning: "age at which the minimum RTT is forgotten (draft only, section 2.16.1)",
    },
    OptionDoc {
        name: "probe_rtt_interval",
        kind: OptionKind::Duration,
        default: "5 s",
        meaning: "age of the minimum RTT at which ProbeRTT is due (draft only, section 2.16.2)",
    },
];

const fn gain(name: &'static str, default: &'static str, meaning: &'static str) -> OptionDoc {
    OptionDoc {
        name,
        kind: OptionKind::Number(0.1, 10.0),
        default,
        meaning,
    }
}

const fn share(
    name: &'static str,
    (least, most): (f64, f64),
    default: &'static str,
    meaning: &'static str,
) -> OptionDoc {
    OptionDoc {
        name,
        kind: OptionKind::Number(least, most),
        default,
        meaning,
    }
}

/// Constants of the draft that are options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tuning {
    /// StartupPacingGain (section 2.5).
    pub(super) startup_gain: Gain,
    /// Pacing gain of ProbeBW_DOWN (section 5.6.1).
    pub(super) down_gain: Gain,
    /// Pacing gain of ProbeBW_UP (section 5.6.1).
    pub(super) up_gain: Gain,
    /// DefaultCwndGain (section 2.6).
    pub(super) cwnd_gain: Gain,
    /// LossThresh (section 2.8).
    pub(super) loss_thresh: Gain,
    /// Beta (section 2.8).
    pub(super) beta: Gain,
    /// Headroom (section 2.8).
    pub(super) headroom: Gain,
    /// MinRTTFilterLen (section 2.16.1).
    pub(super) min_rtt_window: Duration,
    /// ProbeRTTInterval (section 2.16.2).
    pub(super) probe_rtt_interval: Duration,
}

impl Tuning {
    /// Reads the options, which the registry has checked. Gains are rounded to thousandths.
    pub(super) fn from_options(options: &Options) -> Self {
        let gain = |name| Gain::permille((options.number(name) * 1000.0).round() as u64);
        Tuning {
            startup_gain: gain("startup_gain"),
            down_gain: gain("down_gain"),
            up_gain: gain("up_gain"),
            cwnd_gain: gain("cwnd_gain"),
            loss_thresh: gain("loss_thresh"),
            beta: gain("beta"),
            headroom: gain("headroom"),
            min_rtt_window: options.duration("min_rtt_window"),
            probe_rtt_interval: options.duration("probe_rtt_interval"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bbr_model::parameters::{
        BETA, DEFAULT_CWND_GAIN, DOWN_PACING_GAIN, HEADROOM, LOSS_THRESH, MIN_RTT_FILTER_LEN,
        PROBE_RTT_INTERVAL, STARTUP_PACING_GAIN, UP_PACING_GAIN,
    };

    impl Tuning {
        pub(crate) const DRAFT: Tuning = Tuning {
            startup_gain: STARTUP_PACING_GAIN,
            down_gain: DOWN_PACING_GAIN,
            up_gain: UP_PACING_GAIN,
            cwnd_gain: DEFAULT_CWND_GAIN,
            loss_thresh: LOSS_THRESH,
            beta: BETA,
            headroom: HEADROOM,
            min_rtt_window: MIN_RTT_FILTER_LEN,
            probe_rtt_interval: PROBE_RTT_INTERVAL,
        };
    }

    #[test]
    fn the_defaults_are_the_constants_of_the_draft() {
        let defaults = OPTIONS.iter().map(|doc| (doc.name, doc.default.to_owned()));
        let tuning = Tuning::from_options(&Options(defaults.collect()));
        assert_eq!(tuning, Tuning::DRAFT);
    }
}
