//! Registries of controllers, models and metrics.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use thalweg_control::registry::ENTRIES;
use thalweg_sim::{Metric, StackController};

/// Version of the simulator.
#[pyfunction]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Version of the simulator, and a hash of the sources that its trials depend on: two builds with the same text have the
/// same trials. `build.rs` makes it.
#[pyfunction]
pub(crate) fn engine() -> &'static str {
    env!("THALWEG_ENGINE")
}

/// JSON schema of a scenario file.
#[pyfunction]
pub(crate) fn scenario_schema() -> String {
    thalweg_sim::json_schema()
}

/// Registry of controllers.
#[pyfunction]
pub(crate) fn controllers(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for entry in ENTRIES {
        let options = PyList::empty(py);
        for doc in entry.options {
            let option = PyDict::new(py);
            option.set_item("name", doc.name)?;
            option.set_item("accepted", doc.kind.accepted())?;
            option.set_item("default", doc.default)?;
            option.set_item("meaning", doc.meaning)?;
            options.append(option)?;
        }
        let controller = PyDict::new(py);
        controller.set_item("name", entry.name)?;
        controller.set_item("title", entry.title)?;
        controller.set_item("source", entry.source)?;
        controller.set_item("options", options)?;
        list.append(controller)?;
    }
    for entry in StackController::ALL {
        let controller = PyDict::new(py);
        controller.set_item("name", entry.as_str())?;
        controller.set_item("title", entry.title())?;
        controller.set_item("source", StackController::SOURCE)?;
        controller.set_item("options", PyList::empty(py))?;
        list.append(controller)?;
    }
    Ok(list)
}

/// Models of the path.
#[pyfunction]
pub(crate) fn models(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for entry in thalweg_path::models() {
        let model = PyDict::new(py);
        model.set_item("kind", entry.kind.name())?;
        model.set_item("name", entry.name)?;
        model.set_item("title", entry.title)?;
        model.set_item("source", entry.source)?;
        list.append(model)?;
    }
    Ok(list)
}

/// Metrics that a criterion can bound.
#[pyfunction]
pub(crate) fn metrics(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for metric in Metric::ALL {
        let of = if metric.is_of_media() {
            "stream"
        } else {
            "flow"
        };
        let entry = PyDict::new(py);
        entry.set_item("name", metric.name())?;
        entry.set_item("unit", metric.unit().name())?;
        entry.set_item("of", of)?;
        entry.set_item("meaning", metric.meaning())?;
        list.append(entry)?;
    }
    Ok(list)
}
