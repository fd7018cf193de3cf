//! Short random scenarios with a medium for which stations contend, under the auditor, and the relations between their trials.
//!
//! One in twelve of the scenarios of other targets has such a medium.

use super::{Plays, Target, relations};
use crate::failure::{Held, Verdict};
use crate::random::Random;
use crate::relations::document::{hops, model};
use crate::trial;
use crate::watch::Watch;
use toml::Table;

pub(super) const TARGET: Target = Target {
    name: "wifi",
    ending: "toml",
    plays: Plays::Engine { make, check },
};

/// Drawn until one has the medium.
fn make(random: &mut Random) -> Vec<u8> {
    loop {
        let text = relations::make(random);
        if contends(&text) {
            return text;
        }
    }
}

fn contends(text: &[u8]) -> bool {
    let table = std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok());
    table.is_some_and(|table: Table| {
        hops(&table)
            .into_iter()
            .any(|hop| model(hop, "medium") == Some("wifi"))
    })
}

fn check(text: &[u8], watch: &Watch) -> Verdict {
    match trial::check(text, watch)? {
        Held::Played => crate::relations::check(text, watch),
        other => Ok(other),
    }
}
