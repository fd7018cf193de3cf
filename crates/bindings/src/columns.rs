//! Columns for Python: a dictionary of arrays.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use thalweg_columns::{Column, Table};

/// The columns of a table by name. Numbers keep their memory; words are indices and the list of words.
pub(crate) fn dictionary(py: Python<'_>, table: Table) -> PyResult<Py<PyDict>> {
    let dictionary = PyDict::new(py);
    for (name, column) in table.columns {
        match column {
            Column::Floats(values) => {
                dictionary.set_item(name, PyArray1::from_vec(py, values))?;
            }
            Column::Counts(values) => {
                dictionary.set_item(name, PyArray1::from_vec(py, values))?;
            }
            Column::Seeds(values) => {
                dictionary.set_item(name, PyArray1::from_vec(py, values))?;
            }
            Column::Truths(values) => {
                dictionary.set_item(name, PyArray1::from_vec(py, values))?;
            }
            Column::Words(indices, words) => {
                dictionary.set_item(name, (PyArray1::from_vec(py, indices), words))?;
            }
            Column::Texts(texts) => dictionary.set_item(name, texts)?,
        }
    }
    Ok(dictionary.unbind())
}
