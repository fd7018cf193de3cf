//! Stacks that are not ours: what their senders measure, and what their controllers hear.

mod outstanding;
mod report;
mod stack_flow;

pub use stack_flow::StackFlow;
