//! Settings of interfaces that only rtnetlink(7) has.
#![allow(unsafe_code)]

use super::check;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};

/// `RTM_SETLINK` of linux/rtnetlink.h, and the attributes of linux/if_link.h.
const SET_LINK: u16 = 19;
const GSO_MAX_SIZE: u16 = 41;
/// `NLM_F_REQUEST | NLM_F_ACK`, and the type of an acknowledgement, of linux/netlink.h.
const ASKED_WITH_ANSWER: u16 = 0x1 | 0x4;
const ANSWER: u16 = 2;

/// Sets the size from which the kernel segments packets itself before it hands them to an interface of the network
/// namespace of the calling thread.
pub(super) fn set_largest_packet(interface: u32, bytes: u32) -> io::Result<()> {
    let mut message = vec![0; 16]; // struct nlmsghdr, filled in below
    message.extend([0; 4]); // struct ifinfomsg: family and type
    message.extend(interface.to_ne_bytes());
    message.extend([0; 8]); // flags, and which of them to change
    message.extend(8u16.to_ne_bytes()); // struct rtattr
    message.extend(GSO_MAX_SIZE.to_ne_bytes());
    message.extend(bytes.to_ne_bytes());
    let length = message.len() as u32;
    message[..4].copy_from_slice(&length.to_ne_bytes());
    message[4..6].copy_from_slice(&SET_LINK.to_ne_bytes());
    message[6..8].copy_from_slice(&ASKED_WITH_ANSWER.to_ne_bytes());
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers; the new descriptor has no other owner.
    let mut socket: File = unsafe {
        let fd = check(libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE))?;
        OwnedFd::from_raw_fd(fd).into()
    };
    socket.write_all(&message)?;
    let mut answer = [0; 256];
    let read = socket.read(&mut answer)?;
    // struct nlmsghdr, then struct nlmsgerr: a negated error, or zero.
    let kind = u16::from_ne_bytes([answer[4], answer[5]]);
    let error = i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]);
    match error {
        _ if read < 20 || kind != ANSWER => Err(io::ErrorKind::InvalidData.into()),
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(-error)),
    }
}
