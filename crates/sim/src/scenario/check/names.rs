//! Names are unique among their kind: what they may look like, their type says.

use super::Checker;
use crate::scenario::error::ScenarioError;
use crate::scenario::media::STANDARD_STREAMS;
use crate::scenario::schema::{Flow, ScenarioFile};
use std::collections::BTreeSet;

impl Checker<'_> {
    /// Refuses a second flow, link, source of traffic, tunnel or stream of a flow with the same name.
    pub(super) fn check_names(&self, file: &ScenarioFile) -> Result<(), ScenarioError> {
        let mut flows = BTreeSet::new();
        let named = file.flow.iter().map(|flow| &*flow.name);
        self.unique(&mut flows, "flow", "flows", named)?;
        let named = file.traffic.iter().map(|traffic| &*traffic.name);
        self.unique(&mut flows, "traffic", "flows or sources of traffic", named)?;
        let mut links = BTreeSet::new();
        let named = file.link.iter().filter_map(|link| link.name.as_deref());
        self.unique(&mut links, "link", "links", named)?;
        let mut tunnels = BTreeSet::new();
        let named = file.tunnel.iter().map(|tunnel| &*tunnel.name);
        self.unique(&mut tunnels, "tunnel", "tunnels", named)?;
        let mut flows = file.flow.iter().enumerate();
        flows.try_for_each(|(index, flow)| self.check_streams(index, flow))
    }

    fn check_streams(&self, index: usize, flow: &Flow) -> Result<(), ScenarioError> {
        let standard = STANDARD_STREAMS.into_iter();
        let mut known = standard.filter(|_| flow.call.is_some()).collect();
        let named = flow.media.iter().map(|media| &*media.name);
        let list = format!("flow.{index}.media");
        self.unique(&mut known, &list, "streams of media", named)
    }

    /// Adds the names of the entries of a list to those that are known.
    fn unique<'n>(
        &self,
        known: &mut BTreeSet<&'n str>,
        list: &str,
        kind: &str,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<(), ScenarioError> {
        for (index, name) in names.enumerate() {
            if !known.insert(name) {
                let problem = format!("\"{name}\" names two {kind}; accepted: unique names");
                return self.fail(&format!("{list}.{index}.name"), problem);
            }
        }
        Ok(())
    }
}
