//! Names of states and variables that are known at run time only.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use thalweg_units::visible;

/// Names that a process may have: traces keep them until it ends.
const MOST_NAMES: usize = 1_000;

/// The same text, with escapes for what a terminal would obey, for as long as the process lives; `None` if there are too many.
pub fn kept(name: &str) -> Option<&'static str> {
    static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    let name = &*visible(name);
    if let Some(known) = names.get(name) {
        return Some(known);
    }
    if names.len() == MOST_NAMES {
        return None;
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    Some(name)
}
