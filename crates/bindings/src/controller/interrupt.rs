//! Ctrl-C in a handler that does not return.
//!
//! A run works on its own thread, and Python delivers signals only to its main thread. Threads that run handlers are
//! therefore listed here while they do ([`Speaking`]), and [`interrupt_handlers`] raises `KeyboardInterrupt` in the thread of
//! one run.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::ffi::c_long;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

/// The threads that run handlers, and the numbers that Python gives them.
static SPEAKING: Mutex<Vec<(ThreadId, c_long)>> = Mutex::new(Vec::new());

/// This thread runs handlers, as long as it lives. It stays known to the interpreter until `work` ends: to become known
/// takes longer than most handlers.
pub(crate) struct Speaking(ThreadId);

impl Speaking {
    /// Runs `work`, which calls handlers.
    pub(crate) fn during<T: Send>(work: impl FnOnce() -> T + Send) -> PyResult<T> {
        Python::attach(|py| {
            let number = py.import("threading")?.call_method0("get_ident")?;
            let number = number.extract()?;
            let speaking = Speaking(thread::current().id());
            locked().push((speaking.0, number));
            Ok(py.detach(work))
        })
    }
}

impl Drop for Speaking {
    fn drop(&mut self) {
        locked().retain(|(thread, _)| *thread != self.0);
    }
}

fn locked() -> std::sync::MutexGuard<'static, Vec<(ThreadId, c_long)>> {
    SPEAKING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Raises `KeyboardInterrupt` in the handler that a thread runs, at its next step.
pub(crate) fn interrupt_handlers(py: Python<'_>, of: ThreadId) {
    let error = py.get_type::<PyKeyboardInterrupt>();
    for (_, number) in locked().iter().filter(|(thread, _)| *thread == of) {
        // SAFETY: the interpreter is attached; it ignores numbers of no thread.
        unsafe { pyo3::ffi::PyThreadState_SetAsyncExc(*number, error.as_ptr()) };
    }
}
