//! What a controller in Python shows of itself, for traces.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use thalweg_control::Observer;

/// Names that a process may have. Traces keep them until the process ends.
const MOST_NAMES: usize = 1_000;

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
            out.state(kept(&value.extract::<String>()?)?);
        } else if !value.is_none() {
            out.variable(kept(&name)?, value.extract()?);
        }
    }
    Ok(())
}

/// The same text, for as long as the process lives.
fn kept(name: &str) -> PyResult<&'static str> {
    static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    if let Some(known) = names.get(name) {
        return Ok(known);
    }
    if names.len() == MOST_NAMES {
        let problem = format!("observe gives another name for each call, {name:?} the last");
        return Err(PyValueError::new_err(problem));
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    Ok(name)
}
