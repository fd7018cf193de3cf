//! Makes a case smaller while it still fails in the same way (delta debugging; Zeller and Hildebrandt 2002).

use crate::process;
use crate::targets::{Plays, Target};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time for one case.
const PATIENCE: Duration = Duration::from_secs(120);

/// The smallest text found that fails with `kind`; `scratch` is a file for the attempts.
pub(crate) fn minimise(
    target: &Target,
    text: &[u8],
    kind: &str,
    scratch: &Path,
) -> io::Result<Vec<u8>> {
    let begin = Instant::now();
    let mut fails = |text: &[u8]| -> io::Result<bool> {
        if begin.elapsed() > PATIENCE {
            return Ok(false);
        }
        std::fs::write(scratch, text)?;
        let failure = process::of_file(target, scratch)?;
        Ok(failure.is_some_and(|failure| failure.kind == kind))
    };
    let mut text = text.to_vec();
    if !fails(&text)? {
        return Ok(text);
    }
    loop {
        let before = text.len();
        text = without_parts(&text, b'\n', &mut fails)?;
        // Tables that stand in one line, and words of a script.
        if matches!(target.plays, Plays::Engine { .. }) {
            text = within_lines(&text, &mut fails)?;
        }
        if text.len() == before {
            return Ok(text);
        }
    }
}

/// Leaves out runs of parts, long ones first.
fn without_parts(
    text: &[u8],
    separator: u8,
    fails: &mut impl FnMut(&[u8]) -> io::Result<bool>,
) -> io::Result<Vec<u8>> {
    let mut parts: Vec<Vec<u8>> = text
        .split(|byte| *byte == separator)
        .map(<[u8]>::to_vec)
        .collect();
    let mut run = parts.len() / 2;
    while run > 0 {
        let mut at = 0;
        while at < parts.len() {
            let end = (at + run).min(parts.len());
            let mut fewer = parts[..at].to_vec();
            fewer.extend_from_slice(&parts[end..]);
            if fails(&fewer.join(&separator))? {
                parts = fewer;
            } else {
                at = end;
            }
        }
        run /= 2;
    }
    Ok(parts.join(&separator))
}

fn within_lines(
    text: &[u8],
    fails: &mut impl FnMut(&[u8]) -> io::Result<bool>,
) -> io::Result<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = text
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    for position in 0..lines.len() {
        let line = lines[position].clone();
        let Some(open) = line.iter().position(|byte| *byte == b'{') else {
            continue;
        };
        let Some(close) = line
            .iter()
            .rposition(|byte| *byte == b'}')
            .filter(|close| *close > open)
        else {
            continue;
        };
        let (head, inner, tail) = (&line[..=open], &line[open + 1..close], &line[close..]);
        let (before, after) = (lines[..position].to_vec(), lines[position + 1..].to_vec());
        let shorter = without_parts(inner, b',', &mut |inner: &[u8]| {
            let line = [head, inner, tail].concat();
            let all = [before.clone(), vec![line], after.clone()].concat();
            fails(&all.join(&b'\n'))
        })?;
        lines[position] = [head, &shorter, tail].concat();
    }
    Ok(lines.join(&b'\n'))
}
