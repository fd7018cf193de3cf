//! Texts of others for terminals: what these would obey is shown as an escape.

use pyo3::prelude::*;

/// A text in one line.
#[pyfunction]
pub(crate) fn visible(text: &str) -> String {
    thalweg_units::visible(text).into_owned()
}

/// A text of several lines, which may have tabs.
#[pyfunction]
pub(crate) fn visible_lines(text: &str) -> String {
    thalweg_units::visible_lines(text).into_owned()
}
