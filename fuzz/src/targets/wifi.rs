//! Short random scenarios with a medium for which stations contend, under the auditor, and the relations between their trials.
//!
//! One in twelve of the scenarios of other targets has such a medium.

use super::{Target, relations};
use crate::failure::{Held, Verdict};
use crate::random::Random;
use crate::trial;
use crate::watch::Watch;

pub(super) const TARGET: Target = Target {
    name: "wifi",
    ending: "toml",
    make,
    check,
};

/// Drawn until one has the medium. The text of a case may have it as a table in its line, or as one of its own.
fn make(random: &mut Random) -> Vec<u8> {
    loop {
        let text = relations::make(random);
        if contends(&text) {
            return text;
        }
    }
}

fn contends(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let named = ["medium = { model = \"wifi\"", "medium = \"wifi\""];
    let table = text.split_once(".medium]\n").map(|(_, after)| after);
    named.iter().any(|name| text.contains(name))
        || table.is_some_and(|keys| {
            let own = keys.split("\n[").next().unwrap_or_default();
            own.contains("model = \"wifi\"")
        })
}

fn check(text: &[u8], watch: &Watch) -> Verdict {
    match trial::check(text, watch)? {
        Held::Played => crate::relations::check(text, watch),
        other => Ok(other),
    }
}
