//! Foreign stacks: measurements of their senders, and events for our controllers.

mod outstanding;
mod report;
mod stack_flow;

pub use stack_flow::StackFlow;
