//! Environments for learning: flows whose decisions an agent makes, step by step.
//!
//! `thalweg.gym` has the interfaces of Gymnasium and PettingZoo; here is what a step costs time in. What an agent sees is
//! in `features`, what it decides in `actions`, one trial in `episode`, and many of them at once in `pool`,
//! on the threads of `threads`.

mod actions;
mod episode;
mod features;
mod interface;
mod pool;
mod threads;

use pyo3::prelude::*;

/// Adds what `thalweg.gym` builds on.
pub(crate) fn add_classes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<interface::Interface>()?;
    module.add_class::<episode::Episode>()?;
    module.add_class::<pool::Pool>()?;
    module.add_function(wrap_pyfunction!(interface::gym_features, module)?)?;
    module.add_function(wrap_pyfunction!(interface::gym_actions, module)?)
}
