//! The door to real time.

use crate::controller::{self, Named};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// Reads a request from one descriptor, carries it out and answers on another. The process must have been
/// started for this, must have one thread, and should end afterwards.
#[pyfunction]
pub(crate) fn serve_live(request: i32, answer: i32, resolve: Py<PyAny>) -> PyResult<()> {
    let registry = controller::registry(&Named::new(resolve));
    thalweg_live::serve(request, answer, &registry)
        .map_err(|error| PyOSError::new_err(error.to_string()))
}
