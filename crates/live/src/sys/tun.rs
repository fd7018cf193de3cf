//! TUN devices: network interfaces whose packets a program reads and writes
//! (Linux Documentation/networking/tuntap.rst).
#![allow(unsafe_code)]

use super::check;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// Creates an interface with this name in the network namespace of the calling thread. Packets are bare IP
/// packets. The kernel removes the interface when the file is closed.
pub(crate) fn open(name: &str) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/net/tun")?;
    // SAFETY: all-zero bytes are a valid `ifreq`, and it lives until the call returns.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        super::interface::set_name(&mut request, name);
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        check(libc::ioctl(
            file.as_raw_fd(),
            libc::TUNSETIFF,
            &raw const request,
        ))?;
    }
    Ok(file)
}
