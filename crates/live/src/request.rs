//! Requests and answers of this process: one JSON document in, JSON lines out.

use crate::report::Report;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use thalweg_sim::Measured;
use thalweg_units::Duration;

/// A request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// What to do on the path.
    pub(crate) task: Task,
    /// The scenario file, with overrides applied.
    pub(crate) scenario: String,
    /// The name that errors use for it.
    pub(crate) origin: String,
    /// Seed of the random streams of the links.
    pub(crate) seed: u64,
    /// Whether to request real-time scheduling.
    pub(crate) realtime: bool,
    /// Bound on the p99.9 of release lateness: "1 ms".
    pub(crate) bound: Option<String>,
    /// The requesting process: this process ends with it.
    pub(crate) parent: i32,
}

/// What to do on the path.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Task {
    /// Run a command on the only left host.
    Shell {
        /// The bytes of its arguments.
        command: Vec<Vec<u8>>,
        /// A command for the right host, while the first one runs.
        peer: Option<Peer>,
    },
    /// Keep hosts until told to stop.
    Rig {
        /// Number of left hosts.
        left: u8,
        /// Number of right hosts.
        right: u8,
    },
    /// Run the flows of the scenario: of the kernel's TCP, of the QUIC stack, or programs.
    Trial {
        /// Whether to record time series.
        trace: bool,
        /// An existing folder for what programs say.
        logs: Option<PathBuf>,
        /// A file for the packets.
        capture: Option<PathBuf>,
    },
}

/// A command at the other end.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Peer {
    /// The bytes of its arguments.
    pub(crate) command: Vec<Vec<u8>>,
    /// A descriptor of this process, to which it writes what it says.
    pub(crate) output: i32,
    /// What the first command waits for.
    pub(crate) ready: Option<Ready>,
}

/// When a peer is ready.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ready {
    /// How this is found out.
    pub(crate) when: When,
    /// Not later than so long after its start.
    pub(crate) within: Duration,
}

/// How it is found out that a peer is ready.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) enum When {
    /// A TCP socket listens at this port.
    Tcp(u16),
    /// A UDP socket has this port.
    Udp(u16),
    /// This command ends with status 0 on the host of the peer.
    Command(Vec<Vec<u8>>),
}

/// The words of a command.
pub(crate) fn words(words: &[Vec<u8>]) -> Vec<OsString> {
    words.iter().cloned().map(OsString::from_vec).collect()
}

/// A line of the answer.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answer {
    /// The request is refused; says what to change.
    Error(String),
    /// The hosts of a rig are ready.
    Hosts(Vec<HostAnswer>),
    /// State of the run so far, on request.
    Statistics(Report),
    /// The command has ended, or the rig was stopped.
    Ended {
        /// Exit status of the command, as shells count it.
        status: u8,
        /// What the run has to say of itself.
        report: Report,
    },
    /// The flows have ended. Their results follow on a separate line, unless one failed.
    Trial {
        /// What the run has to say of itself.
        report: Report,
        /// Why a flow failed.
        failure: Option<String>,
    },
    /// The results of the flows.
    #[serde(untagged)]
    Measured(Box<Measured>),
}

/// A host that can be entered.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct HostAnswer {
    /// "left" or "right".
    pub(crate) side: &'static str,
    /// Its number on that side, from 1 on.
    pub(crate) number: u8,
    pub(crate) address: String,
    pub(crate) address6: Option<String>,
    /// Its first process: a target for nsenter(1).
    pub(crate) process: i32,
    /// Whether its namespaces belong to a user namespace that must be entered too.
    pub(crate) in_user_namespace: bool,
}
