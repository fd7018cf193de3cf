//! Criteria over time, of links and of controllers, and changes of a path that follow a state.

mod sharing;
mod watching;
