//! Senders in a trace: a connection has one, and a call whose media both ends send has two.

use thalweg_transport::Role;

/// Where senders are among the names of a trace.
#[derive(Clone, Debug, Default)]
pub struct Senders {
    /// For each connection with two senders, the place of the one at its client; the server's follows.
    both: Vec<(usize, usize)>,
}

impl Senders {
    /// Adds two names for each of these connections to the names of a trace: "call/client" and "call/server". The first names are
    /// the names of connections, in their order.
    pub fn named(names: &mut Vec<String>, both: impl IntoIterator<Item = usize>) -> Senders {
        let both = both.into_iter().map(|connection| {
            let place = names.len();
            let name = names[connection].clone();
            names.extend(["client", "server"].map(|end| format!("{name}/{end}")));
            (connection, place)
        });
        Senders {
            both: both.collect(),
        }
    }

    /// The place of the sender at one end of a connection.
    pub fn place(&self, connection: usize, end: Role) -> usize {
        let found = (self.both).binary_search_by_key(&connection, |(connection, _)| *connection);
        found.map_or(connection, |found| self.both[found].1 + end.index())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_both_ends_send_has_two_senders_and_any_other_connection_one() {
        let mut names = ["main", "call", "web/0", "other"].map(str::to_owned).into();
        let senders = Senders::named(&mut names, [1, 3]);
        let name = |connection, end| names[senders.place(connection, end)].as_str();
        for (connection, [client, server]) in [
            (0, ["main", "main"]),
            (1, ["call/client", "call/server"]),
            (2, ["web/0", "web/0"]),
            (3, ["other/client", "other/server"]),
        ] {
            assert_eq!(name(connection, Role::Client), client);
            assert_eq!(name(connection, Role::Server), server);
        }
    }
}
