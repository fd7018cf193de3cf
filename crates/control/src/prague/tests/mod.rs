//! Behaviour of Prague, clause by clause, and over a queue that marks.

mod events;
mod marking_queue;
mod path;
mod properties;
