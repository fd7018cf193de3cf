//! What real time uses: connections of the real stack with their applications, and their transfers.

mod connection;
mod transfer;

pub use connection::RealConnection;
pub use transfer::Transfer;
