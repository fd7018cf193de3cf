//! What a controller in Python shows of itself, for traces.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use thalweg_control::Observer;
use thalweg_control::foreign::kept;

/// Calls `observe` and hands on what it returns: a dictionary of numbers by name; `"state"` is a text.
pub(super) fn show(method: &Bound<'_, PyAny>, out: &mut dyn Observer) -> PyResult<()> {
    let shown = method.call0()?;
    let Ok(shown) = shown.cast::<PyDict>() else {
        let problem = format!("observe returns {shown:?}; accepted: a dictionary of numbers");
        return Err(PyTypeError::new_err(problem));
    };
    for (name, value) in shown {
        let name = name.extract::<String>()?;
        if name == "state" {
            out.state(known(&value.extract::<String>()?)?);
        } else if !value.is_none() {
            out.variable(known(&name)?, value.extract()?);
        }
    }
    Ok(())
}

/// The same text, for as long as the process lives.
fn known(name: &str) -> PyResult<&'static str> {
    kept(name).ok_or_else(|| {
        let problem = format!("observe gives another name for each call, {name:?} the last");
        PyValueError::new_err(problem)
    })
}
