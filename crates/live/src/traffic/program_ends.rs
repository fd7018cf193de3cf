//! Both ends of a flow whose ends are programs: a client and a server on hosts of their own.
//!
//! # Model
//! The server starts before the clock of the trial, and is ready when it says so. The client is prepared before, too,
//! and starts on schedule; the flow has ended when it has ended with status 0. What crosses meanwhile is counted by the
//! emulator (`emulator/outside.rs`). Programs read nothing; what they say goes to files.

use super::connection_result::ConnectionResult;
use crate::host::{Held, Host};
use crate::ready::{Awaited, how};
use crate::request::{Ready, When};
use crate::sys::process::{self, Pid, Process, Status};
use crate::sys::unnamed_file;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::{thread, time};
use thalweg_sim::{CommandSpec, FlowSpec, ReadyWhen};
use thalweg_units::{Bytes, Instant};

/// How long a server may take to end when it is told to: it may have logs to write.
const TO_END: time::Duration = time::Duration::from_secs(1);
/// The end of an output that is looked at, and how much of its last line is shown.
const TAIL: u64 = 4096;
const SHOWN: usize = 300;

/// The ends of one flow.
#[derive(Debug)]
pub(crate) struct ProgramEnds {
    client: Held,
    client_said: File,
    server: Option<Process>,
    server_said: File,
}

impl ProgramEnds {
    /// Starts the server of a flow, waits until it is ready, and prepares the client. `logs` is the folder for what they
    /// say.
    ///
    /// # Errors
    /// A message for the user.
    pub(super) fn prepare(
        flow: &FlowSpec,
        command: &CommandSpec,
        [left, right]: [&Host; 2],
        bytes: Bytes,
        logs: Option<&Path>,
    ) -> Result<ProgramEnds, String> {
        let text = |error: io::Error| error.to_string();
        let mut server_said = output(logs, &flow.name, "server").map_err(text)?;
        let client_said = output(logs, &flow.name, "client").map_err(text)?;
        let mut server = None;
        if let Some(line) = &command.server {
            let variables = variables(right, left, bytes);
            let process = right
                .start_in_background(&shell(line), &variables, &server_said)
                .map_err(text)?;
            if let Some(when) = &command.ready {
                let name = format!("the server of flow {}", flow.name);
                let question = format!("the command \"ready\" of flow {}", flow.name);
                let awaited = Awaited {
                    name: &name,
                    question: &question,
                    host: right,
                    variables: &variables,
                    pid: process.pid,
                };
                let ready = Ready {
                    when: when_of(when),
                    within: command.ready_within,
                };
                // Ctrl-C ends this process as a whole (`trial.rs`).
                let waited = awaited.wait(&ready, &|| Ok(()));
                waited.map_err(|problem| problem + &last_line(&mut server_said))?;
            }
            server = Some(process);
        }
        let client = left
            .hold_in_background(
                &shell(&command.client),
                &variables(left, right, bytes),
                &client_said,
            )
            .map_err(text)?;
        Ok(ProgramEnds {
            client,
            client_said,
            server,
            server_said,
        })
    }

    /// Starts the client.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        self.client.start()
    }

    /// Returns whether the client has ended.
    ///
    /// # Errors
    /// If it, or the server, has ended with another status than 0.
    pub(super) fn advance(
        &mut self,
        now: Instant,
        result: &mut ConnectionResult,
    ) -> io::Result<bool> {
        if let Some(status) = process::ended(self.client.process.pid)? {
            if status != 0 {
                return Err(failed("client", status, &mut self.client_said));
            }
            let since_start = now - Instant::START;
            result.completion = Some(since_start);
            result.closed = Some(since_start);
            return Ok(true);
        }
        if let Some(server) = &self.server
            && let Some(status) = process::ended(server.pid)?
        {
            self.server = None;
            // One that is done may have served all that it was to serve.
            if status != 0 {
                return Err(failed("server", status, &mut self.server_said));
            }
        }
        Ok(false)
    }

    /// Ends what still runs: asks first, so that logs are complete.
    pub(super) fn stop(&mut self) {
        let server = self.server.take().map(|server| server.pid);
        let running = [Some(self.client.process.pid), server]
            .into_iter()
            .flatten();
        let running: Vec<Pid> = running
            .filter(|pid| matches!(process::ended(*pid), Ok(None)))
            .collect();
        for pid in &running {
            process::terminate_within(*pid);
        }
        let until = time::Instant::now() + TO_END;
        for pid in running {
            while matches!(process::ended(pid), Ok(None)) {
                if time::Instant::now() >= until {
                    process::kill(pid);
                    let _ = process::wait_for(pid);
                    break;
                }
                thread::sleep(time::Duration::from_millis(5));
            }
        }
    }
}

fn when_of(ready: &ReadyWhen) -> When {
    match ready {
        ReadyWhen::Tcp(port) => When::Tcp(*port),
        ReadyWhen::Udp(port) => When::Udp(*port),
        ReadyWhen::Command(line) => {
            let words = ["sh", "-c", line];
            When::Command(words.map(|word| word.as_bytes().to_vec()).into())
        }
    }
}

fn shell(line: &str) -> [OsString; 3] {
    ["sh", "-c", line].map(OsString::from)
}

/// The environment of a program.
fn variables(own: &Host, other: &Host, bytes: Bytes) -> Vec<(String, String)> {
    let mut variables = own.variables(other);
    variables.push(("THALWEG_BYTES".to_owned(), bytes.as_u64().to_string()));
    variables
}

/// Where a program writes.
fn output(logs: Option<&Path>, flow: &str, end: &str) -> io::Result<File> {
    let Some(folder) = logs else {
        return unnamed_file();
    };
    let name = flow.replace(|c: char| !c.is_alphanumeric() && !"-_.".contains(c), "-");
    let file = folder.join(format!("{name}-{end}.log"));
    let options = &mut File::options();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(file)
}

fn failed(end: &str, status: Status, said: &mut File) -> io::Error {
    io::Error::other(format!("the {end} {}{}", how(status), last_line(said)))
}

/// The last line that a program wrote, behind a colon; nothing if there is none.
fn last_line(said: &mut File) -> String {
    let mut read = || -> io::Result<String> {
        let length = said.seek(SeekFrom::End(0))?;
        said.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut bytes = Vec::new();
        said.take(TAIL).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    let line = text
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty());
    line.map_or_else(String::new, |line| {
        let shown: String = line
            .chars()
            .filter(|c| !c.is_control())
            .take(SHOWN)
            .collect();
        format!(": {shown}")
    })
}
