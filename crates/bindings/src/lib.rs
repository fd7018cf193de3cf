//! The native module of the Python package: scenarios, trials, traces, the registries and the
//! door to real time, and nothing else.
//!
//! Its contract is `python/thalweg/_native.pyi`. Everything that leaves it is plain: numbers in seconds,
//! bytes and bits per second, texts, and columns of them. Trials run without the interpreter's lock.

mod batches;
mod columns;
mod controller;
mod document;
mod gym;
mod libraries;
mod live;
mod outcomes;
mod quic;
mod registry;
mod replay;
mod running;
mod scenario;
mod special;
mod trace;
mod visible;

use pyo3::prelude::*;

pyo3::create_exception!(
    thalweg._native,
    ScenarioError,
    pyo3::exceptions::PyValueError,
    "An invalid scenario. The message names file, line, key, value and the accepted forms."
);
pyo3::create_exception!(
    thalweg._native,
    Cancelled,
    pyo3::exceptions::PyException,
    "Trials were interrupted (Ctrl-C)."
);
pyo3::create_exception!(
    thalweg._native,
    Panicked,
    pyo3::exceptions::PyRuntimeError,
    "The simulator has panicked, which is a defect of it."
);
pyo3::create_exception!(
    thalweg._native,
    AuditError,
    pyo3::exceptions::PyException,
    "The auditor has found that a trial contradicts physics. The message has seed, time and element."
);

pyo3::create_exception!(
    thalweg._native,
    ControllerFailed,
    pyo3::exceptions::PyException,
    "A controller in Python has raised something, its cause. Arguments: controller, method, flow, seed, time in seconds."
);

pyo3::create_exception!(
    thalweg._native,
    StackFailed,
    pyo3::exceptions::PyException,
    "The library of a stack has done what its interface forbids. Arguments: what, and the seed of the trial."
);

pyo3::create_exception!(
    thalweg._native,
    QuicRefused,
    pyo3::exceptions::PyException,
    "A connection over sockets cannot be made as requested."
);
pyo3::create_exception!(
    thalweg._native,
    QuicFailed,
    pyo3::exceptions::PyException,
    "A connection over sockets failed before it finished."
);

/// Scenario files, trials and traces.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("ScenarioError", py.get_type::<ScenarioError>())?;
    module.add("Cancelled", py.get_type::<Cancelled>())?;
    module.add("Panicked", py.get_type::<Panicked>())?;
    module.add("AuditError", py.get_type::<AuditError>())?;
    module.add("TAPE_BLOCK_S", thalweg_path::BLOCK.as_secs_f64())?;
    module.add_function(wrap_pyfunction!(registry::version, module)?)?;
    module.add_function(wrap_pyfunction!(registry::engine, module)?)?;
    module.add_function(wrap_pyfunction!(registry::controllers, module)?)?;
    module.add_function(wrap_pyfunction!(registry::normal_controller, module)?)?;
    module.add_function(wrap_pyfunction!(registry::runs_in_browser, module)?)?;
    module.add_function(wrap_pyfunction!(registry::models, module)?)?;
    module.add_function(wrap_pyfunction!(registry::metrics, module)?)?;
    module.add_function(wrap_pyfunction!(registry::phases, module)?)?;
    module.add_function(wrap_pyfunction!(registry::scenario_schema, module)?)?;
    module.add_function(wrap_pyfunction!(replay::replay, module)?)?;
    module.add_function(wrap_pyfunction!(trace::qlog_of, module)?)?;
    module.add_function(wrap_pyfunction!(document::toml_document, module)?)?;
    module.add_function(wrap_pyfunction!(visible::visible, module)?)?;
    module.add_function(wrap_pyfunction!(visible::visible_lines, module)?)?;
    module.add_function(wrap_pyfunction!(special::regularized_beta, module)?)?;
    module.add_function(wrap_pyfunction!(special::inverse_regularized_beta, module)?)?;
    module.add_function(wrap_pyfunction!(live::serve_live, module)?)?;
    module.add("ControllerFailed", py.get_type::<ControllerFailed>())?;
    controller::add_classes(module)?;
    libraries::add_functions(module)?;
    gym::add_classes(module)?;
    module.add("QuicRefused", py.get_type::<QuicRefused>())?;
    module.add("QuicFailed", py.get_type::<QuicFailed>())?;
    quic::add(module)?;
    module.add_function(wrap_pyfunction!(batches::run_batches, module)?)?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<outcomes::Outcomes>()?;
    module.add_class::<outcomes::Trial>()?;
    module.add_class::<trace::Trace>()
}
