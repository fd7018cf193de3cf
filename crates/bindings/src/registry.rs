//! Registries of controllers, models and metrics.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Value, json};
use thalweg_columns::descriptions;
use thalweg_control::phase::PHASES;
use thalweg_control::{Purpose, Registry};
use thalweg_sim::StackController;

/// The controllers of this build, but those in Python.
#[cfg(feature = "c4-history")]
pub(crate) use thalweg_c4_history::registry as all;
#[cfg(not(feature = "c4-history"))]
pub(crate) use thalweg_reference::registry as all;

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
    format!("{:#}", thalweg_sim::json_schema())
}

/// Registry of controllers, with the controllers of the real QUIC stack last.
#[pyfunction]
pub(crate) fn controllers(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let of_stack = StackController::ALL.iter().map(|entry| {
        json!({
            "name": entry.as_str(),
            "purpose": Purpose::Internet.name(),
            "title": entry.title(),
            "source": StackController::SOURCE,
            "options": [],
        })
    });
    let mut controllers = descriptions::controllers(&all());
    controllers.extend(of_stack);
    list(py, &controllers)
}

/// The shortest text for the same controller with the same options; the text itself if it names none of Thalweg.
#[pyfunction]
pub(crate) fn normal_controller(text: &str) -> String {
    let normal = all().normal(text);
    normal.unwrap_or_else(|| text.trim().to_owned())
}

/// Whether the engine in WebAssembly has this controller, which has neither the QUIC stack nor variants of other
/// crates.
#[pyfunction]
pub(crate) fn runs_in_browser(controller: &str) -> bool {
    Registry::standard().read(controller).is_ok()
}

/// Models of the path.
#[pyfunction]
pub(crate) fn models(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    list(py, &descriptions::models())
}

/// Phases of Reno, CUBIC, Prague and their slow starts.
#[pyfunction]
pub(crate) fn phases() -> Vec<(&'static str, &'static str)> {
    let phases = PHASES.iter();
    phases.map(|(name, part)| (*name, part.as_str())).collect()
}

/// Metrics that a criterion can bound.
#[pyfunction]
pub(crate) fn metrics(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    list(py, &descriptions::metrics())
}

/// A list of what JSON describes.
pub(crate) fn list<'py, 'a>(
    py: Python<'py>,
    values: impl IntoIterator<Item = &'a Value>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for value in values {
        list.append(object(py, value)?)?;
    }
    Ok(list)
}

fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(number) => match number.as_i64() {
            Some(count) => count.into_pyobject(py)?.into_any(),
            None => number.as_f64().into_pyobject(py)?,
        },
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(values) => list(py, values)?.into_any(),
        Value::Object(entries) => {
            let dict = PyDict::new(py);
            for (name, value) in entries {
                dict.set_item(name, object(py, value)?)?;
            }
            dict.into_any()
        }
    })
}
