//! A command on the left host, and optionally another on the right, which has to be ready before.

use crate::emulator::Side;
use crate::host::Host;
use crate::ready::{Awaited, how};
use crate::request::{Answer, Peer, words};
use crate::stage::Stage;
use crate::sys::clock::Clock;
use crate::sys::process::{self, Process, Status};
use std::io;
use std::ops::ControlFlow;

/// Runs a command on the left host, and optionally another on the right. The time of the path begins with the command.
///
/// # Errors
/// A message for the user: what cannot be started, or a peer that failed before the command ended.
pub(crate) fn run(
    stage: &mut Stage,
    command: &[Vec<u8>],
    peer: Option<&Peer>,
    say: &mut dyn FnMut(&Answer) -> io::Result<()>,
) -> Result<Status, String> {
    let ends = [stage.first(Side::Left), stage.first(Side::Right)];
    let [Some(left), Some(right)] = ends else {
        return Err("there are no hosts".into());
    };
    let mut running = match peer {
        Some(peer) => Some(start_peer(stage, peer, right, left)?),
        None => None,
    };
    let command = left
        .start_command(&words(command), &left.variables(right))
        .map_err(|error| error.to_string())?;
    stage.emulator.start_anew(Clock::start());
    let end = stage.run(say, |signal| {
        if let Some(signal @ (libc::SIGTERM | libc::SIGHUP)) = signal {
            process::kill(command.pid);
            return Ok(ControlFlow::Break(Ok(128 + signal as Status)));
        }
        // Ctrl-C is for the command: it has it from the terminal. Its end is what counts here.
        if let Some(status) = process::ended(command.pid)? {
            return Ok(ControlFlow::Break(Ok(status)));
        }
        if let Some(peer) = &running
            && let Some(status) = process::ended(peer.pid)?
        {
            running = None;
            // One that is done may have served all that it was to serve.
            if status != 0 {
                process::kill(command.pid);
                let problem = format!("the peer {} before the command ended", how(status));
                return Ok(ControlFlow::Break(Err(problem)));
            }
        }
        Ok(ControlFlow::Continue(()))
    });
    if let Some(peer) = running {
        process::kill(peer.pid);
        process::wait_for(peer.pid).map_err(|error| error.to_string())?;
    }
    end.map_err(|error| error.to_string())?
}

/// Starts the peer, and waits until it is ready.
fn start_peer(stage: &Stage, peer: &Peer, right: &Host, left: &Host) -> Result<Process, String> {
    let text = |error: io::Error| error.to_string();
    let output = process::inherited(peer.output).map_err(text)?;
    let variables = right.variables(left);
    let process = right
        .start_in_background(&words(&peer.command), &variables, &output)
        .map_err(|error| format!("the peer cannot be started: {error}"))?;
    let Some(ready) = &peer.ready else {
        return Ok(process);
    };
    let awaited = Awaited {
        name: "the peer",
        question: "the command of --ready",
        host: right,
        variables: &variables,
        pid: process.pid,
    };
    // The path carries nothing meanwhile.
    let waited = awaited.wait(ready, &|| refuse_signals(stage));
    if waited.is_err() {
        process::kill(process.pid);
    }
    waited.map(|()| process)
}

/// Fails if this process was told to end.
fn refuse_signals(stage: &Stage) -> Result<(), String> {
    while let Some(signal) = stage.signals.next() {
        if !matches!(signal, libc::SIGCHLD | libc::SIGUSR1) {
            return Err(
                "interrupted: the peer was not ready yet, and the command has not started".into(),
            );
        }
    }
    Ok(())
}
