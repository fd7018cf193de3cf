//! BBRv3 under test: over a path, event by event, and under events at random.

mod events;
mod path;
mod random;
