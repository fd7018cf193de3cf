//! What a library is: its contents, and what it says of itself.

use crate::library;
use ring::digest::{SHA256, digest};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

/// Largest file that is taken for a library.
const LARGEST: u64 = 1 << 30;

/// Length and time of change of a file.
pub(crate) type Stamp = (u64, Option<SystemTime>);

/// What a library says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// `quinn-proto`.
    pub name: String,
    /// `0.11.13`.
    pub version: String,
    /// Names of its controllers; none if it was not asked.
    pub controllers: Vec<String>,
    /// Most streams of a connection; 0 for as many as a scenario may have.
    pub max_streams: u32,
}

/// A library that a scenario names.
#[derive(Clone, PartialEq, Eq)]
pub struct Description {
    /// As the scenario names it.
    pub named: String,
    /// Where it is.
    pub path: PathBuf,
    /// SHA-256 of its contents, in hexadecimal.
    pub sha256: String,
    /// What it says of itself.
    pub inspected: Inspected,
    /// The file that was read: its length and its time of change.
    pub(crate) stamp: Stamp,
}

/// A trial depends on the contents of a library, wherever it is.
impl fmt::Debug for Description {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Library({})", self.sha256)
    }
}

/// Asks a library what it is, given its path and the SHA-256 of its contents.
pub type Inspector = fn(&Path, &str) -> Result<Inspected, String>;

static INSPECTOR: OnceLock<Inspector> = OnceLock::new();

/// Has libraries inspected elsewhere: to load one is to run its code, and that may crash. The first call counts.
pub fn inspect_with(inspector: Inspector) {
    let _ = INSPECTOR.set(inspector);
}

/// Loads a library into this process and asks it what it is.
///
/// # Errors
/// Why it is none.
pub fn inspect_here(path: &Path) -> Result<Inspected, String> {
    library::inspect(path)
}

impl Description {
    /// Reads the library at `path`, which the scenario calls `named`.
    ///
    /// # Errors
    /// Why it is not a stack.
    pub fn read(named: &str, path: &Path) -> Result<Description, String> {
        let stamp = stamp(path)?;
        let sha256 = sha256(path, stamp)?;
        let inspected = match INSPECTOR.get() {
            Some(inspector) => inspector(path, &sha256)?,
            None => inspect_here(path)?,
        };
        Ok(Description {
            named: named.to_owned(),
            path: path.to_owned(),
            sha256,
            inspected,
            stamp,
        })
    }
}

fn unreadable(error: &std::io::Error) -> String {
    format!("cannot be read: {error}")
}

/// The SHA-256 of a file, which is read again when its stamp is another one: each flow of a scenario asks.
fn sha256(path: &Path, stamp: Stamp) -> Result<String, String> {
    static KNOWN: Mutex<BTreeMap<PathBuf, (Stamp, String)>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, sha256)) = known.get(path).filter(|(of, _)| *of == stamp) {
        return Ok(sha256.clone());
    }
    let contents = fs::read(path).map_err(|error| unreadable(&error))?;
    let digest = digest(&SHA256, &contents);
    let sha256: String = (digest.as_ref().iter())
        .map(|byte| format!("{byte:02x}"))
        .collect();
    known.insert(path.to_owned(), (stamp, sha256.clone()));
    Ok(sha256)
}

/// Length and time of change of the file of a library.
pub(crate) fn stamp(path: &Path) -> Result<Stamp, String> {
    let found = fs::metadata(path).map_err(|error| unreadable(&error))?;
    if !found.is_file() || found.len() > LARGEST {
        return Err("is not a file of at most 1 GiB".to_owned());
    }
    Ok((found.len(), found.modified().ok()))
}
