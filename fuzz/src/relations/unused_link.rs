//! A link that no flow crosses changes nothing.
//!
//! **Exact.** It comes last, so that the other links keep their numbers; [`super::order`] has the rest.

use super::document::{hops, set};
use super::{Case, How, Relation, Twin};
use crate::random::Random;
use toml::Value;

pub(super) const RELATION: Relation = Relation {
    name: "unused_link",
    how: How::Twin(twin),
};

fn twin(case: &Case, random: &mut Random) -> Option<Twin> {
    let mut table = case.table.clone();
    let count = hops(&case.table).len();
    let links = table.get_mut("link")?.as_array_mut()?;
    // Flows need a route: with a single link, a flow has none of its own.
    let mut unused = random.choose(links).as_table()?.clone();
    set(&mut unused, "name", "unused");
    links.push(Value::Table(unused));
    let first = hops(&case.table).first()?.get("name")?.clone();
    for key in ["flow", "traffic"] {
        for sender in super::document::tables_mut(&mut table, key) {
            if !sender.contains_key("route") {
                sender.insert("route".to_owned(), Value::Array(vec![first.clone()]));
            }
        }
    }
    Some(Twin::same(table).but_for(move |portrait| {
        portrait.outcome.links.truncate(2 * count);
        portrait.trace.link_names.truncate(2 * count);
    }))
}

#[cfg(test)]
mod tests {
    use super::super::broken::two_hops;
    use super::super::{holds, is_found};
    use super::*;

    #[test]
    fn it_finds_a_flow_that_crosses_the_link() {
        let case = Case::new(&two_hops("", ""));
        let mut link = twin(&case, &mut Random::new(1)).unwrap();
        holds(&link, &case);
        let flows = link.table["flow"].as_array_mut().unwrap();
        let route = flows[0]["route"].as_array_mut().unwrap();
        route.push(Value::String("unused".to_owned()));
        assert!(is_found(&link, &case));
    }
}
