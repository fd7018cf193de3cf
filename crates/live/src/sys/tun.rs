//! TUN devices: network interfaces whose packets a program reads and writes
//! (Linux Documentation/networking/tuntap.rst, linux/if_tun.h).
#![allow(unsafe_code)]

use super::check;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// Creates an interface with this name in the network namespace of the calling thread. Each read and each write
/// is one IP packet after a `virtio_net_hdr`. The kernel removes the interface when the file is closed.
pub(crate) fn open(name: &str) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/net/tun")?;
    let flags = libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
    // SAFETY: all-zero bytes are a valid `ifreq`, and it lives until the call returns.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        super::interface::set_name(&mut request, name);
        request.ifr_ifru.ifru_flags = flags as libc::c_short;
        check(libc::ioctl(
            file.as_raw_fd(),
            libc::TUNSETIFF,
            &raw const request,
        ))?;
    }
    Ok(file)
}

/// Lets the kernel leave checksums and the segmentation of TCP to the reader, and the segmentation of UDP if it can: since
/// Linux 6.2.
pub(crate) fn offload(device: &File) -> io::Result<()> {
    let tcp = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
    let udp = libc::TUN_F_USO4 | libc::TUN_F_USO6;
    let set = |features: libc::c_uint| {
        // SAFETY: no pointers; the argument is a number.
        unsafe {
            check(libc::ioctl(
                device.as_raw_fd(),
                libc::TUNSETOFFLOAD,
                libc::c_ulong::from(features),
            ))
        }
    };
    set(tcp | udp).or_else(|_| set(tcp))?;
    Ok(())
}
