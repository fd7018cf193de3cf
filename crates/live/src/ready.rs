//! Waiting until a program on a host is ready for others.

use crate::host::Host;
use crate::request::{Ready, When, words};
use crate::sys::process::{self, Pid, Process, Status};
use std::fs::File;
use std::io;
use std::{thread, time};

/// How often a program is asked whether it is ready: less than a person notices, and much more than a question takes.
const PATIENCE: time::Duration = time::Duration::from_millis(20);

/// A program that others wait for.
pub(crate) struct Awaited<'a> {
    /// What it is called in messages: "the peer".
    pub(crate) name: &'a str,
    /// What asks it whether it is ready, where a command does: "the command of --ready".
    pub(crate) question: &'a str,
    pub(crate) host: &'a Host,
    pub(crate) variables: &'a [(String, String)],
    pub(crate) pid: Pid,
}

impl Awaited<'_> {
    /// Waits until it is ready. `refuse` fails when waiting has to end.
    ///
    /// # Errors
    /// A message for the user: it ended before, or took too long.
    pub(crate) fn wait(
        &self,
        ready: &Ready,
        refuse: &dyn Fn() -> Result<(), String>,
    ) -> Result<(), String> {
        let text = |error: io::Error| error.to_string();
        let begin = time::Instant::now();
        let within = time::Duration::from(ready.within);
        loop {
            let is_ready = match &ready.when {
                When::Tcp(port) => self.host.has_socket("tcp", *port).map_err(text)?,
                When::Udp(port) => self.host.has_socket("udp", *port).map_err(text)?,
                When::Command(command) => {
                    let nowhere = File::options().write(true).open("/dev/null");
                    let (command, nowhere) = (words(command), nowhere.map_err(text)?);
                    let question =
                        self.host
                            .start_in_background(&command, self.variables, &nowhere);
                    let question = question
                        .map_err(|error| format!("{} cannot be started: {error}", self.question))?;
                    answered(&question, begin + within, refuse)?
                }
            };
            if let Some(status) = process::ended(self.pid).map_err(text)? {
                // Ctrl-C reaches the program as it reaches this process.
                refuse()?;
                let problem = format!("{} {} before it was ready", self.name, how(status));
                return Err(match status {
                    0 => format!("{problem}; the command must stay in the foreground"),
                    _ => problem,
                });
            }
            if is_ready {
                return Ok(());
            }
            if begin.elapsed() >= within {
                let name = self.name;
                return Err(format!("{name} was not ready within {}", ready.within));
            }
            refuse()?;
            thread::sleep(PATIENCE);
        }
    }
}

/// Whether a command ends with status 0 until a moment; one that does not end until then is killed.
fn answered(
    question: &Process,
    until: time::Instant,
    refuse: &dyn Fn() -> Result<(), String>,
) -> Result<bool, String> {
    let text = |error: io::Error| error.to_string();
    loop {
        if let Some(status) = process::ended(question.pid).map_err(text)? {
            return Ok(status == 0);
        }
        let told = refuse();
        if time::Instant::now() >= until || told.is_err() {
            process::kill(question.pid);
            process::wait_for(question.pid).map_err(text)?;
            return told.map(|()| false);
        }
        thread::sleep(PATIENCE / 4);
    }
}

/// How a process ended, in words: shells count signals from 128 on.
pub(crate) fn how(status: Status) -> String {
    match status.checked_sub(128) {
        Some(signal) if signal > 0 => format!("was ended by signal {signal}"),
        _ => format!("ended with status {status}"),
    }
}
