//! Delivery traces that a scenario names: read once, and put into the scenario, so that what ran can be run
//! again from its text alone.

use crate::error::{ScenarioError, line_of_key};
use crate::schema::ScenarioFile;
use std::path::Path;
use thalweg_path::{DeliveryTrace, TraceError};

/// Marks the times of a trace in the place of a file name: `trace = "ms: 3 3 7 10"`.
const INLINE: &str = "ms:";
/// A larger file is no trace.
const LARGEST: u64 = 32 << 20;

/// Puts the contents of all files in the place of their names; tells whether there were any. Names are
/// relative to `folder`.
pub(crate) fn embed(
    file: &mut ScenarioFile,
    folder: &Path,
    text: &str,
    origin: &str,
) -> Result<bool, ScenarioError> {
    let mut any = false;
    let path = file.path.iter_mut().map(|path| ("path".to_owned(), path));
    let links = file.link.iter_mut().enumerate();
    let links = links.map(|(index, link)| (format!("link.{index}"), link));
    for (key, hop) in path.chain(links) {
        let up = hop.up.as_mut().and_then(|up| up.trace.as_mut());
        let traces = [
            (format!("{key}.trace"), hop.trace.as_mut()),
            (format!("{key}.up.trace"), up),
        ];
        for (key, trace) in traces {
            let Some(trace) = trace.filter(|trace| !trace.starts_with(INLINE)) else {
                continue;
            };
            *trace = read(&folder.join(&*trace), &key, text, origin)?;
            any = true;
        }
    }
    Ok(any)
}

fn read(file: &Path, key: &str, text: &str, origin: &str) -> Result<String, ScenarioError> {
    let fail = |problem: String| ScenarioError {
        origin: origin.to_owned(),
        line: line_of_key(text, key),
        key: Some(key.to_owned()),
        problem: format!(
            "cannot read \"{}\": {problem}; accepted: the name of a file with a time in milliseconds on each line",
            file.display()
        ),
    };
    let size = std::fs::metadata(file).map_err(|error| fail(error.to_string()))?;
    if size.len() > LARGEST {
        return Err(fail(format!("it has more than {} MiB", LARGEST >> 20)));
    }
    let times = std::fs::read_to_string(file).map_err(|error| fail(error.to_string()))?;
    times
        .parse::<DeliveryTrace>()
        .map_err(|error| ScenarioError {
            origin: file.display().to_string(),
            line: Some(error.line),
            key: None,
            problem: without_line(&error),
        })?;
    let words: Vec<&str> = times.split_whitespace().collect();
    Ok(format!("{INLINE} {}", words.join(" ")))
}

/// The trace of the key `trace` after [`embed`].
pub(crate) fn parse(trace: &str) -> Result<DeliveryTrace, String> {
    let times = trace.strip_prefix(INLINE).unwrap_or(trace);
    let lines: Vec<&str> = times.split_whitespace().collect();
    let parsed = lines.join("\n").parse();
    parsed.map_err(|error: TraceError| without_line(&error))
}

/// What is wrong and accepted, for a reader who is told the line already, or has none.
fn without_line(error: &TraceError) -> String {
    let text = error.to_string();
    let line = format!("line {}: ", error.line);
    text.strip_prefix(&line).map_or(text.clone(), str::to_owned)
}
