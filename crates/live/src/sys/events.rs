//! Waiting: epoll, with a timeout in nanoseconds (`epoll_pwait2`, since Linux 5.11).
//!
//! A timeout costs no system call in addition to the wait. It never ends early; the kernel may end it late by its slack, the
//! larger of a thousandth of the timeout and the slack of the thread (prctl(2), `PR_SET_TIMERSLACK`), which a thread
//! with real-time priority does not have.
#![allow(unsafe_code)]

use super::check;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use thalweg_units::Duration;

/// Most events that one wait returns.
pub(crate) const MOST: usize = 32;

/// The event to wait for on a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    /// It can be read.
    Read,
    /// It can be read or written.
    ReadWrite,
}

/// `struct __kernel_timespec` of linux/time_types.h, on every architecture.
#[repr(C)]
struct Timespec {
    seconds: i64,
    nanos: i64,
}

/// A set of descriptors to wait for, each with a number of the caller's choice. Level-triggered.
#[derive(Debug)]
pub(crate) struct Epoll {
    fd: OwnedFd,
    events: [libc::epoll_event; MOST],
    ready: usize,
}

impl Epoll {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no pointers; the new descriptor has no other owner.
        let fd = unsafe {
            let fd = check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?;
            OwnedFd::from_raw_fd(fd)
        };
        let events = [libc::epoll_event { events: 0, u64: 0 }; MOST];
        Ok(Epoll {
            fd,
            events,
            ready: 0,
        })
    }

    /// Waits for `fd` from now on.
    pub(crate) fn add(&self, fd: impl AsFd, number: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, number, interest)
    }

    /// Changes the event to wait for on `fd`.
    pub(crate) fn change(&self, fd: impl AsFd, number: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, number, interest)
    }

    /// Stops waiting for `fd`.
    pub(crate) fn remove(&self, fd: impl AsFd) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, fd, 0, Interest::Read)
    }

    fn control(
        &self,
        what: libc::c_int,
        fd: impl AsFd,
        number: u64,
        interest: Interest,
    ) -> io::Result<()> {
        let bits = match interest {
            Interest::Read => libc::EPOLLIN,
            Interest::ReadWrite => libc::EPOLLIN | libc::EPOLLOUT,
        };
        let mut event = libc::epoll_event {
            events: bits.unsigned_abs(),
            u64: number,
        };
        let fd = fd.as_fd().as_raw_fd();
        // SAFETY: `event` lives until the call returns, and the kernel copies it.
        unsafe {
            check(libc::epoll_ctl(
                self.fd.as_raw_fd(),
                what,
                fd,
                &raw mut event,
            ))?
        };
        Ok(())
    }

    /// Waits until a descriptor is ready, at most for `patience`. A signal also ends the wait.
    pub(crate) fn wait(&mut self, patience: Option<Duration>) -> io::Result<()> {
        let timeout = patience.map(|patience| Timespec {
            seconds: (patience.as_nanos() / 1_000_000_000).cast_signed(),
            nanos: (patience.as_nanos() % 1_000_000_000).cast_signed(),
        });
        let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: the array has room for MOST events; the timeout lives until the call returns, and no set of
        // signals is given. Called by number, because C libraries of the age of the kernel lack the function.
        let ready = unsafe {
            check(libc::syscall(
                libc::SYS_epoll_pwait2,
                self.fd.as_raw_fd(),
                self.events.as_mut_ptr(),
                MOST as libc::c_int,
                timeout,
                ptr::null::<libc::sigset_t>(),
                0_usize,
            ))
        };
        self.ready = match ready {
            Ok(ready) => ready.unsigned_abs() as usize,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
                let problem = "real time requires Linux 5.11 or later; this kernel cannot wait for nanoseconds";
                return Err(io::Error::other(problem));
            }
            Err(error) => return Err(error),
        };
        Ok(())
    }

    /// The numbers of the descriptors that were ready after the last wait.
    pub(crate) fn ready(&self) -> impl Iterator<Item = u64> + '_ {
        self.events[..self.ready].iter().map(|event| event.u64)
    }
}
