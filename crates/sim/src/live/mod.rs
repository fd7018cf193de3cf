//! What real time borrows: connections of the real stack with their applications, and what they move.

mod connection;
mod transfer;

pub use connection::RealConnection;
pub use transfer::Transfer;
