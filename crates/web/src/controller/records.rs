//! The records of numbers that handlers get: events, and the path with the number of the random source behind it.

use serde_json::{Value, json};
use thalweg_control::Context;
use thalweg_control::foreign::{Handler, Numbers, names_of_event, names_of_path};

/// The most numbers that a record of an event has.
pub(super) const WIDEST: usize = 32;
/// The numbers of the path and the number of the random source.
pub(super) const PATH: usize = Context::WIDTH + 1;

/// Writes a record, and returns how many numbers it has.
pub(super) fn write(of: &impl Numbers, record: &mut [f64]) -> usize {
    let mut places = record.iter_mut();
    let mut written = 0;
    of.write(&mut |number| {
        if let Some(place) = places.next() {
            (*place, written) = (number, written + 1);
        }
    });
    written
}

/// The record of the path.
pub(super) fn path(cx: &Context<'_>, draws: u32) -> [f64; PATH] {
    let mut record = [f64::from(draws); PATH];
    write(cx, &mut record);
    record
}

/// The names in each record: of `path`, and of the event of each handler, in the order of the numbers of handlers.
pub(crate) fn records() -> Value {
    let handlers = Handler::ALL
        .map(|handler| json!({"name": handler.name(), "fields": names_of_event(handler)}));
    json!({"path": names_of_path(), "handlers": handlers})
}
