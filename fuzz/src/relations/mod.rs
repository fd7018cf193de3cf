//! Relations that hold between two trials, where no rule says what either of them must be (metamorphic testing; Chen,
//! Cheung and Yiu 1998).
//!
//! A [`Relation`] derives a *twin* from a case, another scenario that must have the same trial but for what the relation
//! names, or plays the case in another way. To add one takes a file and a line in [`ALL`].
//!
//! Each relation in this list holds exactly, byte by byte, wherever its `twin` is not `None`. What holds approximately or only
//! in distribution is in [`in_distribution`], with the error rate of its test.

#[cfg(test)]
mod broken;
mod case;
mod constant_trace;
mod idle_flow;
#[cfg(test)]
mod in_distribution;
mod larger_buffer;
mod later_limit;
mod moved_delay;
mod names;
mod neutral_models;
mod observers;
mod order;
mod plain_hosts;
mod rewritten;
mod same_change;
mod seeds;
mod shift;
mod tied_change;
mod unused_link;
mod written_out;

pub(crate) use case::{Case, Played, document};
use case::{Portrait, portrait};

use crate::failure::{Failure, Held, Verdict, require};
use crate::random::{Random, hash};
use crate::registry::registry;
use crate::trial::Header;
use crate::watch::Watch;
use std::collections::BTreeMap;
use std::time::Duration as Span;

/// All relations.
pub(crate) static ALL: &[Relation] = &[
    idle_flow::RELATION,
    unused_link::RELATION,
    same_change::RELATION,
    written_out::RELATION,
    neutral_models::RELATION,
    larger_buffer::RELATION,
    later_limit::RELATION,
    constant_trace::RELATION,
    moved_delay::RELATION,
    order::RELATION,
    plain_hosts::RELATION,
    names::RELATION,
    rewritten::RELATION,
    observers::RELATION,
    seeds::RELATION,
    shift::RELATION,
    tied_change::RELATION,
];

/// A case whose first trial takes longer is left: the relations play it about sixteen times.
const SHORT: Span = Span::from_millis(200);

/// One relation.
pub(crate) struct Relation {
    /// The name of its file.
    pub(crate) name: &'static str,
    how: How,
}

/// How a relation looks at a case.
enum How {
    /// It has a twin, unless the relation does not hold for this case.
    Twin(fn(&Case, &mut Random) -> Option<Twin>),
    /// It plays the case in other ways.
    Runs(fn(&Case, &mut Random, &Watch) -> Checked),
}

/// What came of a relation and a case.
pub(crate) type Checked = Result<Applied, Failure>;

/// Whether a relation had anything to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Applied {
    /// It held.
    Held,
    /// It makes no claim about this case, or its trial was stopped.
    Not,
}

/// Another scenario, and what its trial must be.
pub(crate) struct Twin {
    pub(crate) table: toml::Table,
    /// Makes the portrait of the case into the one that the twin must have.
    pub(crate) expect: Box<dyn Fn(&mut Portrait)>,
    /// Removes from both what the relation makes no claim about.
    pub(crate) leave_out: Box<dyn Fn(&mut Portrait)>,
}

impl Twin {
    /// A twin that must have the same trial.
    pub(crate) fn same(table: toml::Table) -> Twin {
        Twin {
            table,
            expect: Box::new(|_| {}),
            leave_out: Box::new(|_| {}),
        }
    }
    /// But for what `leave_out` removes.
    pub(crate) fn but_for(self, leave_out: impl Fn(&mut Portrait) + 'static) -> Twin {
        Twin {
            leave_out: Box::new(leave_out),
            ..self
        }
    }
    /// But for what `expect` changes.
    pub(crate) fn changed(self, expect: impl Fn(&mut Portrait) + 'static) -> Twin {
        Twin {
            expect: Box::new(expect),
            ..self
        }
    }

    /// Plays the twin of a case and compares.
    pub(crate) fn check(&self, case: &Case, watch: &Watch) -> Checked {
        let Some(mut found) = case.play_other(&self.table, watch) else {
            return Ok(Applied::Not);
        };
        let mut expected = case.portrait.clone();
        (self.expect)(&mut expected);
        (self.leave_out)(&mut expected);
        (self.leave_out)(&mut found);
        match portrait::difference(&expected, &found) {
            None => Ok(Applied::Held),
            Some(difference) => Err(Failure::new("relation", difference)),
        }
    }
}

impl Relation {
    /// Holds it against a case.
    pub(crate) fn check(&self, case: &Case, watch: &Watch) -> Checked {
        let mut random = Random::new(hash(self.name.as_bytes()) ^ case.seed);
        let checked = match self.how {
            How::Twin(twin) => match twin(case, &mut random) {
                None => Ok(Applied::Not),
                Some(twin) => twin.check(case, watch),
            },
            How::Runs(check) => check(case, &mut random, watch),
        };
        checked.map_err(|failure| Failure::new(&format!("relation {}", self.name), failure.message))
    }
}

/// How often each relation had something to say.
pub(crate) type Tally = BTreeMap<&'static str, u64>;

/// Plays a case and holds the relations against it: all of them, or those that its first lines name (`# relation shift`).
pub(crate) fn check(text: &[u8], watch: &Watch) -> Verdict {
    check_with(text, watch, &mut Tally::new())
}

/// The same, and counts.
pub(crate) fn check_with(text: &[u8], watch: &Watch, tally: &mut Tally) -> Verdict {
    let header = Header::of(text);
    let case = match Case::play(text, header.seed, registry(), watch) {
        Played::Whole(case) => case,
        Played::Refused => return Ok(Held::Refused),
        Played::Stopped => return Ok(Held::Stopped),
    };
    if watch.taken() > SHORT {
        return Ok(Held::Stopped);
    }
    for name in &header.relations {
        require(
            ALL.iter().any(|known| known.name == name),
            "relation",
            || format!("there is no relation \"{name}\""),
        )?;
    }
    let chosen = |relation: &&Relation| {
        header.relations.is_empty() || header.relations.iter().any(|name| name == relation.name)
    };
    for relation in ALL.iter().filter(chosen) {
        if relation.check(&case, watch)? == Applied::Held {
            *tally.entry(relation.name).or_default() += 1;
        }
    }
    Ok(Held::Played)
}

/// Asserts that a relation holds, and makes a claim.
#[cfg(test)]
fn holds(twin: &Twin, case: &Case) {
    assert_eq!(twin.check(case, &Watch::default()), Ok(Applied::Held));
}

/// Whether a relation finds that a twin is broken.
#[cfg(test)]
fn is_found(twin: &Twin, case: &Case) -> bool {
    let checked = twin.check(case, &Watch::default());
    assert_ne!(checked, Ok(Applied::Not), "the mutant has no trial");
    checked.is_err()
}
