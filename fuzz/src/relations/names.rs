//! Names are only names: titles, notes and streams of media may have any, and so may flows and links where nothing is drawn.
//!
//! **Exact** for titles, sources, notes and streams of media without encoders, which draw. The random streams of flows and
//! links come from their names, so that for these the relation is exact where nothing is drawn (no noise, no random jitter or loss, drop-tail or CoDel, `reno`,
//! `cubic` or `prague`, no random requests), and in distribution otherwise, see [`super::in_distribution`].

use super::document::{hops, is_random, set, tables, tables_mut};
use super::{Case, How, Portrait, Relation, Twin};
use crate::random::Random;
use toml::{Table, Value};

pub(super) const RELATION: Relation = Relation {
    name: "names",
    how: How::Twin(twin),
};

fn twin(case: &Case, random: &mut Random) -> Option<Twin> {
    let flows = tables(&case.table, "flow");
    let mut media = flows.iter().flat_map(|flow| tables(flow, "media"));
    if media.any(|stream| stream.contains_key("rate")) {
        return None; // an encoder draws from a stream that is named after its own
    }
    let mut table = case.table.clone();
    set(&mut table, "title", "another");
    set(&mut table, "note", "another name");
    for flow in tables_mut(&mut table, "flow") {
        for media in tables_mut(flow, "media") {
            rename(media);
        }
    }
    let all = is_drawless(&case.table) && random.percent(90);
    if all {
        rename_all(&mut table);
    }
    let name = |name: &mut String| *name = renamed(name);
    Some(Twin::same(table).changed(move |portrait| {
        let Portrait { outcome, trace } = portrait;
        // Streams of the standard call keep their names.
        let custom = |name: &str| name.starts_with('m') && name[1..].parse::<u32>().is_ok();
        for media in outcome.flows.iter_mut().flat_map(|flow| &mut flow.media) {
            if custom(&media.name) {
                name(&mut media.name);
            }
        }
        for frame in trace
            .frames
            .iter_mut()
            .filter(|frame| custom(&frame.stream))
        {
            name(&mut frame.stream);
        }
        if all {
            trace.flow_names.iter_mut().for_each(name);
            trace
                .link_names
                .iter_mut()
                .filter(|name| name.starts_with('l'))
                .for_each(name);
            let links = outcome.links.iter_mut().map(|link| &mut link.name);
            links.filter(|name| name.starts_with('l')).for_each(name);
        }
    }))
}

fn renamed(name: &str) -> String {
    format!("x{name}")
}

fn rename(table: &mut Table) {
    if let Some(name) = table.get("name").and_then(Value::as_str).map(renamed) {
        set(table, "name", name);
    }
}

/// New names for flows and links, wherever they stand.
fn rename_all(scenario: &mut Table) {
    tables_mut(scenario, "link").into_iter().for_each(rename);
    for flow in tables_mut(scenario, "flow") {
        rename(flow);
        rename_route(flow);
    }
    for traffic in tables_mut(scenario, "traffic") {
        rename(traffic);
        rename_route(traffic);
    }
    for pass in tables_mut(scenario, "pass") {
        if let Some(name) = pass.get("flow").and_then(Value::as_str).map(renamed) {
            set(pass, "flow", name);
        }
    }
}

fn rename_route(table: &mut Table) {
    let route = table.get_mut("route").and_then(Value::as_array_mut);
    for link in route.into_iter().flatten() {
        let name = link.as_str().map(renamed);
        *link = Value::String(name.unwrap_or_default());
    }
}

/// Whether no random number of a flow, a link or a source of traffic can matter.
fn is_drawless(scenario: &Table) -> bool {
    let quiet = tables(scenario, "noise").iter().any(|noise| {
        ["start", "wakeup"]
            .iter()
            .all(|key| super::document::duration(noise, key).is_some_and(|d| d.is_zero()))
    });
    let plain = |flow: &&Table| {
        let controller = flow
            .get("controller")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let name = controller.split(':').next().unwrap_or_default();
        // The real stack draws identifiers and the order of frames.
        !flow.contains_key("requests")
            && !flow.contains_key("stack")
            && matches!(name, "reno" | "cubic" | "prague")
    };
    quiet
        && !hops(scenario).iter().any(|hop| is_random(hop))
        && tables(scenario, "flow").iter().all(plain)
        && !(tables(scenario, "traffic").iter()).any(|source| source.contains_key("mean_on"))
}

#[cfg(test)]
mod tests {
    use super::super::broken::two_hops;
    use super::super::{holds, is_found};
    use super::*;

    #[test]
    fn it_finds_that_streams_of_random_numbers_have_the_names_of_links_and_flows() {
        let quiet = "title = \"t\"\n[noise]\nstart = \"0 s\"\nwakeup = \"0 s\"\n";
        let text = |first: &str| two_hops(first, "").replace("title = \"t\"\n", quiet);
        let renamed_all = |case: &Case| {
            let mut table = case.table.clone();
            rename_all(&mut table);
            Twin::same(table).but_for(|portrait| {
                portrait.trace.flow_names.clear();
                portrait.trace.link_names.clear();
                portrait
                    .outcome
                    .links
                    .iter_mut()
                    .for_each(|link| link.name.clear());
            })
        };
        let case = Case::new(&text(""));
        assert!(is_drawless(&case.table));
        holds(&twin(&case, &mut Random::new(1)).unwrap(), &case);
        holds(&renamed_all(&case), &case);
        let drawn = Case::new(&text("loss = \"2 %\""));
        assert!(!is_drawless(&drawn.table));
        assert!(is_found(&renamed_all(&drawn), &drawn));
    }
}
