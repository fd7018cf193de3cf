//! The links of a trial at its start.

use super::first_link::InTransit;
use crate::outcome::trace::Record;
use crate::scenario::Scenario;
use crate::scenario::hop::LinkId;
use crate::trial::connection::Connection;
use crate::trial::{seed, tunnels};
use thalweg_path::Link;

/// Two for each hop, which count what each connection and each of so many sources sends, and how long data waits, by flow.
pub(super) fn of_hops(
    scenario: &Scenario,
    trial: u64,
    (connections, sources): (&[Connection], usize),
    record: Record,
) -> Vec<Link<InTransit>> {
    let tunnels = tunnels::outer(scenario, connections);
    let link = |id: LinkId| {
        let config = &scenario.hops[id.hop()].links[id.direction()];
        let seed = seed::of_link(scenario, trial, id);
        let mut link = Link::new(config, seed, connections.len() + sources);
        tunnels.iter().for_each(|outer| link.enter_tunnels(outer));
        link.record_drops(record == Record::Series);
        if matches!(record, Record::Passages(_)) {
            link.record_passages(true);
        }
        let sender = id.direction().receiver().peer();
        let flow = |one: &Connection| one.sends(sender).then_some(one.flow as u32);
        link.count_waits(connections.iter().map(flow));
        link
    };
    LinkId::all(scenario.hops.len()).map(link).collect()
}
