//! Hosts whose bundles have one packet, and hosts that read all that has arrived where no two packets arrive at once, are
//! ideal; and links without bundles have nothing to split.
//!
//! **Exact.** A twin takes the long way of hosts that are not ideal. It makes no claim about reading where packets arrive
//! together: they are answered together then. What waits at the end of a trial has not arrived.

use super::document::{hops_mut, tables_mut};
use super::{Case, How, Relation, Twin};
use crate::random::Random;
use std::collections::BTreeSet;
use toml::{Table, Value};

pub(super) const RELATION: Relation = Relation {
    name: "plain_hosts",
    how: How::Twin(twin),
};

fn twin(case: &Case, random: &mut Random) -> Option<Twin> {
    let together = arrive_together(case);
    let mut table = case.table.clone();
    let is_free = |flow: &&mut Table| !flow.contains_key("host");
    for flow in tables_mut(&mut table, "flow").into_iter().filter(is_free) {
        let host = match random.below(3) {
            0 if !together => "reads = \"all\"",
            1 if !together => "bundle = \"1 packet\"\nreads = \"all\"",
            _ => "bundle = \"1 packet\"",
        };
        let host: Table = toml::from_str(host).unwrap_or_default();
        flow.insert("host".to_owned(), Value::Table(host));
    }
    let hosts = tables_mut(&mut table, "flow");
    let bundles = hosts.iter().any(|flow| sends_bundles(flow));
    if !bundles {
        for hop in hops_mut(&mut table) {
            hop.insert("splits".to_owned(), Value::Boolean(random.flag()));
        }
    }
    Some(Twin::same(table))
}

/// Whether a flow of the case may send bundles.
fn sends_bundles(flow: &Table) -> bool {
    match flow.get("host") {
        Some(Value::String(name)) => name == "linux",
        Some(Value::Table(host)) => {
            let text = |key: &str| host.get(key).and_then(Value::as_str);
            text("bundle").map_or(text("model") == Some("linux"), |size| size != "1 packet")
        }
        _ => false,
    }
}

/// Whether two packets come out of one link in the same nanosecond.
fn arrive_together(case: &Case) -> bool {
    let Some(passages) = case.passages() else {
        return true;
    };
    let mut ends = BTreeSet::new();
    let arrivals = (passages.rows.iter()).filter_map(|row| Some((row.link, row.passage.end.ok()?)));
    arrivals.into_iter().any(|end| !ends.insert(end))
}

#[cfg(test)]
mod tests {
    use super::super::broken::download;
    use super::super::{holds, is_found};
    use super::*;

    #[test]
    fn it_finds_a_bundle_of_two_packets_and_reading_together_what_arrives_together() {
        let case = Case::new(&download("cubic", "buffer = \"9 packets\"", ""));
        let mut plain = twin(&case, &mut Random::new(1)).unwrap();
        holds(&plain, &case);
        let host = |keys: &str| Value::Table(toml::from_str(keys).unwrap());
        let change = |twin: &mut Twin, keys: &str| {
            let mut flows = tables_mut(&mut twin.table, "flow");
            flows[0].insert("host".to_owned(), host(keys));
        };
        change(&mut plain, "bundle = \"2 packets\"");
        assert!(is_found(&plain, &case));
        // Releases of 5 ms hold four packets.
        let bursts = "jitter = { model = \"bursts\", every = \"5 ms\" }";
        let case = Case::new(&download("cubic", bursts, ""));
        assert!(arrive_together(&case));
        let mut plain = twin(&case, &mut Random::new(1)).unwrap();
        holds(&plain, &case);
        change(&mut plain, "reads = \"all\"");
        assert!(is_found(&plain, &case));
    }
}
