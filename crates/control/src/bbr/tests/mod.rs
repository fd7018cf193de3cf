//! Tests of BBRv3: over a path, event by event, and under random events.

mod events;
mod path;
mod random;
