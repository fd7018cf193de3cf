//! Serving a request: read, execute, answer.

use crate::explain::Explain;
use crate::request::{Answer, Request, Task};
use crate::scenario::path_from_toml;
use crate::stage::Stage;
use crate::sys::process;
use crate::{rig, shell, trial};
use std::io::{self, Read, Write};
use thalweg_control::Registry;
use thalweg_sim::Scenario;

/// Reads a request from one descriptor and answers on another; it may name the controllers of `registry`, whose
/// failures `explain` puts in words. The process must have a single thread; it enters new namespaces and should end afterwards.
///
/// # Errors
/// If the descriptors cannot be read and written. A wrong request is an answer, not an error.
pub fn serve(
    request: i32,
    answer: i32,
    registry: &Registry,
    explain: Explain<'_>,
) -> io::Result<()> {
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
    let last = meet(&request, registry, explain, &mut say).unwrap_or_else(Answer::Error);
    say(&last)
}

fn meet(
    request: &Request,
    registry: &Registry,
    explain: Explain<'_>,
    say: &mut dyn FnMut(&Answer) -> io::Result<()>,
) -> Result<Answer, String> {
    let (status, stage) = match &request.task {
        Task::Trial {
            trace,
            logs,
            capture,
        } => {
            let asked = trial::Asked {
                trace: *trace,
                logs: logs.as_deref(),
                capture: capture.as_deref(),
            };
            return trial::run(request, &asked, registry, explain, say);
        }
        Task::Shell { command, peer } => {
            let mut stage = Stage::of_hosts(request, &path(request, registry)?, [1, 1])?;
            let status = shell::run(&mut stage, command, peer.as_ref(), say)?;
            (status, stage)
        }
        Task::Rig { left, right } => {
            let path = path(request, registry)?;
            let mut stage = Stage::of_hosts(request, &path, rig::counts(*left, *right)?)?;
            rig::hold(&mut stage, say).map_err(|error| error.to_string())?;
            (0, stage)
        }
    };
    let report = stage.report([0, 0]);
    Ok(Answer::Ended { status, report })
}

/// The scenario of a request that uses only its path.
fn path(request: &Request, registry: &Registry) -> Result<Scenario, String> {
    let text = request.scenario.as_bytes();
    path_from_toml(text, &request.origin, &[], registry).map_err(|error| error.to_string())
}
