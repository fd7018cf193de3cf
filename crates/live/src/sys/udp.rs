//! UDP sockets: buffer sizes and overflow counts (socket(7)).
#![allow(unsafe_code)]

use super::check;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Number of the counter of drops in the answer to `SO_MEMINFO` (`SK_MEMINFO_DROPS`, linux/sock_diag.h), and how
/// many counters there are.
const DROPS: usize = 8;
const COUNTERS: usize = 9;

/// Sets the buffer size of a socket in each direction, beyond the limit of the host (`net.core.rmem_max`).
pub(crate) fn set_buffers(socket: impl AsFd, bytes: i32) -> io::Result<()> {
    let size = size_of::<libc::c_int>() as libc::socklen_t;
    for option in [libc::SO_RCVBUFFORCE, libc::SO_SNDBUFFORCE] {
        // SAFETY: the number lives until the call returns.
        unsafe {
            check(libc::setsockopt(
                socket.as_fd().as_raw_fd(),
                libc::SOL_SOCKET,
                option,
                (&raw const bytes).cast(),
                size,
            ))?;
        }
    }
    Ok(())
}

/// Datagrams dropped because the receive buffer was full.
pub(crate) fn dropped(socket: impl AsFd) -> io::Result<u64> {
    let mut counters = [0_u32; COUNTERS];
    let mut size = size_of_val(&counters) as libc::socklen_t;
    // SAFETY: the kernel writes at most `size` bytes, and any bytes are valid counters.
    unsafe {
        check(libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            (&raw mut counters).cast(),
            &raw mut size,
        ))?;
    }
    Ok(counters[DROPS].into())
}
