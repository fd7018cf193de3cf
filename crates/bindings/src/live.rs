//! The door to real time.

use crate::controller::{self, Failure, Named};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use thalweg_live::Payload;

/// Reads a request from one descriptor, carries it out and answers on another. The process must have been
/// started for this, must have one thread, and should end afterwards. `explain` puts a `ControllerFailed` in words.
#[pyfunction]
pub(crate) fn serve_live(
    request: i32,
    answer: i32,
    resolve: Py<PyAny>,
    explain: Py<PyAny>,
) -> PyResult<()> {
    let registry = controller::registry(&Named::new(resolve));
    let explain = |payload: Payload, seed: u64| {
        let failure = payload.downcast::<Failure>()?;
        Ok(Python::attach(|py| {
            let failed = failure.into_error(py, Some(seed));
            let said = explain.call1(py, (failed.value(py),));
            said.map_or_else(|error| error.to_string(), |said| said.to_string())
        }))
    };
    thalweg_live::serve(request, answer, &registry, &explain)
        .map_err(|error| PyOSError::new_err(error.to_string()))
}
