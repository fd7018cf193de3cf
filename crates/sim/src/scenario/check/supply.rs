//! `app_rate`, `chunk`, `think_time` and `pauses` of a `[[flow]]`: how the data of a download comes.

use super::Checker;
use crate::scenario::Clock;
use crate::scenario::error::ScenarioError;
use crate::scenario::limits::STREAMS;
use crate::scenario::schema::{Flow, Stack};
use crate::scenario::supply::Supply;
use thalweg_units::Bytes;

impl Checker<'_> {
    /// How the data of a download of so many bytes comes, if not all at once.
    pub(super) fn supply(
        &self,
        index: usize,
        flow: &Flow,
        bytes: Bytes,
    ) -> Result<Option<Supply>, ScenarioError> {
        let Some(first) = given(flow) else {
            return Ok(None);
        };
        let key = |name: &str| format!("flow.{index}.{name}");
        if let Clock::Real(_) = self.clock {
            let problem = format!("{first} cannot be combined with real time");
            return self.fail(&key(first), problem);
        }
        if flow.streams > 1 {
            let problem = format!("{first} cannot be combined with streams; it takes streams = 1");
            return self.fail(&key(first), problem);
        }
        if let Some(rate) = flow.app_rate.filter(|rate| rate.is_zero()) {
            let problem = format!("\"{rate}\" never writes anything; accepted: above \"0 bps\"");
            return self.fail(&key("app_rate"), problem);
        }
        let pauses = match &flow.pauses {
            Some(pauses) => self.times(&key("pauses"), pauses)?,
            None => Vec::new(),
        };
        if !pauses.is_empty() && flow.app_rate.is_none() && flow.stack != Stack::Model {
            let problem = "pauses requires app_rate, or stack = \"model\": a real stack sends what it has been given";
            return self.fail(&key("pauses"), problem);
        }
        Ok(Some(Supply {
            chunks: self.chunks(index, flow, bytes)?.into(),
            think: flow.think_time,
            rate: flow.app_rate,
            pauses: pauses.into(),
        }))
    }

    fn chunks(&self, index: usize, flow: &Flow, bytes: Bytes) -> Result<Vec<Bytes>, ScenarioError> {
        let key = |name: &str| format!("flow.{index}.{name}");
        let Some(chunk) = flow.chunk else {
            if !flow.think_time.is_zero() {
                let problem = "think_time requires chunk: the client waits between two chunks";
                return self.fail(&key("think_time"), problem);
            }
            return Ok(vec![bytes]);
        };
        let count = match chunk.as_u64() {
            0 => u64::MAX,
            chunk => bytes.as_u64().div_ceil(chunk).max(1),
        };
        if count > u64::from(STREAMS) {
            let least = Bytes::new(bytes.as_u64().div_ceil(u64::from(STREAMS)).max(1));
            let problem = format!(
                "\"{chunk}\" is too small for \"{bytes}\"; accepted: at least \"{least}\", at most {STREAMS} chunks"
            );
            return self.fail(&key("chunk"), problem);
        }
        let mut chunks = vec![chunk; count as usize];
        let whole = Bytes::new(chunk.as_u64() * (count - 1));
        if let Some(last) = chunks.last_mut() {
            *last = bytes - whole;
        }
        Ok(chunks)
    }

    /// Refuses these keys for other workloads.
    pub(super) fn check_no_supply(&self, index: usize, flow: &Flow) -> Result<(), ScenarioError> {
        match given(flow).filter(|_| flow.download.is_none()) {
            Some(key) => {
                let problem = format!("{key} requires a download");
                self.fail(&format!("flow.{index}.{key}"), problem)
            }
            None => Ok(()),
        }
    }
}

/// The first of these keys that a flow has.
fn given(flow: &Flow) -> Option<&'static str> {
    let keys = [
        ("app_rate", flow.app_rate.is_some()),
        ("chunk", flow.chunk.is_some()),
        ("think_time", !flow.think_time.is_zero()),
        ("pauses", flow.pauses.is_some()),
    ];
    keys.iter()
        .find(|(_, is_given)| *is_given)
        .map(|(key, _)| *key)
}
