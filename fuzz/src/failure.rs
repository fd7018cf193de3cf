//! Results of a case.

/// A case that held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// It ran to its end.
    Played,
    /// It was stopped when asked.
    Stopped,
    /// It was refused with a message.
    Refused,
}

/// Why a case failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Identifies the defect: the location of a panic, or the broken rule.
    pub(crate) kind: String,
    /// What was seen, in one line.
    pub(crate) message: String,
}

impl Failure {
    /// The rule `kind` was broken.
    pub(crate) fn new(kind: &str, message: impl Into<String>) -> Failure {
        let message: String = message.into();
        Failure {
            kind: kind.to_owned(),
            message: message.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }
}

/// What a check returns.
pub(crate) type Verdict = Result<Held, Failure>;

/// Fails a check of the rule `kind` unless `holds`.
pub(crate) fn require(
    holds: bool,
    kind: &str,
    message: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if holds {
        Ok(())
    } else {
        Err(Failure::new(kind, message()))
    }
}
