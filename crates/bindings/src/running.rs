//! Work beside the interpreter: its lock is released, Ctrl-C is heard, and a panic is an exception.

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often signals are looked at and progress is reported.
const POLL: Duration = Duration::from_millis(100);

/// Runs `work` on a thread and calls `report` until it is done. A Ctrl-C stops the work by way of
/// `stop`. Also returns whether that happened.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send,
    report: impl Fn() -> PyResult<()>,
) -> PyResult<(T, bool)> {
    let done = AtomicBool::new(false);
    let watcher = thread::current();
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let result = catch_unwind(AssertUnwindSafe(work));
            done.store(true, Ordering::Release);
            watcher.unpark();
            result
        });
        let mut watching = Ok(());
        while watching.is_ok() && !done.load(Ordering::Acquire) {
            py.detach(|| thread::park_timeout(POLL));
            watching = py.check_signals().and_then(|()| report());
        }
        stop.store(watching.is_err(), Ordering::Relaxed);
        let result = py.detach(|| worker.join().and_then(|result| result));
        let interrupted = match watching {
            Ok(()) => false,
            Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => true,
            Err(error) => return Err(error),
        };
        // The message of the panic has gone to stderr already, with its place in the source.
        let panicked = |_| PyRuntimeError::new_err("the simulator has panicked");
        Ok((result.map_err(panicked)?, interrupted))
    })
}
