//! The flows that a discipline cannot tell apart, since one tunnel carries them.

use std::sync::Arc;

/// The flow in whose place a discipline sees each flow, if any are in a tunnel.
#[derive(Clone, Debug, Default)]
pub(crate) struct OuterFlows(Option<Arc<[u64]>>);

impl OuterFlows {
    /// `outer` has for each flow, by its index, the one that stands for its tunnel, or itself.
    pub(crate) fn new(outer: &Arc<[u64]>) -> Self {
        OuterFlows(Some(Arc::clone(outer)))
    }

    /// The flow that is seen in the place of `flow`: `flow` itself, if it is in no tunnel.
    #[inline]
    pub(super) fn of(&self, flow: u64) -> u64 {
        let outer = self.0.as_deref();
        let outer = outer.and_then(|outer| outer.get(flow as usize));
        outer.copied().unwrap_or(flow)
    }
}
