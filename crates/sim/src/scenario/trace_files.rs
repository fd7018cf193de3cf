//! Traces of capacity and jitter, and profiles of cross traffic, that a scenario names: read once, and embedded in the
//! scenario, so that its text suffices to rerun it.

use crate::scenario::error::{ScenarioError, line_of_key};
use crate::scenario::limits;
use crate::scenario::profile::{self, Columns, Profile};
use crate::scenario::schema::{INLINE, INLINE_BYTES, INLINE_JITTER, Jitter, ScenarioFile};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use thalweg_path::{DeliveryTrace, JitterTrace, TraceError};
use thalweg_units::Duration;

/// Replaces the names of all files by their contents; returns whether there were any. Names are
/// relative to `folder`.
pub(crate) fn embed(
    file: &mut ScenarioFile,
    folder: &Path,
    text: &str,
    origin: &str,
) -> Result<bool, ScenarioError> {
    let (mut any, mut left) = (false, limits::TRACES);
    let path = file.path.iter_mut().map(|path| ("path".to_owned(), path));
    let links = file.link.iter_mut().enumerate();
    let links = links.map(|(index, link)| (format!("link.{index}"), link));
    for (key, hop) in path.chain(links) {
        let (up_trace, up_jitter) = match &mut hop.up {
            Some(up) => (up.trace.as_mut(), up.jitter.as_deref_mut()),
            None => (None, None),
        };
        let changes = hop.change.iter_mut().enumerate().map(|(index, change)| {
            let key = format!("{key}.change.{index}.jitter");
            (key, change.jitter.as_deref_mut())
        });
        let jitters = [
            (format!("{key}.jitter"), hop.jitter.as_deref_mut()),
            (format!("{key}.up.jitter"), up_jitter),
        ];
        for (key, jitter) in jitters.into_iter().chain(changes) {
            let Some(Jitter::Trace { file }) = jitter else {
                continue;
            };
            if !file.starts_with(INLINE_JITTER) {
                *file = read_jitter(&folder.join(&*file), &key, text, origin, &mut left)?;
                any = true;
            }
        }
        let traces = [
            (format!("{key}.trace"), hop.trace.as_mut()),
            (format!("{key}.up.trace"), up_trace),
        ];
        for (key, trace) in traces {
            let Some(trace) = trace.filter(|trace| !trace.starts_with(INLINE)) else {
                continue;
            };
            *trace = read(&folder.join(&*trace), &key, text, origin, &mut left)?;
            any = true;
        }
    }
    for (index, traffic) in file.traffic.iter_mut().enumerate() {
        let is_file = |text: &&mut String| {
            !text.starts_with(INLINE_BYTES) && !text.starts_with(INLINE_JITTER)
        };
        if let Some(profile) = traffic.profile.as_mut().filter(is_file) {
            let key = format!("traffic.{index}.profile");
            *profile = read_profile(&folder.join(&*profile), &key, text, origin, &mut left)?;
            any = true;
        }
    }
    Ok(any)
}

/// A file with a delivery trace, as it stands in a scenario.
fn read(
    file: &Path,
    key: &str,
    text: &str,
    origin: &str,
    left: &mut u64,
) -> Result<String, ScenarioError> {
    let accepted = "the name of a file with a time in milliseconds on each line";
    let times = contents(file, key, text, origin, accepted, left)?;
    times
        .parse::<DeliveryTrace>()
        .map_err(|error| wrong_line(file, error.line, without_line(&error)))?;
    Ok(inline(INLINE, &times))
}

/// A file with a trace of jitter, as it stands in a scenario.
fn read_jitter(
    file: &Path,
    key: &str,
    text: &str,
    origin: &str,
    left: &mut u64,
) -> Result<String, ScenarioError> {
    let accepted = "the name of a file with a time and a delay in whole microseconds on each line";
    let delays = contents(file, key, text, origin, accepted, left)?;
    JitterTrace::parse(&delays).map_err(|error| wrong_line(file, error.line, error.problem))?;
    Ok(inline(INLINE_JITTER, &delays))
}

/// A file with a profile of cross traffic, as it stands in a scenario.
fn read_profile(
    file: &Path,
    key: &str,
    text: &str,
    origin: &str,
    left: &mut u64,
) -> Result<String, ScenarioError> {
    let accepted = "the name of a file with a number of bytes on each line, or a time in microseconds and a number of bytes";
    let bins = contents(file, key, text, origin, accepted, left)?;
    let columns = profile::columns(&bins);
    let numbers = profile::read(&bins, columns)
        .map_err(|error| wrong_line(file, error.line, error.problem))?;
    let mark = match columns {
        Columns::Bytes => INLINE_BYTES,
        Columns::TimesAndBytes => INLINE_JITTER,
    };
    let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
    Ok(format!("{mark} {}", words.join(" ")))
}

