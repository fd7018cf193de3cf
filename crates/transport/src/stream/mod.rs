//! Streams: both halves, and the flow control that bounds them.

pub(crate) mod flow_control;
mod range_set;
pub(crate) mod receive;
pub(crate) mod send;
