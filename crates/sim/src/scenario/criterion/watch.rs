//! What criteria and changes of a path look at in a controller: its states and its variables.

use std::fmt;
use thalweg_units::Duration;

/// An entry of the controller of a flow into a state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// Index of the flow.
    pub(crate) flow: usize,
    pub(crate) state: String,
    /// 1 for the first one.
    pub(crate) number: u32,
}

/// What a criterion looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct Watch {
    /// What it measures.
    pub(crate) what: Watched,
    /// What happened before does not count; from the start of the trial.
    pub(crate) from: Duration,
    /// Nor what happened then or later.
    pub(crate) until: Option<Duration>,
}

/// A number of a controller.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Watched {
    /// When it first enters a state, from another given one if there is one.
    Entered {
        state: String,
        after: Option<String>,
    },
    /// How often.
    Entries {
        state: String,
        after: Option<String>,
    },
    /// Its longest time in a state.
    Stay { state: String },
    /// What the sender is told of the rate of its path.
    Told(Told),
    /// The value of a variable that is furthest on the side of failure, in a state if there is one.
    Variable {
        name: String,
        state: Option<String>,
        extreme: Extreme,
    },
}

/// A number of what a sender is told of the rate of its path (`outcome/told.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// The share of the time in which it is off.
    RateError(Estimate),
    /// The longest time until it follows a change.
    TimeToNotice(Estimate),
}

impl Told {
    /// What tells it.
    pub(crate) fn estimate(self) -> Estimate {
        match self {
            Told::RateError(estimate) | Told::TimeToNotice(estimate) => estimate,
        }
    }
}

/// What tells a sender the rate of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Estimate {
    /// The congestion window over the smoothed RTT.
    Window,
    /// The pacing rate.
    Pacing,
    /// The rate that congestion control allows an encoder.
    Media,
}

impl Estimate {
    pub(crate) const ALL: [Estimate; 3] = [Estimate::Window, Estimate::Pacing, Estimate::Media];

    /// Its name in scenarios.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Estimate::Window => "window",
            Estimate::Pacing => "pacing",
            Estimate::Media => "media",
        }
    }
}

/// Which of the values of a variable counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extreme {
    Least,
    Most,
}

impl Watch {
    /// The name of its column, without the unit: `stay_ProbeRTT`, `max_bw_least_from_10s`.
    pub(crate) fn column(&self) -> String {
        self.to_string().replace([' ', '-'], "_")
    }
}

/// In words: `stay ProbeRTT`, `entries Drain after Startup`, `max_bw least from 10 s`.
impl fmt::Display for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut entry = |what: &str, state: &str, after: &Option<String>| {
            write!(f, "{what} {state}")?;
            match after {
                Some(after) => write!(f, " after {after}"),
                None => Ok(()),
            }
        };
        match &self.what {
            Watched::Entered { state, after } => entry("entered", state, after)?,
            Watched::Entries { state, after } => entry("entries", state, after)?,
            Watched::Stay { state } => entry("stay", state, &None)?,
            Watched::Told(Told::RateError(by)) => write!(f, "told-rate-error by {}", by.name())?,
            Watched::Told(Told::TimeToNotice(by)) => write!(f, "time-to-notice by {}", by.name())?,
            Watched::Variable {
                name,
                state,
                extreme,
            } => {
                let extreme = match extreme {
                    Extreme::Least => "least",
                    Extreme::Most => "most",
                };
                write!(f, "{name} {extreme}")?;
                if let Some(state) = state {
                    write!(f, " in {state}")?;
                }
            }
        }
        if !self.from.is_zero() {
            write!(f, " from {}", self.from)?;
        }
        if let Some(until) = self.until {
            write!(f, " until {until}")?;
        }
        Ok(())
    }
}