/// The text of a file. `left` is the remaining limit in bytes of all files together.
fn contents(
    file: &Path,
    key: &str,
    text: &str,
    origin: &str,
    accepted: &str,
    left: &mut u64,
) -> Result<String, ScenarioError> {
    let fail = |problem: String| ScenarioError {
        origin: origin.to_owned(),
        line: line_of_key(text, key),
        key: Some(key.to_owned()),
        problem: format!(
            "cannot read \"{}\": {problem}; accepted: {accepted}",
            file.display()
        ),
    };
    let unreadable = |error: std::io::Error| fail(error.to_string());
    // Checked before opening: opening a FIFO waits for a writer.
    if !std::fs::metadata(file).map_err(unreadable)?.is_file() {
        return Err(fail("it is not a regular file".to_owned()));
    }
    let most = limits::TRACE.min(*left);
    let mut contents = String::new();
    let mut opened = std::fs::File::open(file)
        .map_err(unreadable)?
        .take(most + 1);
    opened.read_to_string(&mut contents).map_err(unreadable)?;
    let size = contents.len() as u64;
    if size > most {
        let (one, all) = (limits::TRACE >> 20, limits::TRACES >> 20);
        let problem = format!("it has more than {one} MiB, or all traces more than {all} MiB");
        return Err(fail(problem));
    }
    *left -= size;
    Ok(contents)
}

fn wrong_line(file: &Path, line: usize, problem: String) -> ScenarioError {
    ScenarioError {
        origin: file.display().to_string(),
        line: Some(line),
        key: None,
        problem,
    }
}

fn inline(mark: &str, text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    format!("{mark} {}", words.join(" "))
}

/// The trace of the key `trace` after [`embed`].
pub(crate) fn parse(trace: &str) -> Result<DeliveryTrace, String> {
    let times = trace.strip_prefix(INLINE).unwrap_or(trace);
    let lines: Vec<&str> = times.split_whitespace().collect();
    let parsed = lines.join("\n").parse();
    parsed.map_err(|error: TraceError| without_line(&error))
}

/// The problem and what is accepted, without the line.
fn without_line(error: &TraceError) -> String {
    let text = error.to_string();
    let line = format!("line {}: ", error.line);
    text.strip_prefix(&line).map_or(text.clone(), str::to_owned)
}

/// The trace of the key `file` of jitter after [`embed`].
pub(crate) fn parse_jitter(trace: &str) -> Result<Arc<JitterTrace>, String> {
    let numbers = trace.strip_prefix(INLINE_JITTER).unwrap_or(trace);
    let numbers: Vec<&str> = numbers.split_whitespace().collect();
    let lines: Vec<String> = numbers.chunks(2).map(|pair| pair.join(" ")).collect();
    JitterTrace::parse(&lines.join("\n"))
        .map_err(|error| format!("pair {}: {}", error.line, error.problem))
}

/// The profile of the key `profile` after [`embed`], with the length of its bins if that is given.
pub(crate) fn parse_profile(text: &str, bin: Option<Duration>) -> Result<Profile, String> {
    let (columns, numbers) = match text.strip_prefix(INLINE_BYTES) {
        Some(numbers) => (Columns::Bytes, numbers),
        None => (
            Columns::TimesAndBytes,
            text.strip_prefix(INLINE_JITTER).unwrap_or(text),
        ),
    };
    let words: Vec<&str> = numbers.split_whitespace().collect();
    let count = match columns {
        Columns::Bytes => 1,
        Columns::TimesAndBytes => 2,
    };
    let lines: Vec<String> = words.chunks(count).map(|line| line.join(" ")).collect();
    let numbers = profile::read(&lines.join("\n"), columns)
        .map_err(|error| format!("bin {}: {}", error.line, error.problem))?;
    match (columns, bin) {
        (Columns::Bytes, Some(bin)) => Ok(Profile::of_bytes(&numbers, bin)),
        (Columns::TimesAndBytes, None) => Ok(Profile::of_times_and_bytes(&numbers)),
        (Columns::Bytes, None) => Err(
            "a profile with only bytes requires bin = \"100 ms\", the length of its bins".into(),
        ),
        (Columns::TimesAndBytes, Some(_)) => Err(
            "a profile with times cannot be combined with bin; its times say how long bins are"
                .into(),
        ),
    }
}
