//! A worker as a child process, and what its end means.

use crate::failure::Failure;
use crate::targets::Target;
use crate::watch::HUNG;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

/// Runs this program with `arguments`, and gives each line of its output to `take`. Returns why it died, if it did not
/// end by itself.
pub(crate) fn run(
    arguments: &[&str],
    mut take: impl FnMut(&str),
) -> std::io::Result<Option<Failure>> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let complaints = complaints(&mut child);
    let mut hung = None;
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).lines() {
            let line = line?;
            match line.strip_prefix("hung ") {
                Some(stage) => hung = Some(stage.to_owned()),
                None => take(&line),
            }
        }
    }
    let status = child.wait()?;
    let complaint = complaints.join().unwrap_or_default();
    Ok(cause(status, hung, &complaint))
}

fn complaints(child: &mut Child) -> std::thread::JoinHandle<String> {
    let errors = child.stderr.take();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = errors.map(|mut errors| errors.read_to_end(&mut text));
        String::from_utf8_lossy(&text).into_owned()
    })
}

fn cause(status: ExitStatus, hung: Option<String>, complaint: &str) -> Option<Failure> {
    if status.code() == Some(HUNG) {
        let stage = hung.unwrap_or_default();
        let message = format!("the {stage} does not end within a second of being asked");
        return Some(Failure::new(&format!("hang: {stage}"), message));
    }
    if status.code().is_some_and(|code| code <= 1) {
        return None;
    }
    if complaint.contains("memory allocation of") {
        return Some(Failure::new("memory", format!("beyond 1 GiB: {complaint}")));
    }
    let message = format!("the process has died ({status}): {complaint}");
    Some(Failure::new("death", message))
}

/// The result of the case in `file`, run in a separate process.
pub(crate) fn of_file(target: &Target, file: &Path) -> std::io::Result<Option<Failure>> {
    let mut failure = None;
    let name = file.to_string_lossy();
    let died = run(&["check", target.name, &name], |line| {
        failure = failed(line).or(failure.take());
    })?;
    Ok(died.or(failure))
}

/// The failure that a line of a worker tells of.
pub(crate) fn failed(line: &str) -> Option<Failure> {
    let (kind, message) = line.strip_prefix("failed ")?.split_once('\t')?;
    Some(Failure::new(kind, message))
}
