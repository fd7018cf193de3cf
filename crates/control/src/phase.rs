//! The phases of Reno, CUBIC, Prague, DCTCP, LEDBAT++ and their slow starts, by the names that traces have.
//!
//! Studies judge a start by the phase that a trace reports. BBR and C4 have states of their own.

/// Classic slow start (RFC 9002 section 7.3.1).
pub const SLOW_START: &str = "slow start";
/// Conservative slow start (RFC 9406 section 4.2).
pub const CONSERVATIVE_SLOW_START: &str = "conservative slow start";
/// Rapid Start before its first loss or mark (draft-kazuho-ccwg-rapid-start-02 section 3.2).
pub const RAPID_START: &str = "rapid start";
/// Careful Resume before its jump (draft-ietf-tsvwg-careful-resume-22 section 3.2).
pub const RECONNAISSANCE: &str = "reconnaissance";
/// Careful Resume after its jump (draft-ietf-tsvwg-careful-resume-22 section 3.3).
pub const UNVALIDATED: &str = "unvalidated";
/// Careful Resume until what it jumped by is acknowledged (draft-ietf-tsvwg-careful-resume-22 section 3.4).
pub const VALIDATING: &str = "validating";
/// SEARCH, and BBR, while the queue that the start has left empties.
pub const DRAIN: &str = "Drain";
/// The recovery period (RFC 9002 section 7.3.2), Safe Retreat of Careful Resume included.
pub const RECOVERY: &str = "recovery";
/// The rest after a mark of Prague.
pub const REDUCED: &str = "congestion window reduced";
/// The rest at two packets of LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus-01 section 4.4).
pub const SLOWDOWN: &str = "slowdown";
/// Congestion avoidance (RFC 9002 section 7.3.3).
pub const CONGESTION_AVOIDANCE: &str = "congestion avoidance";

/// What a phase is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The window grows until the path is full.
    Start,
    /// The window comes down, or rests.
    Reduction,
    /// The window probes for more.
    Avoidance,
}

impl Part {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Part::Start => "start",
            Part::Reduction => "reduction",
            Part::Avoidance => "avoidance",
        }
    }
}

/// All phases.
pub const PHASES: &[(&str, Part)] = &[
    (SLOW_START, Part::Start),
    (CONSERVATIVE_SLOW_START, Part::Start),
    (RAPID_START, Part::Start),
    (RECONNAISSANCE, Part::Start),
    (UNVALIDATED, Part::Start),
    (VALIDATING, Part::Start),
    (DRAIN, Part::Reduction),
    (RECOVERY, Part::Reduction),
    (REDUCED, Part::Reduction),
    (SLOWDOWN, Part::Reduction),
    (CONGESTION_AVOIDANCE, Part::Avoidance),
];

/// The states of all controllers of this project, by the names that traces have. `states.json` of the Python package
/// describes each of them; `tests/repository/test_states.py` holds the lists together.
pub const STATES: &[&str] = &[
    "slow start",
    "conservative slow start",
    "rapid start",
    "reconnaissance",
    "unvalidated",
    "validating",
    "congestion avoidance",
    "avoidance",
    "recovery",
    "congestion window reduced",
    "slowdown",
    "Startup",
    "Startup_RESUME",
    "Startup_LONG_RTT",
    "Drain",
    "ProbeBW",
    "ProbeBW_DOWN",
    "ProbeBW_CRUISE",
    "ProbeBW_REFILL",
    "ProbeBW_UP",
    "ProbeRTT",
    "Initial",
    "Recovery",
    "Cruising",
    "Probing",
    "Pushing",
    "Resuming",
    "Slowdown",
    "Checking",
    "open",
    "disorder",
    "window reduced",
    "loss",
    "accelerated ramp-up",
    "gradual update",
    "increase",
    "hold",
    "decrease",
    "no congestion yet",
    "after a loss",
    "after a mark",
    "after a delay",
];
