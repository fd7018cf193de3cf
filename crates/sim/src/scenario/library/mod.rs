//! Stacks from shared libraries: which file a flow names, and which stack that is.

mod check;

use super::schema::{ScenarioFile, Stack};
use crate::quic::Description;
use std::path::Path;
use std::sync::Arc;

/// The stack of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FlowStack {
    /// The modelled endpoint.
    Model,
    /// The real QUIC stack.
    Quic,
    /// The stack of a shared library.
    Library(Arc<Description>),
}

/// Makes the names of libraries absolute, so that the scenario can be read again from elsewhere; returns whether there
/// were any. They are relative to `folder`.
pub(super) fn embed(file: &mut ScenarioFile, folder: &Path) -> bool {
    let mut any = false;
    for flow in &mut file.flow {
        if let Stack::Library(name) = &mut flow.stack {
            let path = folder.join(&*name);
            let path = std::path::absolute(&path).unwrap_or(path);
            *name = path.to_string_lossy().into_owned();
            any = true;
        }
    }
    any
}

/// The stack of the library with this absolute path.
pub(super) fn read(path: &str) -> Result<FlowStack, String> {
    let description = Description::read(&shown(path), Path::new(path))?;
    Ok(FlowStack::Library(Arc::new(description)))
}

/// A path for people: relative to the present folder if it lies below.
pub(super) fn shown(path: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    match Path::new(path).strip_prefix(here) {
        Ok(below) => format!("./{}", below.display()),
        Err(_) => path.to_owned(),
    }
}
