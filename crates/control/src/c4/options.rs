//! Options of C4, as they ride on its name.

use crate::coefficient::Coefficient;
use crate::{OptionDoc, OptionKind, Options};

/// All options.
pub(super) const OPTIONS: &[OptionDoc] = &[
    OptionDoc {
        name: "variant",
        kind: OptionKind::Choice(&["current", "v1", "v1-no-exit-on-delay", "v2", "v3"]),
        default: "current",
        meaning: "which version of C4: that of August 2026, or an early one (2025)",
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
];

/// What the options of the current version set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// Whether the nominal max RTT has its floor of one millisecond.
    pub(super) rtt_floor: bool,
    /// What Cruising adds to its coefficient below one millisecond.
    pub(super) submillisecond_bonus: Coefficient,
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
        Tuning {
            rtt_floor: options.flag("rtt_floor"),
            submillisecond_bonus,
        }
    }
}
