//! Processes: forking, ending with the parent, waiting (fork(2), prctl(2), waitpid(2)).
#![allow(unsafe_code)]

use super::check;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Number of a process, as its parent sees it.
pub(crate) type Pid = libc::pid_t;

/// How a process ended, as shells count it: its exit status, or 128 and the number of the signal.
pub(crate) type Status = u8;

/// The namespaces of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Child {
    /// The namespaces of its parent.
    Plain,
    /// New process and mount namespaces: it is the first process there, and when it ends, the kernel
    /// kills all others there.
    First,
}

/// A child of this process, until it is waited for.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    /// Open as long as this is kept: the child, when it begins, sees by it that its parent runs.
    _held: File,
}

/// Forks. The child runs `body`, exits with the status that it returns, and is killed if the parent ends
/// first. Must be called by a single-threaded process: the child may then do whatever its parent could.
pub(crate) fn spawn(child: Child, body: impl FnOnce() -> Status) -> io::Result<Process> {
    let (alive, held) = pipe()?;
    let flags = match child {
        Child::Plain => 0,
        Child::First => libc::CLONE_NEWPID | libc::CLONE_NEWNS,
    };
    let none = 0usize;
    // SAFETY: clone without a new stack and without shared memory is a fork; the process has one
    // thread, so the child finds no lock held.
    let pid = unsafe {
        check(libc::syscall(
            libc::SYS_clone,
            i64::from(flags | libc::SIGCHLD),
            none,
            none,
            none,
            none,
        ))?
    };
    if pid > 0 {
        return Ok(Process {
            pid: pid as Pid,
            _held: held,
        });
    }
    drop(held);
    let status = if die_with_parent().is_ok() && !has_ended(&alive) {
        drop(alive);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(70)
    } else {
        70
    };
    // SAFETY: ends this process at once; nothing of the parent's is flushed or closed twice.
    unsafe { libc::_exit(libc::c_int::from(status)) }
}

/// Asks the kernel to kill this process when its parent ends.
pub(crate) fn die_with_parent() -> io::Result<()> {
    // SAFETY: no pointers.
    unsafe { check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))? };
    Ok(())
}

/// The parent of this process.
pub(crate) fn parent() -> Pid {
    // SAFETY: no pointers, and the call cannot fail.
    unsafe { libc::getppid() }
}

/// Lets processes of the same user inspect and enter the namespaces of this process.
pub(crate) fn be_visible() {
    // SAFETY: no pointers.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1) };
}

/// A pipe: its end for reading and its end for writing.
pub(crate) fn pipe() -> io::Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: the array has room for both ends, which have no other owner.
    unsafe {
        check(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC))?;
        let [read, write] = ends.map(|fd| OwnedFd::from_raw_fd(fd));
        Ok((read.into(), write.into()))
    }
}

/// Whether the other end of a pipe is closed.
fn has_ended(pipe: &File) -> bool {
    let mut poll = libc::pollfd {
        fd: pipe.as_raw_fd(),
        events: 0,
        revents: 0,
    };
    // SAFETY: one valid entry.
    unsafe { libc::poll(&raw mut poll, 1, 0) > 0 && poll.revents & libc::POLLHUP != 0 }
}

/// Whether there is something to read from a pipe, or its other end is closed, within a time.
pub(crate) fn is_readable(pipe: &File, within: Duration) -> io::Result<bool> {
    let mut poll = libc::pollfd {
        fd: pipe.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one valid entry.
    let found = unsafe { check(libc::poll(&raw mut poll, 1, within.as_millis() as i32)) };
    match found {
        Ok(found) => Ok(found > 0),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(error) => Err(error),
    }
}

/// An anonymous file in memory, shared with the children.
pub(crate) fn memory_file(name: &str) -> io::Result<File> {
    let name = CString::new(name)?;
    // SAFETY: the name lives until the call returns; the new descriptor has no other owner.
    unsafe {
        let fd = check(libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC))?;
        Ok(OwnedFd::from_raw_fd(fd).into())
    }
}

/// Takes ownership of an inherited descriptor.
///
/// The caller must name each descriptor once and no descriptor that something else owns.
pub(crate) fn inherited(fd: i32) -> io::Result<File> {
    // SAFETY: no pointers; checks that the descriptor is open, and sets close-on-exec.
    unsafe {
        check(libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC))?;
        Ok(File::from_raw_fd(fd))
    }
}

/// Whether a child has ended, and how.
pub(crate) fn ended(pid: Pid) -> io::Result<Option<Status>> {
    wait(pid, libc::WNOHANG).map(|found| found.map(|(_, status)| status))
}

/// Waits until a child has ended.
pub(crate) fn wait_for(pid: Pid) -> io::Result<Status> {
    loop {
        if let Some((_, status)) = wait(pid, 0)? {
            return Ok(status);
        }
    }
}

/// Waits until any child has ended.
pub(crate) fn wait_any() -> io::Result<(Pid, Status)> {
    loop {
        if let Some(found) = wait(-1, 0)? {
            return Ok(found);
        }
    }
}

fn wait(pid: Pid, options: libc::c_int) -> io::Result<Option<(Pid, Status)>> {
    let mut status = 0;
    // SAFETY: `status` is a valid output.
    let found = unsafe { check(libc::waitpid(pid, &raw mut status, options)) };
    match found {
        Ok(0) => Ok(None),
        Ok(found) if libc::WIFSIGNALED(status) => {
            Ok(Some((found, 128 + libc::WTERMSIG(status) as u8)))
        }
        Ok(found) => Ok(Some((found, libc::WEXITSTATUS(status) as u8))),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(error) => Err(error),
    }
}

/// Asks what the first process of a namespace has started to end; that one, a child, ends after it. Best effort.
pub(crate) fn terminate_within(first: Pid) {
    let children = std::fs::read_to_string(format!("/proc/{first}/task/{first}/children"));
    for word in children.unwrap_or_default().split_whitespace() {
        if let Ok(pid) = word.parse::<Pid>() {
            // SAFETY: no pointers. Each command in the background leads a group of its own.
            unsafe { libc::kill(-pid, libc::SIGTERM) };
        }
    }
}

/// Kills a child. Harmless if it has ended: its number is not reused before the wait.
pub(crate) fn kill(pid: Pid) {
    // SAFETY: no pointers.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}
