//! What a controller in Python decides: attributes of its instance, read after each handler and checked.

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use thalweg_control::Control;
use thalweg_control::foreign::Decision;
use thalweg_units::{Bytes, Ecn};

/// The decision in force.
pub(super) fn read(instance: &Bound<'_, PyAny>, initial_window: Bytes) -> PyResult<Control> {
    let py = instance.py();
    let window = number(instance, intern!(py, "window"), "bytes")?;
    let window = window.ok_or_else(|| {
        PyValueError::new_err("window is None; accepted: a number of bytes, 0 or more")
    })?;
    let pacing = number(instance, intern!(py, "pacing"), "bits per second")?;
    let quantum = number(instance, intern!(py, "quantum"), "bytes")?;
    let decision = Decision {
        window,
        pacing,
        quantum,
        startup_done: instance.getattr(intern!(py, "startup_done"))?.is_truthy()?,
    };
    Ok(decision.control(initial_window))
}

/// A number of a unit that is not negative; `None` stands for itself.
fn number(
    instance: &Bound<'_, PyAny>,
    name: &Bound<'_, PyString>,
    unit: &str,
) -> PyResult<Option<f64>> {
    let Some(value) = instance.getattr_opt(name)? else {
        let problem = format!("{name} is not set; accepted: a number of {unit}, 0 or more");
        return Err(PyValueError::new_err(problem));
    };
    if value.is_none() {
        return Ok(None);
    }
    match value.extract::<f64>() {
        Ok(number) if number >= 0.0 && number.is_finite() => Ok(Some(number)),
        _ => {
            let shown = value
                .repr()
                .map_or_else(|_| "?".to_owned(), |text| text.to_string());
            let shown = thalweg_units::brief(&shown, 60).into_owned();
            let problem = format!("{name} is {shown}; accepted: a number of {unit}, 0 or more");
            Err(PyValueError::new_err(problem))
        }
    }
}

/// The codepoint that packets carry, settled when a controller is made: one that does not say is taken to answer marks if
/// it hears of them.
pub(super) fn ecn(instance: &Bound<'_, PyAny>, hears_marks: bool) -> PyResult<Ecn> {
    let value = instance.getattr(intern!(instance.py(), "ecn"))?;
    if value.is_none() {
        return Ok(match hears_marks {
            true => Ecn::Ect0,
            false => Ecn::NotEct,
        });
    }
    match value.extract::<String>().ok().as_deref() {
        Some("ect0") => Ok(Ecn::Ect0),
        Some("ect1") => Ok(Ecn::Ect1),
        Some("none") => Ok(Ecn::NotEct),
        _ => {
            let problem =
                format!("ecn is {value:?}; accepted: \"ect0\", \"ect1\", \"none\" or None");
            Err(PyValueError::new_err(problem))
        }
    }
}
