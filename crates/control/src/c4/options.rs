//! Options of C4.

use super::sensitivity::sensitivity;
use crate::coefficient::Coefficient;
use crate::{OptionDoc, OptionKind, Options};
use thalweg_units::{Duration, Rate};

/// All options.
pub(super) const OPTIONS: &[OptionDoc] = &[
    OptionDoc {
        name: "variant",
        kind: OptionKind::Choice(&["current", "v1", "v1-no-exit-on-delay", "v2", "v3"]),
        default: "current",
        meaning: "version of C4: of August 2026, or an early one of 2025",
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
        meaning: "pacing of Pushing over the nominal rate (\"Pushing state\"; current only)",
    },
    OptionDoc {
        name: "max_reduction",
        kind: OptionKind::Number(0.01, 0.9),
        default: "0.25",
        meaning: "largest single reduction (\"Rate Reduction on Congestion\"; current only)",
    },
    OptionDoc {
        name: "delay_bound",
        kind: OptionKind::Duration,
        default: "25 ms",
        meaning: "largest delay over the max RTT that is no congestion (\"Detecting Excessive Delays\"; current only)",
    },
    OptionDoc {
        name: "sensitivity",
        kind: OptionKind::Number(0.0, 1.0),
        default: "1",
        meaning: "factor of the sensitivity at any rate (\"Variable Sensitivity\"; current only)",
    },
];

/// Settings of the current version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// Whether the nominal max RTT has its floor of one millisecond.
    pub(super) rtt_floor: bool,
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
        }
    }

    /// The sensitivity at `rate`.
    pub(super) fn sensitivity(&self, rate: Rate) -> Coefficient {
        self.sensitivity.of(sensitivity(rate))
    }
}
