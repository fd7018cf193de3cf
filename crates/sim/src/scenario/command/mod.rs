//! A flow whose ends are programs.

mod check;

use super::schema;
use thalweg_units::Duration;

/// Prefix of controllers of programs: what follows is their name in tables.
pub(crate) const COMMAND: &str = "command:";

/// The programs of a flow. Commands are for `sh`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSpec {
    /// The command of the client.
    pub client: String,
    /// The command of the server.
    pub server: Option<String>,
    /// What the client waits for.
    pub ready: Option<ReadyWhen>,
    /// How long that may take.
    pub ready_within: Duration,
    /// Whether what packets carry is counted, and not the bytes of the workload.
    pub counts_packets: bool,
}

/// How it is found out that a server is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadyWhen {
    /// A TCP socket listens at this port.
    Tcp(u16),
    /// A UDP socket has this port.
    Udp(u16),
    /// This command ends with status 0 on its host.
    Command(String),
}

impl ReadyWhen {
    /// Reads the key `ready`; `None` if it is neither a port nor a command.
    fn read(text: &str) -> Option<ReadyWhen> {
        let text = text.trim();
        let port = |digits: &str| digits.parse().ok().filter(|port| *port > 0);
        if let Some(digits) = text.strip_prefix("tcp:") {
            return port(digits).map(ReadyWhen::Tcp);
        }
        if let Some(digits) = text.strip_prefix("udp:") {
            return port(digits).map(ReadyWhen::Udp);
        }
        (!text.is_empty()).then(|| ReadyWhen::Command(text.to_owned()))
    }
}

impl CommandSpec {
    /// The checked keys of a table.
    fn of(table: &schema::Command, ready: Option<ReadyWhen>) -> CommandSpec {
        CommandSpec {
            client: table.client.clone(),
            server: table.server.clone(),
            ready,
            ready_within: table.ready_within,
            counts_packets: table.count == schema::Count::Packets,
        }
    }
}
