//! Streams: both halves, and their flow control.

pub(crate) mod flow_control;
mod range_set;
pub(crate) mod receive;
pub(crate) mod send;
