//! Processes: forking, ending with the parent, waiting (fork(2), prctl(2), waitpid(2)).
#![allow(unsafe_code)]

use super::check;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Number of a process, as its parent sees it.
pub(crate) type Pid = libc::pid_t;

/// How a process ended, as shells count it: its exit status, or 128 and the number of the signal.
pub(crate) type Status = u8;

/// What a child gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Child {
    /// Nothing of its own.
    Plain,
    /// Process and mount namespaces of its own: it is the first process there, and when it ends, the kernel
    /// kills all others there.
    First,
}

/// Forks. The child runs `body`, ends with the status that it returns, and is killed if the parent ends
/// before. Must be called by a process of one thread: the child may then do whatever its parent could.
pub(crate) fn spawn(child: Child, body: impl FnOnce() -> Status) -> io::Result<Pid> {
    let (alive, held) = pipe()?;
    let flags = match child {
        Child::Plain => 0,
        Child::First => libc::CLONE_NEWPID | libc::CLONE_NEWNS,
    };
    let none = 0usize;
    // SAFETY: clone without a stack of its own and without shared memory is a fork; the process has one
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
        // The parent's end stays open as long as the parent runs.
        std::mem::forget(held);
        return Ok(pid as Pid);
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

/// Lets others of the same user look at and enter the namespaces of this process.
pub(crate) fn be_visible() {
    // SAFETY: no pointers.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1) };
}

/// A pipe: its end for reading and its end for writing.
pub(crate) fn pipe() -> io::Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: the array has room for both ends, which belong to nobody else.
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

/// A file in memory, which the children share and which nobody else sees.
pub(crate) fn memory_file(name: &str) -> io::Result<File> {
    let name = CString::new(name)?;
    // SAFETY: the name lives until the call returns; the new descriptor belongs to nobody else.
    unsafe {
        let fd = check(libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC))?;
        Ok(OwnedFd::from_raw_fd(fd).into())
    }
}

/// Takes over a descriptor that this process was started with.
///
/// The caller must name each descriptor once and no descriptor that something else owns.
pub(crate) fn inherited(fd: i32) -> io::Result<File> {
    // SAFETY: no pointers; tells whether the descriptor is open, and lets no other program inherit it.
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
    // SAFETY: `status` is a valid place for the answer.
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

/// Kills a child. One that has ended already is left alone: nobody has its number until it is waited for.
pub(crate) fn kill(pid: Pid) {
    // SAFETY: no pointers.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}
