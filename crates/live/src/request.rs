//! What this process is asked to do, and what it answers: one JSON document in, JSON lines out.

use crate::report::Report;
use serde::{Deserialize, Serialize};
use thalweg_sim::Measured;

/// A request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// What to do on the path.
    pub(crate) task: Task,
    /// The scenario file, overrides included.
    pub(crate) scenario: String,
    /// The name that errors use for it.
    pub(crate) origin: String,
    /// Seed of the random streams of the links.
    pub(crate) seed: u64,
    /// Whether to ask for real-time scheduling.
    pub(crate) realtime: bool,
    /// Release lateness that 999 of 1000 packets must keep: "1 ms".
    pub(crate) bound: Option<String>,
    /// The process that asks: nothing is done, or stays, without it.
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
        peer: Option<Vec<Vec<u8>>>,
    },
    /// Hold hosts until told to stop.
    Rig {
        /// Number of left hosts.
        left: u8,
        /// Number of right hosts.
        right: u8,
    },
    /// Run the flows of the scenario with the TCP of the kernel.
    Trial {
        /// Whether to record time series.
        trace: bool,
    },
}

/// A line of the answer.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answer {
    /// The request cannot be met; says what to change.
    Error(String),
    /// The hosts of a rig are there.
    Hosts(Vec<HostAnswer>),
    /// The command has ended, or the rig was told to.
    Ended {
        /// Exit status of the command, as shells count it.
        status: u8,
        /// What the run has to say of itself.
        report: Report,
    },
    /// The flows have ended. What they experienced follows in a line of its own, unless one of them failed.
    Trial {
        /// What the run has to say of itself.
        report: Report,
        /// Why a flow failed.
        failure: Option<String>,
    },
    /// What the flows experienced.
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
