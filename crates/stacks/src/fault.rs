//! What a library does against its interface.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use thalweg_units::Instant;

/// A fault of a library, which ends its trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The library, as the scenario names it.
    pub library: String,
    /// The function: `thalweg_stack_expire`.
    pub call: &'static str,
    /// The end at fault: `the server of flow main`.
    pub end: String,
    /// The simulated time.
    pub now: Instant,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault {
            library,
            call,
            end,
            now,
            problem,
        } = self;
        let seconds = now.as_secs_f64();
        write!(
            out,
            "{library}: {call} of the {end} {problem}, at {seconds} s"
        )
    }
}

impl std::error::Error for Fault {}

impl Fault {
    /// Ends the trial, as a panic does but without its message.
    pub(crate) fn unwind(self) -> ! {
        resume_unwind(Box::new(self))
    }
}

/// Does work in which a library may fail.
///
/// # Errors
/// The fault that ended it.
pub fn result_of<T>(work: impl FnOnce() -> T) -> Result<T, Box<Fault>> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast() {
        Ok(fault) => fault,
        Err(panic) => resume_unwind(panic),
    })
}
