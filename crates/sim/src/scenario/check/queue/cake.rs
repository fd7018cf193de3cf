//! What CAKE cannot be combined with.

use super::super::Checker;
use super::all;
use crate::scenario::clock::Clock;
use crate::scenario::error::ScenarioError;
use crate::scenario::schema::{Path, Queue, ScenarioFile};

impl Checker<'_> {
    /// Checks each CAKE of the hop whose key in the file is `table`.
    pub(in super::super) fn cake(
        &self,
        table: &str,
        path: &Path,
        file: &ScenarioFile,
    ) -> Result<(), ScenarioError> {
        let tunnels = file.flow.iter().map(|flow| &flow.tunnel);
        let mut tunnels = tunnels.chain(file.traffic.iter().map(|traffic| &traffic.tunnel));
        let has_tunnels = tunnels.any(Option::is_some);
        for (key, queue) in all(path) {
            let Queue::Cake {
                bandwidth,
                ack_filter,
                ..
            } = queue
            else {
                continue;
            };
            let problem = if bandwidth.is_some() && path.shared_medium().is_some() {
                "bandwidth cannot be combined with a medium, which decides when a link sends"
            } else if ack_filter.is_some() && !matches!(self.clock, Clock::Virtual) {
                "ack_filter cannot be combined with real time, where packets are encrypted"
            } else if ack_filter.is_some() && has_tunnels {
                "ack_filter cannot be combined with a tunnel, whose packets it does not look into"
            } else {
                continue;
            };
            return self.fail(&format!("{table}.{key}"), problem);
        }
        Ok(())
    }
}
