//! Criteria over time, of links and of controllers, and changes of a path that follow a state.

#[path = "../audited/mod.rs"]
mod audited;
mod links;
mod sharing;
mod watching;
