//! Waiting: epoll, and a timer with nanoseconds that epoll can wait for (timerfd).
#![allow(unsafe_code)]

use super::check;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use thalweg_units::Duration;

/// Most events that one wait returns.
const MOST: usize = 32;

/// The event to wait for on a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    /// It can be read.
    Read,
    /// It can be read or written.
    ReadWrite,
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

    /// Waits until a descriptor is ready; with `patience`, at most that many milliseconds. A signal also ends
    /// the wait.
    pub(crate) fn wait(&mut self, patience: Option<u16>) -> io::Result<()> {
        let timeout = patience.map_or(-1, libc::c_int::from);
        // SAFETY: the array has room for MOST events.
        let ready = unsafe {
            check(libc::epoll_wait(
                self.fd.as_raw_fd(),
                self.events.as_mut_ptr(),
                MOST as libc::c_int,
                timeout,
            ))
        };
        self.ready = match ready {
            Ok(ready) => ready.unsigned_abs() as usize,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) => return Err(error),
        };
        Ok(())
    }

    /// The numbers of the descriptors that were ready after the last wait.
    pub(crate) fn ready(&self) -> impl Iterator<Item = u64> + '_ {
        self.events[..self.ready].iter().map(|event| event.u64)
    }
}

/// A timer that becomes readable at a time of `CLOCK_MONOTONIC`.
#[derive(Debug)]
pub(crate) struct Timer(OwnedFd);

impl Timer {
    pub(crate) fn new() -> io::Result<Self> {
        let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
        // SAFETY: no pointers; the new descriptor has no other owner.
        unsafe {
            let fd = check(libc::timerfd_create(libc::CLOCK_MONOTONIC, flags))?;
            Ok(Timer(OwnedFd::from_raw_fd(fd)))
        }
    }

    /// Sets the timer to an absolute time, or disarms it. Setting it also clears an earlier expiry.
    pub(crate) fn set(&self, at: Option<Duration>) -> io::Result<()> {
        const ZERO: libc::timespec = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // An absolute time of zero would disarm; no deadline is at boot.
        let it_value = at.map_or(ZERO, |at| libc::timespec {
            tv_sec: (at.as_nanos() / 1_000_000_000).cast_signed(),
            tv_nsec: (at.as_nanos() % 1_000_000_000).cast_signed(),
        });
        let spec = libc::itimerspec {
            it_interval: ZERO,
            it_value,
        };
        let none = std::ptr::null_mut();
        // SAFETY: `spec` lives until the call returns; no output is requested.
        unsafe {
            check(libc::timerfd_settime(
                self.0.as_raw_fd(),
                libc::TFD_TIMER_ABSTIME,
                &raw const spec,
                none,
            ))?;
        }
        Ok(())
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}
