//! The rules in which the public states of C4 differ.
//!
//! | state | code | rules |
//! |---|---|---|
//! | `draft-04` | 16 August 2026 | as in the published draft |
//! | `draft-05` | 20 August 2026 | trimming, draining by a flag, repeated restarts; its results are published |
//! | `2026-10` | 8 October 2026 | draining by a debt, another order in Recovery, exceptions below 1 ms |
//!
//! The draft after -04 describes the second state. Where its text and the code differ, the code was taken,
//! because the published results come from it: the text calls the coefficient of draining both 7/8 and 3/4 (the
//! flag has 7/8, the debt 758/1024), and does not mention that entering Initial sets the max RTT.
//! No text describes the third state: it is known only from compiled code (c4-05-code.md section 2).

use crate::Options;

/// How Recovery empties the queue that Initial or a push has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drain {
    /// Always at 15/16.
    Off,
    /// At 7/8 after Initial and after the max RTT has fallen, until the rate rises or Recovery ends.
    Flag,
    /// At 74 % or 7/8 until as much was left out as was sent in excess.
    Debt,
}

/// Whether a cycle without growth lowers the nominal rate towards the best sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trim {
    /// It does not.
    Off,
    /// It does.
    On,
    /// It does while the smoothed RTT is above one millisecond.
    AboveMillisecond,
}

/// How often high jitter leads back to Initial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reentry {
    /// Never.
    Off,
    /// Once per connection.
    Once,
    /// From a second after the Recovery that followed Initial.
    Repeated,
}

/// One rule for each difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    pub(super) drain: Drain,
    pub(super) trim: Trim,
    pub(super) reentry: Reentry,
    /// The window given out in Initial is the base of its further growth.
    pub(super) ratchet: bool,
    /// The packets acknowledged in Recovery count as sent with the coefficient of Recovery, and not with the coefficient of the
    /// state before.
    pub(super) own_alpha_in_recovery: bool,
    /// Initial begins with the smoothed RTT as max RTT.
    pub(super) smoothed_max_rtt: bool,
    /// A clamp by persistent congestion restarts the count of congested cycles.
    pub(super) clamp_restarts: bool,
}

impl Rules {
    pub(super) const DRAFT_04: Rules = Rules {
        drain: Drain::Off,
        trim: Trim::Off,
        reentry: Reentry::Once,
        ratchet: true,
        own_alpha_in_recovery: false,
        smoothed_max_rtt: false,
        clamp_restarts: false,
    };
    pub(super) const DRAFT_05: Rules = Rules {
        drain: Drain::Flag,
        trim: Trim::On,
        reentry: Reentry::Repeated,
        ratchet: false,
        own_alpha_in_recovery: false,
        smoothed_max_rtt: true,
        clamp_restarts: true,
    };
    pub(super) const OCTOBER_2026: Rules = Rules {
        drain: Drain::Debt,
        trim: Trim::AboveMillisecond,
        own_alpha_in_recovery: true,
        ..Rules::DRAFT_05
    };

    /// The rules of `variant`, those apart that options of their own set.
    pub(super) fn from_options(options: &Options) -> Self {
        let variant = match options.text("variant") {
            "draft-04" => Rules::DRAFT_04,
            "2026-10" => Rules::OCTOBER_2026,
            _ => Rules::DRAFT_05,
        };
        let either = |name, yes, rule| match options.text(name) {
            "variant" => rule,
            word => word == yes,
        };
        Rules {
            drain: match options.text("drain") {
                "off" => Drain::Off,
                "flag" => Drain::Flag,
                "debt" => Drain::Debt,
                _ => variant.drain,
            },
            trim: match options.text("trim") {
                "off" => Trim::Off,
                "on" => Trim::On,
                "above-1ms" => Trim::AboveMillisecond,
                _ => variant.trim,
            },
            reentry: match options.text("reentry") {
                "off" => Reentry::Off,
                "once" => Reentry::Once,
                "repeated" => Reentry::Repeated,
                _ => variant.reentry,
            },
            ratchet: either("ratchet", "on", variant.ratchet),
            own_alpha_in_recovery: either("alpha_previous", "own", variant.own_alpha_in_recovery),
            smoothed_max_rtt: either("initial_max_rtt", "smoothed", variant.smoothed_max_rtt),
            clamp_restarts: either("clamp", "restarts", variant.clamp_restarts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c4::options::OPTIONS;

    fn rules(set: &[(&'static str, &str)]) -> Rules {
        let defaults = OPTIONS.iter().map(|doc| (doc.name, doc.default));
        let set = defaults.chain(set.iter().copied());
        let options = set.map(|(name, value)| (name, value.to_owned()));
        Rules::from_options(&Options(options.collect()))
    }

    #[test]
    fn each_version_has_its_rules_and_draft_05_is_the_default() {
        assert_eq!(rules(&[]), Rules::DRAFT_05);
        assert_eq!(rules(&[("variant", "draft-04")]), Rules::DRAFT_04);
        assert_eq!(rules(&[("variant", "draft-05")]), Rules::DRAFT_05);
        assert_eq!(rules(&[("variant", "2026-10")]), Rules::OCTOBER_2026);
    }

    #[test]
    fn every_version_can_be_made_of_every_other_one_by_one_rule_after_the_other() {
        let versions = [
            ("draft-04", Rules::DRAFT_04),
            ("draft-05", Rules::DRAFT_05),
            ("2026-10", Rules::OCTOBER_2026),
        ];
        let switches = [
            ("drain", ["off", "flag", "debt"]),
            ("trim", ["off", "on", "above-1ms"]),
            ("reentry", ["once", "repeated", "repeated"]),
            ("ratchet", ["on", "off", "off"]),
            ("alpha_previous", ["left", "left", "own"]),
            ("initial_max_rtt", ["kept", "smoothed", "smoothed"]),
            ("clamp", ["repeats", "restarts", "restarts"]),
        ];
        for (variant, start) in versions {
            for (index, (_, goal)) in versions.iter().enumerate() {
                let mut set = vec![("variant", variant)];
                let mut before = start;
                for (name, words) in &switches {
                    set.push((name, words[index]));
                    let after = rules(&set);
                    let changed = u32::from(before.drain != after.drain)
                        + u32::from(before.trim != after.trim)
                        + u32::from(before.reentry != after.reentry)
                        + u32::from(before.ratchet != after.ratchet)
                        + u32::from(before.own_alpha_in_recovery != after.own_alpha_in_recovery)
                        + u32::from(before.smoothed_max_rtt != after.smoothed_max_rtt)
                        + u32::from(before.clamp_restarts != after.clamp_restarts);
                    assert!(changed <= 1, "{set:?}: {after:?}");
                    before = after;
                }
                assert_eq!(before, *goal, "{set:?}");
            }
        }
    }
}
