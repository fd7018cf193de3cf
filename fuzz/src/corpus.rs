//! The folder of minimised finds: `CORPUS/TARGET/FILE`.

use crate::process;
use crate::random::hash;
use crate::targets::{self, Target};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The folder that is committed.
pub(crate) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");

/// Letters of the name of a file that say what it showed.
const LONGEST: usize = 80;

/// Writes a case; its name says what it showed.
pub(crate) fn keep(folder: &Path, target: &Target, kind: &str, text: &[u8]) -> io::Result<PathBuf> {
    let folder = folder.join(target.name);
    std::fs::create_dir_all(&folder)?;
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let words: String = kind.chars().map(plain).collect();
    let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
    let words: String = words.join("-").chars().take(LONGEST).collect();
    let name = format!("{words}-{:08x}.{}", hash(text) as u32, target.ending);
    let file = folder.join(name);
    std::fs::write(&file, text)?;
    Ok(file)
}

/// The target of a corpus file: the name of its folder.
fn target_of(file: &Path) -> Option<&'static Target> {
    targets::find(file.parent()?.file_name()?.to_str()?)
}

/// All cases at `path`, a file or a folder, in the order of their names.
fn cases(path: &Path) -> io::Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    let mut paths: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        if path.is_dir() {
            all.extend(cases(&path)?);
        } else {
            all.push(path);
        }
    }
    Ok(all)
}

/// Replays the cases at `path`, the cases of a target in a separate process; returns their number and the number of failures.
/// Says what it skips where no Python has been built, which is a failure in CI.
pub(crate) fn replay(path: &Path) -> io::Result<(usize, usize)> {
    let mut of_targets: BTreeMap<&str, (&Target, Vec<PathBuf>)> = BTreeMap::new();
    for file in cases(path)? {
        let Some(target) = target_of(&file) else {
            let problem = format!("{}: its folder is not named after a target", file.display());
            return Err(io::Error::other(problem));
        };
        let entry = of_targets.entry(target.name);
        entry.or_insert((target, Vec::new())).1.push(file);
    }
    let (mut played, mut failures) = (0, 0);
    for (target, files) in of_targets.into_values() {
        if !process::is_there(target) && std::env::var_os("CI").is_none() {
            println!("SKIPPED {} in Python: make build", target.name);
            continue;
        }
        played += files.len();
        for (file, failure) in process::of_files(target, &files)? {
            failures += 1;
            println!("{}: {}: {}", file.display(), failure.kind, failure.message);
        }
    }
    Ok((played, failures))
}

/// Makes a case smaller in its place; whether it failed at all.
pub(crate) fn smaller(file: &Path) -> io::Result<bool> {
    let target = target_of(file)
        .ok_or_else(|| io::Error::other("its folder is not named after a target"))?;
    let Some(failure) = process::of_file(target, file)? else {
        println!("{}: held", file.display());
        return Ok(true);
    };
    let text = std::fs::read(file)?;
    let scratch = file.with_extension("attempt");
    let small = crate::minimise::minimise(target, &text, &failure.kind, &scratch)?;
    std::fs::remove_file(&scratch)?;
    std::fs::write(file, &small)?;
    println!(
        "{}: {}, {} of {} bytes left",
        file.display(),
        failure.kind,
        small.len(),
        text.len()
    );
    Ok(false)
}
