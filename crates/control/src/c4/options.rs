//! Options of C4.

use super::constants::MAX_RTT_FLOOR;
use super::rules::Rules;
use super::sensitivity::sensitivity;
use crate::coefficient::Coefficient;
use crate::{OptionDoc, OptionKind, Options};
use thalweg_units::{Duration, Rate};

/// All options.
pub(super) const OPTIONS: &[OptionDoc] = &[
    OptionDoc {
        name: "variant",
        kind: OptionKind::Variant {
            here: &["draft-05", "draft-04", "2026-10"],
            elsewhere: &["v1", "v1-no-exit-on-delay", "v2", "v3"],
            whence: "a checkout has it after make build, from the crate thalweg-c4-history",
        },
        default: "draft-05",
        meaning: "version of C4: of a draft, of the code of October 2026, or an early one of 2025, without the options that are not for v1 to v3",
    },
    OptionDoc {
        name: "rtt_floor",
        kind: OptionKind::Flag,
        default: "on",
        meaning: "keep the nominal max RTT at 1 ms or more",
    },
    OptionDoc {
        name: "submillisecond_bonus",
        kind: OptionKind::Choice(&["0", "1/32", "3/64", "1/16"]),
        default: "3/64",
        meaning: "share of the nominal rate that Cruising adds while the smoothed RTT is below 1 ms",
    },
    OptionDoc {
        name: "push",
        kind: OptionKind::Number(1.0, 4.0),
        default: "1.2265625",
        // 1256/1024, as the reference code has it; the text says 5/4.
        meaning: "pacing of Pushing over the nominal rate (\"Pushing state\"; not for v1 to v3)",
    },
    OptionDoc {
        name: "max_reduction",
        kind: OptionKind::Number(0.01, 0.9),
        default: "0.25",
        meaning: "largest single reduction (\"Rate Reduction on Congestion\"; not for v1 to v3)",
    },
    OptionDoc {
        name: "delay_bound",
        kind: OptionKind::Duration,
        default: "25 ms",
        meaning: "largest delay over the max RTT that does not mean congestion (\"Detecting Excessive Delays\"; not for v1 to v3)",
    },
    OptionDoc {
        name: "sensitivity",
        kind: OptionKind::Number(0.0, 1.0),
        default: "1",
        meaning: "factor of the sensitivity at any rate (\"Variable Sensitivity\"; not for v1 to v3)",
    },
    OptionDoc {
        name: "drain",
        kind: OptionKind::Choice(&["variant", "off", "flag", "debt"]),
        default: "variant",
        meaning: "how Recovery drains: not, at 7/8 after Initial or a lower max RTT, or until a debt is paid; or as the variant does (not for v1 to v3)",
    },
    OptionDoc {
        name: "trim",
        kind: OptionKind::Choice(&["variant", "off", "on", "above-1ms"]),
        default: "variant",
        meaning: "whether a cycle without growth halves the distance of the nominal rate to the best sample, always or above 1 ms of RTT (not for v1 to v3)",
    },
    OptionDoc {
        name: "reentry",
        kind: OptionKind::Choice(&["variant", "off", "once", "repeated"]),
        default: "variant",
        meaning: "whether high jitter leads back to Initial (\"Restarting Initial if High Jitter\"; not for v1 to v3)",
    },
    OptionDoc {
        name: "ratchet",
        kind: OptionKind::Choice(&["variant", "off", "on"]),
        default: "variant",
        meaning: "whether the window of Initial grows from the largest that was given out (not for v1 to v3)",
    },
    OptionDoc {
        name: "alpha_previous",
        kind: OptionKind::Choice(&["variant", "left", "own"]),
        default: "variant",
        meaning: "coefficient that packets acknowledged in Recovery count with: of the state left, or its own (not for v1 to v3)",
    },
    OptionDoc {
        name: "initial_max_rtt",
        kind: OptionKind::Choice(&["variant", "kept", "smoothed"]),
        default: "variant",
        meaning: "nominal max RTT when Initial begins: kept, or the smoothed RTT (not for v1 to v3)",
    },
    OptionDoc {
        name: "clamp",
        kind: OptionKind::Choice(&["variant", "repeats", "restarts"]),
        default: "variant",
        meaning: "whether persistent congestion, once it has lowered the rate, is counted anew (not for v1 to v3)",
    },
];

/// Settings of the versions since draft-04.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// Whether the nominal max RTT has its floor of one millisecond.
    rtt_floor: bool,
    /// Bonus on the coefficient of Cruising below one millisecond.
    pub(super) submillisecond_bonus: Coefficient,
    /// Coefficient of Pushing.
    pub(super) push: Coefficient,
    /// Largest single reduction.
    pub(super) max_reduction: Coefficient,
    /// Upper limit of the delay threshold.
    pub(super) delay_bound: Duration,
    /// Factor of the sensitivity.
    sensitivity: Coefficient,
    /// The rules of the version.
    pub(super) rules: Rules,
}

impl Tuning {
    /// Reads the options, which the registry has checked.
    pub(super) fn from_options(options: &Options) -> Self {
        let submillisecond_bonus = Coefficient::new(match options.text("submillisecond_bonus") {
            "0" => 0,
            "1/32" => 32,
            "1/16" => 64,
            _ => 48,
        });
        let coefficient = |name| Coefficient::new((options.number(name) * 1024.0).round() as u64);
        Tuning {
            rtt_floor: options.flag("rtt_floor"),
            submillisecond_bonus,
            push: coefficient("push"),
            max_reduction: coefficient("max_reduction"),
            delay_bound: options.duration("delay_bound"),
            sensitivity: coefficient("sensitivity"),
            rules: Rules::from_options(options),
        }
    }

    /// The least nominal max RTT.
    pub(super) fn max_rtt_floor(&self) -> Duration {
        match self.rtt_floor {
            true => MAX_RTT_FLOOR,
            false => Duration::ZERO,
        }
    }

    /// The sensitivity at `rate`.
    pub(super) fn sensitivity(&self, rate: Rate) -> Coefficient {
        self.sensitivity.of(sensitivity(rate))
    }
}
