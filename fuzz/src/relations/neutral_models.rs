//! Models that do nothing: a loss of 0 %, or of packets that never come, jitter of no length, a policer that always has tokens, noise of no size, and leave to
//! overtake where the delay is constant; repair of no packets, and probes without a budget, of a call.
//!
//! **Exact.** The draws of a model come from a stream of its own, so that the draws of others stay.

use super::document::{hops_mut, tables, tables_mut};
use super::{Case, How, Relation, Twin};
use crate::random::Random;
use toml::{Table, Value};

pub(super) const RELATION: Relation = Relation {
    name: "neutral_models",
    how: How::Twin(twin),
};

const LOSSES: &[&str] = &[
    "loss = \"0 %\"",
    "loss = { model = \"random\", rate = \"0\" }",
    "loss = { model = \"gilbert-elliott\", p = \"0\", r = \"0.5\" }",
    "loss = { model = \"gilbert-elliott\", p = \"0.3\", r = \"0.2\", good_loss = \"0\", bad_loss = \"0\" }",
    "loss = { model = \"gilbert-elliott\", good = \"1 s\", bad = \"0 s\" }",
    "loss = { model = \"gilbert-elliott\", good = \"1 s\", bad = \"2 s\", bad_loss = \"0\" }",
    "loss = { model = \"periodic\", every = 1000000000000 }",
    "loss = { model = \"scripted\", packets = [] }",
    "loss = { model = \"scripted\", packets = [\"1000000000000-2000000000000\"] }",
];
const JITTERS: &[&str] = &[
    "jitter = { model = \"none\" }",
    "jitter = { model = \"uniform\", min = \"0 s\", max = \"0 s\" }",
    "jitter = { model = \"normal\", mean = \"0 s\", sd = \"0 s\" }",
    "jitter = { model = \"two-components\", fraction = \"0.5\", short = \"0 s\", long = \"0 s\" }",
];
/// More tokens than all that a case may send.
const POLICERS: &[&str] = &["policer = { rate = \"400 Gbps\", burst = \"1 TB\" }"];
const QUEUES: &[&str] = &["queue = { model = \"drop-tail\" }"];
const NOISES: &[&str] = &["noise = { rate_sd = \"0 bps\", delay_sd = \"0 s\", every = \"1 ms\" }"];
const ORDERS: &[&str] = &["reorder = true"];
const REPAIRS: &[&str] = &["repair = { fec = \"0 %\" }"];
/// The least target, so that no controller of media may send more.
const PROBES: &[&str] = &["probe = { target = \"1 kbps\", budget = \"0 %\" }"];
const CODED: &[&str] = &["probe = { target = \"1 kbps\", budget = \"0 %\", by = \"redundancy\" }"];

fn twin(case: &Case, random: &mut Random) -> Option<Twin> {
    let mut table = case.table.clone();
    for hop in hops_mut(&mut table) {
        let changes = |key: &str| tables(hop, "change").iter().any(|c| c.contains_key(key));
        let others = |key: &str| tables(hop, "up").iter().any(|up| up.contains_key(key));
        let (later_jitter, later_rtt) = (changes("jitter"), changes("rtt") || changes("up_delay"));
        let is_constant = !later_jitter
            && !later_rtt
            && !others("jitter")
            && !hop.contains_key("jitter")
            && !hop.contains_key("noise");
        let keys = [LOSSES, POLICERS, QUEUES, NOISES];
        keys.iter().for_each(|texts| add(hop, texts, random));
        // Draws of no length are draws: jitter that comes later would see the next ones.
        if !later_jitter {
            add(hop, JITTERS, random);
        }
        if is_constant {
            add(hop, ORDERS, random);
        }
    }
    for flow in tables_mut(&mut table, "flow") {
        let is_modelled = !["stack", "command"]
            .iter()
            .any(|key| flow.contains_key(*key));
        let is_call = flow.contains_key("call") || flow.contains_key("media");
        if !is_modelled || !is_call {
            continue;
        }
        let mut all_are_datagrams = flow.contains_key("media");
        for media in tables_mut(flow, "media") {
            let carriage = media.get("carriage").and_then(Value::as_str);
            match carriage == Some("datagrams") {
                true => add(media, REPAIRS, random),
                false => all_are_datagrams = false,
            }
        }
        let is_coded = all_are_datagrams && random.flag();
        add(flow, if is_coded { CODED } else { PROBES }, random);
    }
    Some(Twin::same(table).but_for(|portrait| {
        let flows = &mut portrait.outcome.flows;
        flows.iter_mut().for_each(|flow| flow.probe_bytes = None);
    }))
}

/// Adds a key where it is missing, in most cases.
fn add(table: &mut Table, texts: &[&'static str], random: &mut Random) {
    let text: &str = random.choose::<&str>(texts);
    let given: Table = toml::from_str(text).unwrap_or_default();
    for (key, value) in given {
        let value: Value = value;
        if !table.contains_key(&key) && random.percent(70) {
            table.insert(key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::broken::download;
    use super::super::{holds, is_found};
    use super::*;

    #[test]
    fn it_finds_a_loss_of_two_percent_and_draws_that_others_miss() {
        let case = Case::new(&download("cubic", "", ""));
        let mut neutral = twin(&case, &mut Random::new(1)).unwrap();
        holds(&neutral, &case);
        neutral.table["path"]
            .as_table_mut()
            .unwrap()
            .insert("loss".to_owned(), "2 %".into());
        assert!(is_found(&neutral, &case));
        // Jitter of no length is drawn: what comes later sees other draws.
        let later = "jitter = { model = \"none\" }\n[[path.change]]\nat = \"100 ms\"\njitter = { model = \"uniform\", min = \"0 s\", max = \"9 ms\" }";
        let case = Case::new(&download("cubic", later, ""));
        let mut drawn = Twin::same(case.table.clone());
        holds(&drawn, &case);
        let zero = toml::from_str::<Table>("model = \"uniform\"\nmax = \"0 s\"").unwrap();
        drawn.table["path"]
            .as_table_mut()
            .unwrap()
            .insert("jitter".to_owned(), Value::Table(zero));
        assert!(is_found(&drawn, &case));
    }
}
