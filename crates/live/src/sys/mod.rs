//! Linux system interfaces: one small file each, and the only unsafe code of the crate. Everything that
//! leaves this module is owned, checked and safe to use.

pub(crate) mod clock;
pub(crate) mod events;
pub(crate) mod interface;
pub(crate) mod namespace;
mod netlink;
pub(crate) mod process;
pub(crate) mod scheduler;
pub(crate) mod signals;
pub(crate) mod tcp;
pub(crate) mod tun;
pub(crate) mod udp;

use std::io;

/// The result of a system call that returns -1 on failure.
fn check<T: Default + PartialOrd>(result: T) -> io::Result<T> {
    if result < T::default() {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}
