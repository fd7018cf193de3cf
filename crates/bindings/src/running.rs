//! Work outside the interpreter: its lock is released, Ctrl-C stops the work, and a panic becomes an exception.

use crate::Panicked;
use crate::controller::interrupt_handlers;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often signals are checked and progress is reported.
const POLL: Duration = Duration::from_millis(100);

/// Runs `work` on a thread and calls `report` until it is done. A Ctrl-C stops the work through
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
        while watching.is_err() && !done.load(Ordering::Acquire) {
            interrupt_handlers(py, worker.thread().id());
            py.detach(|| thread::park_timeout(POLL));
        }
        let result = py.detach(|| worker.join().and_then(|result| result));
        let interrupted = match watching {
            Ok(()) => false,
            Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => true,
            Err(error) => return Err(error),
        };
        // The panic message is on stderr already, with its source location.
        let panicked = |_| Panicked::new_err("the simulator has panicked");
        Ok((result.map_err(panicked)?, interrupted))
    })
}
