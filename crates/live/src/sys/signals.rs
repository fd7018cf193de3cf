//! Signals as things to read (signalfd), so that they wait in line with everything else.
#![allow(unsafe_code)]

use super::check;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// A set of signals that are held back from the process and read from a descriptor instead.
#[derive(Debug)]
pub(crate) struct Signals(OwnedFd);

impl Signals {
    /// Holds back these signals.
    pub(crate) fn hold(signals: &[libc::c_int]) -> io::Result<Self> {
        let flags = libc::SFD_NONBLOCK | libc::SFD_CLOEXEC;
        // SAFETY: `set` is initialised by sigemptyset and lives until the calls return; the new descriptor
        // belongs to nobody else.
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

    /// The next signal that has come.
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

/// Undoes what this process did to its signals, before another program takes its place.
pub(crate) fn restore() {
    // SAFETY: no memory is involved but the local set.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGPIPE, libc::SIGTERM] {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}

/// Sleeps until this process is killed. Children that end meanwhile leave nothing behind.
pub(crate) fn sleep_until_killed() -> ! {
    // SAFETY: no memory is involved.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
        loop {
            libc::pause();
        }
    }
}
