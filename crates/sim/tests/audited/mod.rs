//! Trials of tests run under the auditor.

use thalweg_sim::{Outcome, Scenario, Trace};

/// [`thalweg_sim::run_trial`], audited.
pub(crate) fn run_trial(scenario: &Scenario, seed: u64, traced: bool) -> (Outcome, Option<Trace>) {
    thalweg_sim::run_audited(scenario, seed, traced).unwrap_or_else(|finding| panic!("{finding}"))
}
