//! A worker as a child process, and what its end means.

use crate::failure::Failure;
use crate::targets::{Plays, Target};
use crate::watch::HUNG;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

/// The interpreter of targets in Python, and what is there when it can play them: `make build`.
const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../.venv/bin/python");
const BUILT: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/../.venv/.built"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../.venv/.packages"),
];
/// The signal by which a worker in Python ends when it hangs (SIGALRM).
const ALARM: i32 = 14;

/// The program that plays a target.
fn program(target: &Target) -> io::Result<Command> {
    match target.plays {
        Plays::Engine { .. } => Ok(Command::new(std::env::current_exe()?)),
        Plays::Python if !is_there(target) => {
            let problem = format!("{} is in Python, which needs `make build`", target.name);
            Err(io::Error::other(problem))
        }
        Plays::Python => {
            let mut python = Command::new(PYTHON);
            python.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/python"));
            Ok(python)
        }
    }
}

/// Whether what plays a target has been built.
pub(crate) fn is_there(target: &Target) -> bool {
    matches!(target.plays, Plays::Engine { .. })
        || BUILT.iter().all(|file| Path::new(file).exists())
}

/// Gives the program of a target an order, and each line of its output to `take`. Returns why it died, if it did not
/// end by itself.
pub(crate) fn run(
    target: &Target,
    order: &str,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    mut take: impl FnMut(&str),
) -> io::Result<Option<Failure>> {
    let mut child = program(target)?
        .args([order, target.name])
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

/// The text of the case of a seed.
pub(crate) fn made(target: &Target, seed: u64) -> io::Result<Vec<u8>> {
    let made = program(target)?
        .args(["make", target.name, &seed.to_string()])
        .output()?;
    match made.status.success() {
        true => Ok(made.stdout),
        false => Err(io::Error::other(String::from_utf8_lossy(&made.stderr))),
    }
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
    let kind = match status.signal() {
        Some(ALARM) => "hang".to_owned(),
        _ => format!("death: {status}"),
    };
    Some(Failure::new(
        &kind,
        format!("the process has died ({status}): {complaint}"),
    ))
}

/// The failures of the cases in `files`, each with its file, run in a separate process, which is replaced if it dies.
pub(crate) fn of_files(
    target: &Target,
    mut files: &[PathBuf],
) -> io::Result<Vec<(PathBuf, Failure)>> {
    let mut failures = Vec::new();
    while !files.is_empty() {
        let mut begun = 0;
        let died = run(target, "check", files, |line| {
            begun += usize::from(line.starts_with("at "));
            if let (Some(failure), 1..) = (failed(line), begun) {
                failures.push((files[begun - 1].clone(), failure));
            }
        })?;
        let last = begun.max(1);
        match died {
            Some(failure) => failures.push((files[last - 1].clone(), failure)),
            None if begun < files.len() => {
                let problem = format!(
                    "{}: has played {begun} of {} cases",
                    target.name,
                    files.len()
                );
                return Err(io::Error::other(problem));
            }
            None => {}
        }
        files = &files[last..];
    }
    Ok(failures)
}

/// The failure of the case in `file`.
pub(crate) fn of_file(target: &Target, file: &Path) -> io::Result<Option<Failure>> {
    let failures = of_files(target, &[file.to_owned()])?;
    Ok(failures.into_iter().next().map(|(_, failure)| failure))
}

/// The failure that a line of a worker tells of.
pub(crate) fn failed(line: &str) -> Option<Failure> {
    let (kind, message) = line.strip_prefix("failed ")?.split_once('\t')?;
    Some(Failure::new(kind, message))
}
