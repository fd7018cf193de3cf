//! A command on the left host, and perhaps another on the right.

use crate::emulator::Side;
use crate::host::Host;
use crate::stage::Stage;
use crate::sys::process::{self, Status};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;

/// Runs a command on the left host, and perhaps another on the right.
pub(crate) fn run(
    stage: &mut Stage,
    command: &[Vec<u8>],
    peer: Option<&[Vec<u8>]>,
) -> io::Result<Status> {
    let words = |words: &[Vec<u8>]| -> Vec<OsString> {
        words.iter().cloned().map(OsString::from_vec).collect()
    };
    let missing = || io::Error::other("there is no host");
    let left = stage.first(Side::Left).ok_or_else(missing)?;
    let right = stage.first(Side::Right).ok_or_else(missing)?;
    let peer = match peer {
        Some(peer) => Some(right.start_command(&words(peer), &variables(right, left))?),
        None => None,
    };
    let command = left.start_command(&words(command), &variables(left, right))?;
    let status = stage.run_until_ended(command)?;
    if let Some(peer) = peer {
        process::kill(peer);
        process::wait_for(peer)?;
    }
    Ok(status)
}

/// What a command is told of its host and of the host at the other end.
fn variables(own: &Host, other: &Host) -> Vec<(String, String)> {
    let mut variables = vec![
        ("THALWEG_ADDRESS".to_owned(), own.v4.to_string()),
        ("THALWEG_PEER".to_owned(), other.v4.to_string()),
    ];
    if own.has_v6 && other.has_v6 {
        variables.push(("THALWEG_ADDRESS6".to_owned(), own.v6.to_string()));
        variables.push(("THALWEG_PEER6".to_owned(), other.v6.to_string()));
    }
    variables
}
