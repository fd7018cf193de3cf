//! Stacks from shared libraries: who inspects them, and which processes may run them.
//!
//! A library may crash or never return. So it is loaded by processes that exist for nothing else, which say so by
//! [`play_libraries_here`]; elsewhere Python has them inspected and played by such a process.

use crate::{ScenarioError, StackFailed};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use thalweg_stacks::present::{self, Call};
use thalweg_stacks::{Inspected, inspect_here, inspect_with};

/// Name, version, controllers and the most streams of a connection.
pub(crate) type StackInfo = (String, String, Vec<String>, u32);

static IS_APART: AtomicBool = AtomicBool::new(false);

pub(crate) fn add_functions(module: &Bound<'_, PyModule>) -> PyResult<()> {
    inspect_with(ask_python);
    let py = module.py();
    let calls: Vec<&str> = Call::ALL.iter().map(|call| call.name()).collect();
    module.add("STACK_CALLS", calls)?;
    module.add("PRESENT_CALL_SIZE", present::SIZE)?;
    module.add("StackFailed", py.get_type::<StackFailed>())?;
    module.add_function(wrap_pyfunction!(names_library, module)?)?;
    module.add_function(wrap_pyfunction!(inspect_library, module)?)?;
    module.add_function(wrap_pyfunction!(play_libraries_here, module)?)?;
    module.add_function(wrap_pyfunction!(share_present_call, module)?)
}

/// Has `thalweg.engine.libraries` inspect a library.
fn ask_python(path: &Path, sha256: &str) -> Result<Inspected, String> {
    Python::attach(|py| {
        let asked = py
            .import("thalweg.engine.libraries")
            .and_then(|module| module.call_method1("inspected", (path, sha256)))
            .and_then(|info| info.extract::<StackInfo>());
        let (name, version, controllers, max_streams) =
            asked.map_err(|error| error.value(py).to_string())?;
        Ok(Inspected {
            name,
            version,
            controllers,
            max_streams,
        })
    })
}

/// Whether a value of the key `stack` is meant to be the file of a library.
#[pyfunction]
fn names_library(stack: &str) -> bool {
    thalweg_sim::names_library(stack)
}

/// Loads a library into this process and says what it is. Raises ScenarioError.
#[pyfunction]
fn inspect_library(path: PathBuf) -> PyResult<StackInfo> {
    let found = inspect_here(&path).map_err(ScenarioError::new_err)?;
    let Inspected {
        name,
        version,
        controllers,
        max_streams,
    } = found;
    Ok((name, version, controllers, max_streams))
}

/// From now on libraries run in this process.
#[pyfunction]
fn play_libraries_here() {
    IS_APART.store(true, Ordering::Relaxed);
}

/// Notes which function of a library is being called in a buffer, such as a shared `mmap`, that stays from now on.
#[pyfunction]
fn share_present_call(buffer: PyBuffer<u8>) -> PyResult<()> {
    let memory = buffer.buf_ptr().cast::<u8>();
    let fits = buffer.len_bytes() >= present::SIZE && !buffer.readonly();
    if !fits || memory.align_offset(8) != 0 {
        return Err(PyValueError::new_err("the buffer is too small"));
    }
    // SAFETY: it is large enough and aligned, and since the buffer is never released its memory stays.
    unsafe { present::share(memory) };
    std::mem::forget(buffer);
    Ok(())
}

/// Refuses to run libraries in a process that has more to lose.
pub(crate) fn refuse_here(scenario: &thalweg_sim::Scenario) -> PyResult<()> {
    if IS_APART.load(Ordering::Relaxed) || scenario.libraries().is_empty() {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(
        "trials of libraries run in processes of their own",
    ))
}
