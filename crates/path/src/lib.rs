//! Links: queue disciplines, capacity schedules, delay, jitter and loss.

mod packet;

pub use packet::Packet;
