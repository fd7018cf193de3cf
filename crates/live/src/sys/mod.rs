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

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;

/// A file without a name, which is gone when it is closed.
///
/// # Errors
/// If the folder for temporary files cannot be written.
pub(crate) fn unnamed_file() -> io::Result<File> {
    let options = &mut File::options();
    let options = options.read(true).write(true).custom_flags(libc::O_TMPFILE);
    options.open(std::env::temp_dir())
}

/// The result of a system call that returns -1 on failure.
fn check<T: Default + PartialOrd>(result: T) -> io::Result<T> {
    if result < T::default() {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}
