//! Serving a request: it is read, met, and answered.

use crate::request::{Answer, Request, Task};
use crate::scenario::path_from_toml;
use crate::stage::Stage;
use crate::sys::process;
use crate::{rig, shell, trial};
use std::io::{self, Read, Write};
use thalweg_sim::Scenario;

/// Reads a request from one descriptor and answers on another. The process must have a single thread; it is
/// in namespaces of its own afterwards and should end.
///
/// # Errors
/// If the descriptors cannot be read and written. What is wrong with the request is an answer.
pub fn serve(request: i32, answer: i32) -> io::Result<()> {
    let (mut request_file, mut answer) =
        (process::inherited(request)?, process::inherited(answer)?);
    let mut text = String::new();
    request_file.read_to_string(&mut text)?;
    let mut say = |line: &Answer| -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        answer.write_all(&text)
    };
    let request: Request = serde_json::from_str(&text)?;
    let last = meet(&request, &mut say).unwrap_or_else(Answer::Error);
    say(&last)
}

fn meet(
    request: &Request,
    say: &mut dyn FnMut(&Answer) -> io::Result<()>,
) -> Result<Answer, String> {
    let (status, stage) = match &request.task {
        Task::Trial { trace } => return trial::run(request, *trace, say),
        Task::Shell { command, peer } => {
            let mut stage = Stage::of_hosts(request, &path(request)?, [1, 1])?;
            let status = shell::run(&mut stage, command, peer.as_deref());
            (status.map_err(|error| error.to_string())?, stage)
        }
        Task::Rig { left, right } => {
            let path = path(request)?;
            let mut stage = Stage::of_hosts(request, &path, rig::counts(*left, *right)?)?;
            rig::hold(&mut stage, say).map_err(|error| error.to_string())?;
            (0, stage)
        }
    };
    let report = stage.report([0, 0]);
    Ok(Answer::Ended { status, report })
}

/// The scenario of a request of which the path counts and not the flows.
fn path(request: &Request) -> Result<Scenario, String> {
    let text = request.scenario.as_bytes();
    path_from_toml(text, &request.origin, &[]).map_err(|error| error.to_string())
}
