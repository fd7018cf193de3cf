//! The door to real time.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// Reads a request from one descriptor, carries it out and answers on another. The process must have been
/// started for this, must have one thread, and should end afterwards.
#[pyfunction]
pub(crate) fn serve_live(request: i32, answer: i32) -> PyResult<()> {
    thalweg_live::serve(request, answer).map_err(|error| PyOSError::new_err(error.to_string()))
}
