//! Reports as Python sees them, in seconds, bytes and bits per second.

use super::attributes::{InPython, attributes};
use pyo3::prelude::*;
use thalweg_control::{fields, report};
use thalweg_units::{Bytes, Duration, Rate};

/// What happened since the last report.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Report(pub(crate) report::Report);

fields!(Report => attributes!(Report (self: report::Report = &self.0) {}));
