//! Signals read from a descriptor (signalfd), so that epoll can wait for them.
#![allow(unsafe_code)]

use super::check;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// A set of signals that are blocked and read from a descriptor.
#[derive(Debug)]
pub(crate) struct Signals(OwnedFd);

impl Signals {
    /// Blocks these signals.
    pub(crate) fn hold(signals: &[libc::c_int]) -> io::Result<Self> {
        let flags = libc::SFD_NONBLOCK | libc::SFD_CLOEXEC;
        // SAFETY: `set` is initialised by sigemptyset and lives until the calls return; the new descriptor
        // has no other owner.
        unsafe {
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for signal in signals {
                check(libc::sigaddset(&raw mut set, *signal))?;
            }
            check(libc::sigprocmask(
                libc::SIG_BLOCK,
                &raw const set,
                std::ptr::null_mut(),
            ))?;
            let fd = check(libc::signalfd(-1, &raw const set, flags))?;
            Ok(Signals(OwnedFd::from_raw_fd(fd)))
        }
    }

    /// The next pending signal.
    pub(crate) fn next(&self) -> Option<libc::c_int> {
        // SAFETY: all-zero bytes are a valid `signalfd_siginfo`; the read writes at most its size.
        unsafe {
            let mut info: libc::signalfd_siginfo = std::mem::zeroed();
            let size = size_of_val(&info);
            let read = libc::read(self.0.as_raw_fd(), (&raw mut info).cast(), size);
            (read == size as isize).then_some(info.ssi_signo.cast_signed())
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Restores signals to their defaults before executing another program.
pub(crate) fn restore() {
    // SAFETY: no memory is involved but the local set.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
        let changed = [
            libc::SIGINT,
            libc::SIGQUIT,
            libc::SIGPIPE,
            libc::SIGTERM,
            libc::SIGUSR1,
        ];
        for signal in changed {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}

/// Sleeps until this process is killed, and reaps children.
pub(crate) fn sleep_until_killed() -> ! {
    // SAFETY: no memory is involved.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
        loop {
            libc::pause();
        }
    }
}
