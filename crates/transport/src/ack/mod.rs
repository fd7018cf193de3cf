//! Acknowledgements: what has arrived, when it is reported, and how often the peer is asked to report.

pub(crate) mod frequency;
pub(crate) mod policy;
mod received;
