//! What a controller in Python raises.
//!
//! A controller cannot fail by its trait. What a handler raises unwinds the trial that called it, as a panic does but
//! without its message, and is caught where the trial was started ([`result_of`]).

use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use thalweg_units::Instant;

/// What was raised, and where.
pub(crate) struct Failure {
    /// The text that names the controller.
    pub(crate) controller: String,
    /// The method that was called.
    pub(crate) handler: &'static str,
    pub(crate) flow: String,
    pub(crate) now: Instant,
    pub(crate) error: PyErr,
}

impl Failure {
    /// Ends the trial.
    pub(super) fn unwind(self) -> ! {
        resume_unwind(Box::new(self))
    }

    /// The exception for Python: its arguments are the controller, the method, the flow, the seed of the trial (none
    /// outside of trials) and the simulated time in seconds; its cause is what was raised.
    pub(crate) fn into_error(self, py: Python<'_>, seed: Option<u64>) -> PyErr {
        let Failure {
            controller,
            handler,
            flow,
            now,
            error,
        } = self;
        let said = (controller, handler, flow, seed, now.as_secs_f64());
        let failed = crate::ControllerFailed::new_err(said);
        failed.set_cause(py, Some(error));
        failed
    }
}

/// Does work in which controllers may fail.
pub(crate) fn result_of<T>(work: impl FnOnce() -> T) -> Result<T, Box<Failure>> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast() {
        Ok(failure) => failure,
        Err(panic) => resume_unwind(panic),
    })
}
