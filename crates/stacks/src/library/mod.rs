//! Loading a library, and calling its functions.
//!
//! The only foreign code that this crate runs is called from here. What is safe about it is what the header demands of
//! a library; one that breaks it may do anything, so callers run trials of libraries in processes of their own.

#![allow(
    unsafe_code,
    reason = "functions of other languages, found by their names"
)]

mod end;
pub mod present;

pub(crate) use end::{Arrived, Departing, End};

use crate::description::{Description, Inspected, stamp};
use libloading::Library as Loaded;
use present::Call;
use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, c_char};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use thalweg_stack_sdk::abi;
use thalweg_units::{Instant, visible};

/// Most bytes of a text that a library says of itself.
const MOST_TEXT: usize = 4096;

/// The functions of a library.
pub(crate) struct Functions {
    create: abi::Create,
    destroy: abi::Destroy,
    datagram_in: abi::DatagramIn,
    datagram_out: abi::DatagramOut,
    next: abi::Next,
    expire: abi::Expire,
    open: abi::Open,
    write: abi::Write,
    read: abi::Read,
    close: abi::Close,
    status: abi::Status,
    probe: Option<abi::Probe>,
    fault: Option<abi::Fault>,
}

/// Libraries that were loaded. They stay: one may have left destructors of threads behind.
static LOADED: Mutex<BTreeMap<PathBuf, Arc<Functions>>> = Mutex::new(BTreeMap::new());

/// The functions of the library that a scenario names.
pub(crate) fn functions(of: &Description) -> Result<Arc<Functions>, String> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(functions) = loaded.get(&of.path) {
        return Ok(Arc::clone(functions));
    }
    if stamp(&of.path)? != of.stamp {
        return Err("has changed since the scenario was read".to_owned());
    }
    let functions = Arc::new(load(&of.path)?.1);
    loaded.insert(of.path.clone(), Arc::clone(&functions));
    Ok(functions)
}

/// Loads a library and asks it what it is.
pub(crate) fn inspect(path: &Path) -> Result<Inspected, String> {
    load(path).map(|(inspected, _)| inspected)
}

fn load(path: &Path) -> Result<(Inspected, Functions), String> {
    present::note(Call::Load, Instant::START, present::NOBODY);
    let library = open(path.as_os_str()).map_err(|error| {
        let said = error.to_string();
        let path = format!("{}: ", path.display());
        let said = said.strip_prefix(&path).unwrap_or(&said);
        format!("cannot be loaded: {}", visible(said))
    })?;
    let library: &'static Loaded = Box::leak(Box::new(library));
    // SAFETY: the symbols have the types of the header.
    let (describe, functions) = unsafe {
        let describe: abi::Describe = symbol(library, "describe")?;
        let functions = Functions {
            create: symbol(library, "create")?,
            destroy: symbol(library, "destroy")?,
            datagram_in: symbol(library, "datagram_in")?,
            datagram_out: symbol(library, "datagram_out")?,
            next: symbol(library, "next")?,
            expire: symbol(library, "expire")?,
            open: symbol(library, "open")?,
            write: symbol(library, "write")?,
            read: symbol(library, "read")?,
            close: symbol(library, "close")?,
            status: symbol(library, "status")?,
            probe: symbol(library, "probe").ok(),
            fault: symbol(library, "fault").ok(),
        };
        (describe, functions)
    };
    present::note(Call::Describe, Instant::START, present::NOBODY);
    // SAFETY: it takes nothing, and returns a constant.
    let info = unsafe { describe().as_ref() };
    let info = info.ok_or("describes itself with a null pointer (thalweg_stack_describe)")?;
    if info.abi != abi::ABI {
        let (theirs, ours) = (info.abi, abi::ABI);
        return Err(format!(
            "has version {theirs} of thalweg_stack.h; accepted: {ours}"
        ));
    }
    let controllers = text(info.controllers, "controllers")?;
    let controllers = controllers.split(',').map(str::trim);
    let inspected = Inspected {
        name: text(info.name, "name")?,
        version: text(info.version, "version")?,
        controllers: controllers
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
        max_streams: info.max_streams,
    };
    if inspected.controllers.is_empty() {
        return Err("names no controllers (thalweg_stack_describe)".to_owned());
    }
    Ok((inspected, functions))
}

/// Binds all symbols at once: one that is missing is missed here, not in a trial.
fn open(path: &OsStr) -> Result<Loaded, libloading::Error> {
    #[cfg(unix)]
    {
        use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
        // SAFETY: its constructors run here, in a process of their own if there is reason to doubt them.
        unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map(Loaded::from)
    }
    #[cfg(not(unix))]
    // SAFETY: as above.
    unsafe {
        Loaded::new(path)
    }
}

/// A function by its name.
///
/// # Safety
/// It has the type `F`.
unsafe fn symbol<F: Copy>(library: &'static Loaded, name: &str) -> Result<F, String> {
    let name = format!("thalweg_stack_{name}");
    // SAFETY: as above.
    let found = unsafe { library.get::<F>(name.as_bytes()) };
    found
        .map(|symbol| *symbol)
        .map_err(|_| format!("lacks the function {name} of thalweg_stack.h"))
}

/// A text of a description, which has at most so many bytes.
fn text(text: *const c_char, what: &str) -> Result<String, String> {
    if text.is_null() {
        return Err(format!("has a null pointer for its {what}"));
    }
    // SAFETY: the header has it end with a zero byte.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    match text.len() {
        0 => Err(format!("has no {what} (thalweg_stack_describe)")),
        1..=MOST_TEXT => Ok(visible(&text).into_owned()),
        length => Err(format!("has {length} bytes for its {what}")),
    }
}
