//! What the flows of a trial are to do.

use thalweg_sim::{Scenario, Transfer};
use thalweg_units::Duration;

/// One flow.
#[derive(Clone, Debug)]
pub(crate) struct FlowPlan {
    /// What its connections move, and when each begins.
    pub(crate) transfers: Vec<(Duration, Transfer)>,
    /// Whether the end waits for it.
    pub(crate) awaited: bool,
}

/// How flows are to be driven.
pub(crate) struct Drive<'a> {
    pub(crate) scenario: &'a Scenario,
    /// Of all flows.
    pub(crate) plans: &'a [FlowPlan],
    /// Of the trial.
    pub(crate) seed: u64,
    /// When it ends at the latest.
    pub(crate) limit: Duration,
    /// Whether to record a trace.
    pub(crate) record: bool,
}
