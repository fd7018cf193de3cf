//! The two ends of a connection.

/// Which end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Opens the connection.
    Client,
    /// Answers.
    Server,
}

impl Role {
    /// Both, each at its [`index`](Role::index).
    pub const BOTH: [Role; 2] = [Role::Client, Role::Server];

    /// Its index in a pair: client, server.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The other end.
    #[inline]
    pub const fn peer(self) -> Role {
        match self {
            Role::Client => Role::Server,
            Role::Server => Role::Client,
        }
    }
}
