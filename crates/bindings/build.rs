//! Names the engine by what it is made of: the version, and a hash of the sources that a trial depends on.
//!
//! A version alone does not tell two builds of a developer apart, and a store of trials must not mix theirs. What
//! counts is the crates below with their lock file; a comment that changes there changes the name.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use thalweg_random::Fnv1a;

/// The crates that a trial in virtual time runs, and those that ask controllers in Python and make columns. Not the crates of
/// real time, `live` and `quic-sockets`: what they measure never repeats, and no store hands it over again.
const ENGINE: [&str; 14] = [
    "units",
    "random",
    "control",
    "reference",
    "c4-history",
    "path",
    "schema",
    "transport",
    "quic",
    "stack-sdk",
    "stacks",
    "sim",
    "columns",
    "bindings",
];

fn main() -> io::Result<()> {
    // Asked when it runs: an unpacked source distribution has another folder each time.
    let own = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let crates = Path::new(&own).join("..");
    let mut files = vec![crates.join("../Cargo.lock")];
    for name in ENGINE {
        files.push(crates.join(name).join("Cargo.toml"));
        sources(&crates.join(name).join("src"), &mut files)?;
    }
    let mut hash = Fnv1a::EMPTY;
    for file in files {
        println!("cargo:rerun-if-changed={}", file.display());
        let name = file.strip_prefix(&crates).unwrap_or(&file);
        hash = hash.and(name.to_string_lossy().replace('\\', "/").as_bytes());
        hash = hash.and(&fs::read(&file)?);
    }
    let version = env!("CARGO_PKG_VERSION");
    println!(
        "cargo:rustc-env=THALWEG_ENGINE={version}+{:016x}",
        hash.value()
    );
    Ok(())
}

/// All sources below a folder, in the order of their names; the folder itself tells of new ones.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut entries = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            sources(&entry, files)?;
        } else if entry.extension().is_some_and(|ending| ending == "rs") {
            files.push(entry);
        }
    }
    Ok(())
}
