//! The auditor's report of a contradiction of physics.

use thalweg_units::Instant;

/// A trial did something impossible. The first finding ends the trial.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("audit: seed {seed}, {time}, {element}: {problem}")]
pub struct AuditError {
    /// Seed of the trial.
    pub seed: u64,
    /// Virtual time of the finding.
    pub time: Instant,
    /// The link or the flow, by its name in the scenario; of a flow, which side.
    pub element: String,
    /// The observation, and the bound.
    pub problem: String,
}

/// The result of a rule: nothing, or how it was broken.
pub(super) type Verdict = Result<(), String>;

/// Fails with a message that is built only then.
pub(super) fn hold(kept: bool, problem: impl FnOnce() -> String) -> Verdict {
    if kept { Ok(()) } else { Err(problem()) }
}
