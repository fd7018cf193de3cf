//! The order of tables: links, criteria and flows in another order have the same outcomes in that order.
//!
//! **Exact** for links and criteria: the random stream of each link comes from its name. For flows it is exact unless two of
//! them act in the same nanosecond, where the first of the file has the first turn, or share a link that has FQ-CoDel or CAKE at any
//! time, whose hash sees the numbers of flows. With these it holds in distribution: who is first is a convention.

use super::document::{directions, hops, tables, values};
use super::{Case, How, Portrait, Relation, Twin};
use crate::random::Random;
use std::collections::BTreeMap;
use toml::Value;

pub(super) const RELATION: Relation = Relation {
    name: "order",
    how: How::Twin(twin),
};

fn twin(case: &Case, random: &mut Random) -> Option<Twin> {
    let count = |key: &str| tables(&case.table, key).len();
    let [links, passes, flows] = ["link", "pass", "flow"].map(count);
    if links < 2 && passes < 2 && flows < 2 {
        return None;
    }
    let model = |queue: &Value| {
        queue
            .get("model")
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let is_fq =
        |queue: &Value| model(queue).is_some_and(|model| ["fq-codel", "cake"].contains(&&*model));
    let hashed = |table: &&toml::Table| values(table, "queue").any(is_fq);
    let is_hashed = hops(&case.table)
        .iter()
        .any(|hop| directions(hop).iter().any(hashed) || tables(hop, "change").iter().any(hashed));
    // Ties of what comes with the end of an access leave no record.
    let is_shared = hops(&case.table)
        .iter()
        .any(|hop| hop.contains_key("medium"));
    let may_move = flows > 1 && !is_hashed && !is_shared && !has_ties(case);
    let mut table = case.table.clone();
    for key in ["link", "pass", "flow"] {
        if let Some(all) = table.get_mut(key).and_then(Value::as_array_mut)
            && (key != "flow" || may_move)
        {
            shuffle(all, random);
        }
    }
    Some(Twin::same(table).but_for(sort))
}

fn shuffle(all: &mut [Value], random: &mut Random) {
    for last in (1..all.len()).rev() {
        all.swap(last, random.below(last as u64 + 1) as usize);
    }
}

/// Whether two things happen in the same nanosecond: packets of two connections enter or leave links, or two packets reach the
/// ends of two links. What waits at the end of a trial leaves no record of when it came, so that there may be.
pub(super) fn has_ties(case: &Case) -> bool {
    let Portrait { outcome, trace } = &case.portrait;
    let mut last = BTreeMap::new();
    for row in &trace.links {
        last.insert(row.link, row.queue_packets);
    }
    let mut starts: Vec<_> = outcome.flows.iter().map(|flow| flow.start).collect();
    starts.sort_unstable();
    if last.values().any(|waiting| *waiting > 0) || starts.windows(2).any(|two| two[0] == two[1]) {
        return true;
    }
    let Some(passages) = case.passages() else {
        return true;
    };
    let (mut flows, mut ends) = (BTreeMap::new(), BTreeMap::new());
    for row in &passages.rows {
        let passage = &row.passage;
        let arrived = passage.end.ok();
        for time in [Some(passage.entered), arrived].into_iter().flatten() {
            if *flows.entry(time).or_insert(passage.flow) != passage.flow {
                return true;
            }
        }
        if let Some(time) = arrived
            && *ends.entry(time).or_insert(row.link) != row.link
        {
            return true;
        }
    }
    false
}

/// Puts everything into the order of names.
fn sort(portrait: &mut Portrait) {
    let Portrait { outcome, trace } = portrait;
    outcome.trace_hash = None; // it has the numbers of flows and links in it
    let places = |names: &[String]| -> Vec<usize> {
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort();
        names
            .iter()
            .map(|name| sorted.iter().position(|known| *known == name).unwrap_or(0))
            .collect()
    };
    let (flows, links) = (places(&trace.flow_names), places(&trace.link_names));
    let senders = &mut trace.senders;
    senders
        .samples
        .iter_mut()
        .for_each(|row| row.flow = flows[row.flow]);
    senders.samples.sort_by_key(|row| row.flow);
    senders
        .variables
        .iter_mut()
        .for_each(|row| row.flow = flows[row.flow]);
    senders.variables.sort_by_key(|row| row.flow);
    senders
        .packets
        .iter_mut()
        .for_each(|(flow, _)| *flow = flows[*flow]);
    senders.packets.sort_by_key(|(flow, _)| *flow);
    trace
        .links
        .iter_mut()
        .for_each(|row| row.link = links[row.link as usize] as u32);
    trace.links.sort_by_key(|row| row.link);
    for row in &mut trace.drops {
        (row.link, row.flow) = (links[row.link], flows[row.flow]);
    }
    trace.drops.sort_by_key(|row| row.link);
    for row in &mut trace.held {
        (row.link, row.flow) = (links[row.link], flows[row.flow]);
    }
    trace.held.sort_by_key(|row| row.link);
    trace
        .frames
        .iter_mut()
        .for_each(|row| row.flow = flows[row.flow]);
    trace.frames.sort_by_key(|row| row.flow);
    outcome.links.sort_by(|a, b| a.name.cmp(&b.name));
    sort_flows(outcome, &trace.flow_names);
    trace.flow_names.sort();
    trace.link_names.sort();
}

/// Flows of requests have one name for each request, "web/17", and one outcome.
fn sort_flows(outcome: &mut thalweg_sim::Outcome, names: &[String]) {
    let mut flows: Vec<&str> = names
        .iter()
        .map(|name| name.split('/').next().unwrap_or(name))
        .collect();
    flows.dedup();
    let flows: Vec<String> = flows.into_iter().map(str::to_owned).collect();
    let mut sorted = flows.clone();
    sorted.sort();
    // A call that both ends send has more names at the end, "call/client" and "call/server".
    sorted.dedup();
    let place = |flow: usize| {
        sorted
            .iter()
            .position(|name| *name == flows[flow])
            .unwrap_or(0)
    };
    outcome
        .requests
        .iter_mut()
        .for_each(|request| request.flow = place(request.flow));
    outcome
        .requests
        .sort_by_key(|request| (request.flow, request.request));
    let mut numbered: Vec<(usize, _)> = std::mem::take(&mut outcome.flows)
        .into_iter()
        .enumerate()
        .collect();
    numbered.sort_by_key(|(flow, _)| place(*flow));
    outcome.flows = numbered.into_iter().map(|(_, flow)| flow).collect();
    // A sum of floats in another order.
    outcome.jain = outcome.jain.map(|jain| (jain * 1e12).round() / 1e12);
}

#[cfg(test)]
mod tests {
    use super::super::broken::two_hops;
    use super::super::{holds, is_found};
    use super::*;

    #[test]
    fn it_finds_tables_that_changed_places_and_contents() {
        let case = Case::new(&two_hops("", ""));
        let shuffled = (0..20).filter_map(|seed| twin(&case, &mut Random::new(seed)));
        let mut moved = shuffled.filter(|twin| twin.table != case.table);
        let mut other = moved.next().unwrap();
        holds(&other, &case);
        let flows = other.table["flow"].as_array_mut().unwrap();
        let controllers = [0, 1].map(|flow: usize| flows[flow]["controller"].clone());
        for (flow, controller) in flows.iter_mut().zip(controllers.into_iter().rev()) {
            flow.as_table_mut()
                .unwrap()
                .insert("controller".to_owned(), controller);
        }
        assert!(is_found(&other, &case));
    }

    #[test]
    fn two_flows_that_start_in_the_same_nanosecond_are_a_tie() {
        let noise = "[noise]\nstart = \"0 s\"\n";
        let quiet = two_hops("", "").replace("title = \"t\"\n", &format!("title = \"t\"\n{noise}"));
        assert!(has_ties(&Case::new(&quiet)));
        assert!(!has_ties(&Case::new(&two_hops("", ""))));
    }
}
