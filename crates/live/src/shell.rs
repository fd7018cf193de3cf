//! A command on the left host, and optionally another on the right, which has to be ready before.

use crate::emulator::Side;
use crate::host::Host;
use crate::request::{Answer, Peer, Ready, When};
use crate::stage::Stage;
use crate::sys::clock::Clock;
use crate::sys::process::{self, Pid, Status};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStringExt;
use std::{thread, time};

/// How often a peer is asked whether it is ready: less than a person notices, and much more than a question takes.
const PATIENCE: time::Duration = time::Duration::from_millis(20);

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
        .start_command(&words(command), &variables(left, right))
        .map_err(|error| error.to_string())?;
    stage.emulator.start_anew(Clock::start());
    let end = stage.run(say, |signal| {
        if let Some(signal @ (libc::SIGTERM | libc::SIGHUP)) = signal {
            process::kill(command);
            return Ok(ControlFlow::Break(Ok(128 + signal as Status)));
        }
        // Ctrl-C is for the command: it has it from the terminal. Its end is what counts here.
        if let Some(status) = process::ended(command)? {
            return Ok(ControlFlow::Break(Ok(status)));
        }
        if let Some(peer) = running
            && let Some(status) = process::ended(peer)?
        {
            running = None;
            // One that is done may have served all that it was to serve.
            if status != 0 {
                process::kill(command);
                let problem = format!("the peer {} before the command ended", how(status));
                return Ok(ControlFlow::Break(Err(problem)));
            }
        }
        Ok(ControlFlow::Continue(()))
    });
    if let Some(peer) = running {
        process::kill(peer);
        process::wait_for(peer).map_err(|error| error.to_string())?;
    }
    end.map_err(|error| error.to_string())?
}

/// Starts the peer, and waits until it is ready.
fn start_peer(stage: &Stage, peer: &Peer, right: &Host, left: &Host) -> Result<Pid, String> {
    let text = |error: io::Error| error.to_string();
    let output = process::inherited(peer.output).map_err(text)?;
    let variables = variables(right, left);
    let pid = right
        .start_in_background(&words(&peer.command), &variables, &output)
        .map_err(|error| format!("the peer cannot be started: {error}"))?;
    let Some(ready) = &peer.ready else {
        return Ok(pid);
    };
    let waited = wait_until(stage, ready, right, &variables, pid);
    if waited.is_err() {
        process::kill(pid);
    }
    waited.map(|()| pid)
}

/// Waits until a peer is ready. The path carries nothing meanwhile.
fn wait_until(
    stage: &Stage,
    ready: &Ready,
    host: &Host,
    variables: &[(String, String)],
    peer: Pid,
) -> Result<(), String> {
    let text = |error: io::Error| error.to_string();
    let begin = time::Instant::now();
    let within = time::Duration::from_nanos(ready.within.as_nanos());
    loop {
        let is_ready = match &ready.when {
            When::Tcp(port) => host.has_socket("tcp", *port).map_err(text)?,
            When::Udp(port) => host.has_socket("udp", *port).map_err(text)?,
            When::Command(command) => {
                let nowhere = File::options().write(true).open("/dev/null");
                let question = host
                    .start_in_background(&words(command), variables, &nowhere.map_err(text)?)
                    .map_err(|error| {
                        format!("the command of --ready cannot be started: {error}")
                    })?;
                answered(stage, question, begin + within)?
            }
        };
        if let Some(status) = process::ended(peer).map_err(text)? {
            // Ctrl-C reaches the peer as it reaches this process.
            refuse_signals(stage)?;
            let problem = format!("the peer {} before it was ready", how(status));
            return Err(match status {
                0 => format!("{problem}; accepted: a command that stays in the foreground"),
                _ => problem,
            });
        }
        if is_ready {
            return Ok(());
        }
        if begin.elapsed() >= within {
            return Err(format!("the peer was not ready within {}", ready.within));
        }
        refuse_signals(stage)?;
        thread::sleep(PATIENCE);
    }
}

/// Whether a command ends with status 0 until a moment; one that does not end until then is killed.
fn answered(stage: &Stage, question: Pid, until: time::Instant) -> Result<bool, String> {
    let text = |error: io::Error| error.to_string();
    loop {
        if let Some(status) = process::ended(question).map_err(text)? {
            return Ok(status == 0);
        }
        let told = refuse_signals(stage);
        if time::Instant::now() >= until || told.is_err() {
            process::kill(question);
            process::wait_for(question).map_err(text)?;
            return told.map(|()| false);
        }
        thread::sleep(PATIENCE / 4);
    }
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

/// How a process ended, in words: shells count signals from 128 on.
fn how(status: Status) -> String {
    match status.checked_sub(128) {
        Some(signal) if signal > 0 => format!("was ended by signal {signal}"),
        _ => format!("ended with status {status}"),
    }
}

fn words(words: &[Vec<u8>]) -> Vec<OsString> {
    words.iter().cloned().map(OsString::from_vec).collect()
}

/// The environment of a command: addresses of its host and of the other.
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
