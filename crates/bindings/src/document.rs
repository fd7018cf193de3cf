//! TOML texts as Python's values.

use crate::scenario::refusal;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use thalweg_sim::Value;

/// The table of a TOML text, read as the engine reads scenarios. `file` is the name that errors use.
#[pyfunction]
pub(crate) fn toml_document(py: Python<'_>, text: &[u8], file: &str) -> PyResult<Py<PyAny>> {
    let document = Value::document(text, file).map_err(|error| refusal(&error))?;
    object(py, document)
}

fn object(py: Python<'_>, value: Value) -> PyResult<Py<PyAny>> {
    match value {
        Value::Text(text) => text.into_py_any(py),
        Value::Integer(number) => number.into_py_any(py),
        Value::Float(number) => number.into_py_any(py),
        Value::Boolean(is_true) => is_true.into_py_any(py),
        Value::List(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(object(py, item)?)?;
            }
            list.into_py_any(py)
        }
        Value::Table(keys) => {
            let dict = PyDict::new(py);
            for (key, value) in keys {
                dict.set_item(key, object(py, value)?)?;
            }
            dict.into_py_any(py)
        }
    }
}
