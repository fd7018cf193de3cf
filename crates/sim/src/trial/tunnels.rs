//! Which connections and sources of traffic a queue cannot tell apart, since one tunnel carries them.

use crate::scenario::Scenario;
use crate::trial::connection::Connection;
use std::collections::BTreeMap;
use std::sync::Arc;

/// For each connection, and then each source of traffic, the one that stands for it in the hash of a queue: of a tunnel the
/// first, of all others itself, as without tunnels. `None` if there is no tunnel.
pub(crate) fn outer(scenario: &Scenario, connections: &[Connection]) -> Option<Arc<[u64]>> {
    let of_connection = |connection: &Connection| &scenario.flows[connection.flow].tunnel;
    let tunnels = (connections.iter().map(of_connection))
        .chain(scenario.traffic.iter().map(|source| &source.tunnel));
    tunnels.clone().find(|tunnel| tunnel.is_some())?;
    let mut first = BTreeMap::new();
    let outer = (0..).zip(tunnels).map(|(index, tunnel)| match tunnel {
        Some(tunnel) => *first.entry(tunnel).or_insert(index),
        None => index,
    });
    Some(outer.collect())
}
