//! The flows of a trial.

use crate::host::Host;
use std::path::Path;
use thalweg_sim::{Scenario, Transfer};
use thalweg_units::Duration;

/// One flow.
#[derive(Clone, Debug)]
pub(crate) struct FlowPlan {
    /// The transfers of its connections, and when each starts.
    pub(crate) transfers: Vec<(Duration, Transfer)>,
    /// Whether the trial waits for it.
    pub(crate) awaited: bool,
}

/// The plan of a trial.
pub(crate) struct Drive<'a> {
    pub(crate) scenario: &'a Scenario,
    /// The plans of all flows.
    pub(crate) plans: &'a [FlowPlan],
    /// The seed of the trial.
    pub(crate) seed: u64,
    /// Its time limit.
    pub(crate) limit: Duration,
    /// Whether to record a trace.
    pub(crate) record: bool,
    /// A folder for what programs say.
    pub(crate) logs: Option<&'a Path>,
}

/// The hosts of a trial: of the clients, and of the servers.
pub(crate) struct AllHosts<'a> {
    /// Those that all flows without programs share.
    pub(crate) shared: [&'a Host; 2],
    /// The hosts of each flow with programs.
    pub(crate) of_programs: Vec<[&'a Host; 2]>,
}
