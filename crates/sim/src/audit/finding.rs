//! What the auditor says when something contradicts physics.

use thalweg_units::Instant;

/// A trial did what no network can do. The first finding ends the trial.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("audit: seed {seed}, {time}, {element}: {problem}")]
pub struct AuditError {
    /// Seed of the trial.
    pub seed: u64,
    /// Virtual time at which it was noticed.
    pub time: Instant,
    /// The link or the flow, by its name in the scenario; of a flow, which side.
    pub element: String,
    /// What was seen, and what the bound is.
    pub problem: String,
}

/// What a rule says of one observation: nothing, or how it was broken.
pub(super) type Verdict = Result<(), String>;

/// Fails with a message that is made only then.
pub(super) fn hold(kept: bool, problem: impl FnOnce() -> String) -> Verdict {
    if kept { Ok(()) } else { Err(problem()) }
}
