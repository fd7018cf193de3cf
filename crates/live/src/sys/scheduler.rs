//! How the host schedules the emulator: real-time priority, exact waits, and how long the thread waited for a core.
#![allow(unsafe_code)]

use super::check;
use std::io;
use thalweg_units::Duration;

/// Puts the calling thread under `SCHED_FIFO`, with the lowest of its priorities: above every normal
/// thread, below the kernel's own real-time threads. Processes that it starts are normal again.
pub(crate) fn become_realtime() -> io::Result<()> {
    // SAFETY: no pointers but to `parameters`, which lives until the call returns.
    unsafe {
        let lowest = libc::sched_get_priority_min(libc::SCHED_FIFO);
        let parameters = libc::sched_param {
            sched_priority: lowest,
        };
        let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
        check(libc::sched_setscheduler(0, policy, &raw const parameters))?;
    }
    Ok(())
}

/// The slack of waits that processes have unless they ask for another (prctl(2)).
const USUAL_SLACK: Duration = Duration::from_micros(50);

/// Has waits of the calling thread, and of its future children, end on time.
pub(crate) fn be_punctual() {
    set_slack(Duration::from_nanos(1));
}

/// Undoes [`be_punctual`], for a program that is to run as it would elsewhere.
pub(crate) fn be_usual() {
    set_slack(USUAL_SLACK);
}

fn set_slack(slack: Duration) {
    let slack = slack.as_nanos() as libc::c_ulong;
    // SAFETY: no pointers. It cannot fail for the calling thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, slack) };
}

/// Time that the calling thread was runnable without a core, since its start. `None` if the kernel
/// does not count it.
pub(crate) fn waited_for_core() -> Option<Duration> {
    // Documentation/scheduler/sched-stats.rst: time on a core, time in the run queue, time slices.
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}
