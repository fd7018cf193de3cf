//! `receiver` and `sender` of a `[[flow]]`: ends that are not honest.

use super::Checker;
use crate::scenario::error::ScenarioError;
use crate::scenario::schema::{Flow, ReceiverConduct, SenderConduct, Stack};
use thalweg_transport::AckConduct;

impl Checker<'_> {
    /// How the receiver of a flow reports what arrives.
    pub(super) fn conduct(&self, index: usize, flow: &Flow) -> Result<AckConduct, ScenarioError> {
        let key = |name: &str| format!("flow.{index}.{name}");
        let conduct = match flow.receiver {
            ReceiverConduct::Honest | ReceiverConduct::Greedy => AckConduct::Honest,
            ReceiverConduct::OptimisticAcks => AckConduct::Optimistic,
            ReceiverConduct::AckDivision => AckConduct::Divided,
            ReceiverConduct::HidesCe => AckConduct::HidesCe,
        };
        for (name, is_honest) in [
            ("receiver", flow.receiver == ReceiverConduct::Honest),
            ("sender", flow.sender == SenderConduct::Honest),
        ] {
            if !is_honest && flow.stack != Stack::Model {
                let problem = format!("a {name} that is not \"honest\" requires stack = \"model\"");
                return self.fail(&key(name), problem);
            }
        }
        if flow.receiver.has_no_limit() && flow.receive_window.is_some() {
            let problem = "receive_window cannot be combined with a receiver whose flow control has no limit, \"greedy\" or \"optimistic-acks\"";
            return self.fail(&key("receive_window"), problem);
        }
        Ok(conduct)
    }
}
