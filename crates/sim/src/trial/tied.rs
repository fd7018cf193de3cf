//! Changes of a path that follow a state of a controller.
//!
//! A link knows its schedule in advance. So the time of such a change is found first: the trial runs until the controller
//! enters the state, and then once more with the change at that time. What happened before is the same in both, because a
//! schedule decides nothing before its time and the draws of a trial depend only on the seed. So is the entry itself, if
//! the change comes at its very instant: what arrives then has been sent before, and a transmission that ends at the time of a
//! change has the settings before it. One that begins then takes a nanosecond, or had its first bit sent before.
//!
//! Each change costs one more run up to its entry. A change whose entry never comes never happens.

use crate::Scenario;
use crate::outcome::trace::Record;
use crate::scenario::hop::Direction;
use crate::trial::network::{Network, Progressed};
use std::borrow::Cow;
use std::sync::atomic::AtomicBool;
use thalweg_path::Change;
use thalweg_units::Instant;

/// Events between two looks at the controllers.
const EVENTS: u64 = 256;

/// The scenario with the times that a trial gives to its changes; `None` if it was stopped.
pub(crate) fn settled<'a>(
    scenario: &'a Scenario,
    seed: u64,
    stop: &AtomicBool,
) -> Option<Cow<'a, Scenario>> {
    let mut settled = Cow::Borrowed(scenario);
    while settled.hops.iter().any(|hop| !hop.tied.is_empty()) {
        match first_entry(&settled, seed, stop)? {
            Some((place, at)) => set(settled.to_mut(), place, at),
            None => {
                let hops = settled.to_mut().hops.iter_mut();
                hops.for_each(|hop| hop.tied.clear());
            }
        }
    }
    Some(settled)
}

/// The first entry that a change follows: the place of the change among all, and when.
fn first_entry(
    scenario: &Scenario,
    seed: u64,
    stop: &AtomicBool,
) -> Option<Option<(usize, Instant)>> {
    let mut network = Network::new(scenario, seed, Record::Nothing, stop)?;
    loop {
        let progressed = network.advance(EVENTS, stop).ok()?;
        if let Some(entry) = network.first_entry() {
            return Some(Some(entry));
        }
        if matches!(progressed, Progressed::Ended) {
            return Some(None);
        }
    }
}

/// Gives a change its time.
fn set(scenario: &mut Scenario, mut place: usize, entry: Instant) {
    for hop in &mut scenario.hops {
        if place >= hop.tied.len() {
            place -= hop.tied.len();
            continue;
        }
        let tied = hop.tied.remove(place);
        let since = entry - Instant::START;
        for direction in Direction::BOTH {
            let change = tied.changes[direction].clone();
            let links = match direction {
                Direction::Down => &mut hop.links.down,
                Direction::Up => &mut hop.links.up,
            };
            let at = since + change.at;
            links.changes.push(Change { at, ..change });
        }
        return;
    }
}
