//! The page's side of controllers that it brings along, as the engine sees it: `lab/src/own/host.ts` answers the calls.

use crate::boundary;
use serde::Deserialize;
use std::cell::RefCell;
use thalweg_control::foreign::Draws;

/// What a page says of the controller of a text.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Resolved {
    /// The handlers that it defines.
    Found {
        defined: Vec<String>,
        report_every: Option<String>,
        #[serde(default)]
        senders_only: bool,
    },
    /// What is wrong with it.
    Thrown(String),
}

thread_local! {
    static DRAWS: RefCell<Vec<Draws>> = const { RefCell::new(Vec::new()) };
}

/// What the controller of a text is, if the page has one.
pub(super) fn resolve(text: &str) -> Option<Resolved> {
    match serde_json::from_str(&boundary::resolve(text)) {
        Ok(found) => found,
        Err(error) => Some(Resolved::Thrown(error.to_string())),
    }
}

/// What `observe` returns: names and values.
pub(super) fn observed(handle: u32) -> Vec<(String, String)> {
    let texts: Vec<String> = serde_json::from_str(&boundary::observe(handle)).unwrap_or_default();
    let mut texts = texts.into_iter();
    std::iter::from_fn(|| texts.next().zip(texts.next())).collect()
}

/// A real number of the random source with this number.
pub(crate) fn draw(source: u32) -> f64 {
    DRAWS.with_borrow_mut(|draws| draws.get_mut(source as usize).map_or(f64::NAN, Draws::draw))
}

/// Keeps a random source, and returns its number.
pub(super) fn keep(source: Draws) -> u32 {
    DRAWS.with_borrow_mut(|draws| {
        draws.push(source);
        draws.len() as u32 - 1
    })
}

/// Lets all random sources go: between trials nobody has one.
pub(crate) fn forget_draws() {
    DRAWS.with_borrow_mut(Vec::clear);
}
