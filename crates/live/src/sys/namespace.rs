//! Namespaces (namespaces(7)). They have no names: descriptors or processes hold each, and the kernel
//! removes it with the last holder.
#![allow(unsafe_code)]

use super::check;
use std::ffi::CStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Leaves the network namespace for a new, empty one, and returns its descriptor.
pub(crate) fn new_network() -> io::Result<File> {
    // SAFETY: no pointers. The thread has no sockets to confuse with the sockets of the new namespace.
    unsafe { check(libc::unshare(libc::CLONE_NEWNET))? };
    File::open("/proc/thread-self/ns/net")
}

/// Enters a network namespace.
pub(crate) fn enter_network(namespace: impl AsFd) -> io::Result<()> {
    // SAFETY: no pointers.
    unsafe {
        check(libc::setns(
            namespace.as_fd().as_raw_fd(),
            libc::CLONE_NEWNET,
        ))?;
    }
    Ok(())
}

/// Enters a new user namespace in which the process may create the others. User ids are the same as
/// outside: programs run as their user, without privileges.
pub(crate) fn new_user() -> io::Result<()> {
    // SAFETY: no pointers, and the calls cannot fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // SAFETY: no pointers. The kernel refuses it to a process with several threads.
    unsafe { check(libc::unshare(libc::CLONE_NEWUSER))? };
    // Without privileges outside, the group map may be written only after disabling setgroups.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Whether the process has root privileges over its namespaces.
pub(crate) fn is_root() -> bool {
    // SAFETY: no pointers, and the call cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Lets every user of this network namespace send echo requests without privileges (icmp(7)). If that
/// fails, ping needs its usual privileges.
pub(crate) fn allow_ping() {
    // SAFETY: no pointers, and the call cannot fail.
    let group = unsafe { libc::getegid() };
    let _ = fs::write(
        "/proc/sys/net/ipv4/ping_group_range",
        format!("{group} {group}"),
    );
}

/// Mounts a /proc that shows the processes of the namespace of this process, which is the first there and
/// has its own mount namespace. Without permission the old one stays.
pub(crate) fn own_proc() {
    const ROOT: &CStr = c"/";
    const PROC: &CStr = c"proc";
    const PLACE: &CStr = c"/proc";
    let none = std::ptr::null();
    let private = libc::MS_REC | libc::MS_PRIVATE;
    let plain = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    // SAFETY: all texts are constants.
    unsafe {
        if libc::mount(none, ROOT.as_ptr(), none, private, none.cast()) == 0 {
            libc::mount(
                PROC.as_ptr(),
                PLACE.as_ptr(),
                PROC.as_ptr(),
                plain,
                none.cast(),
            );
        }
    }
}
