//! What is known of a class of controllers before a trial.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use thalweg_control::foreign::Handler;
use thalweg_control::report::Every;

/// A class with its options.
pub(super) struct Definition {
    /// The text that names it.
    pub(super) text: String,
    /// Makes an instance out of an `Init`.
    pub(super) make: Py<PyAny>,
    /// Names of the methods that the class defines.
    defined: Vec<String>,
    pub(super) report_every: Option<Every>,
    /// Whether it decides only at ends that send data of the application.
    pub(super) senders_only: bool,
}

impl Definition {
    /// Takes it out of a `thalweg.engine.controllers.definition.Definition`.
    pub(super) fn new(text: &str, of: &Bound<'_, PyAny>) -> PyResult<Definition> {
        let every: Option<String> = of.getattr("report_every")?.extract()?;
        let every = every.map(|every| Every::read(&every)).transpose();
        let every = every.map_err(|problem| {
            let problem = format!("\"{text}\": report_every = {problem}");
            PyValueError::new_err(problem)
        })?;
        Ok(Definition {
            text: text.to_owned(),
            make: of.getattr("make")?.unbind(),
            defined: of.getattr("handlers")?.extract()?,
            report_every: every,
            senders_only: of.getattr("senders_only")?.extract()?,
        })
    }

    pub(super) fn defines(&self, handler: Handler) -> bool {
        self.defined.iter().any(|name| name == handler.name())
    }
}
