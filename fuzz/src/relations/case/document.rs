//! The tables of a scenario text.

use thalweg_units::Duration;
use toml::{Table, Value};

/// The tables under a key: a table, or a list of tables.
pub(crate) fn tables<'t>(table: &'t Table, key: &str) -> Vec<&'t Table> {
    match table.get(key) {
        Some(Value::Table(only)) => vec![only],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_table).collect(),
        _ => Vec::new(),
    }
}

/// The same, to be changed.
pub(crate) fn tables_mut<'t>(table: &'t mut Table, key: &str) -> Vec<&'t mut Table> {
    match table.get_mut(key) {
        Some(Value::Table(only)) => vec![only],
        Some(Value::Array(all)) => all.iter_mut().filter_map(Value::as_table_mut).collect(),
        _ => Vec::new(),
    }
}

/// All hops: `[path]`, or each `[[link]]`.
pub(crate) fn hops(scenario: &Table) -> Vec<&Table> {
    [tables(scenario, "path"), tables(scenario, "link")].concat()
}

/// The same, to be changed.
pub(crate) fn hops_mut(scenario: &mut Table) -> Vec<&mut Table> {
    let key = if scenario.contains_key("path") {
        "path"
    } else {
        "link"
    };
    tables_mut(scenario, key)
}

/// A hop and its table `up`, if there is one: where settings of links stand.
pub(crate) fn directions(hop: &Table) -> Vec<&Table> {
    [vec![hop], tables(hop, "up")].concat()
}

/// A duration, if it stands there.
pub(crate) fn duration(table: &Table, key: &str) -> Option<Duration> {
    table.get(key)?.as_str()?.parse().ok()
}

/// Writes a duration.
pub(crate) fn set_duration(table: &mut Table, key: &str, value: Duration) {
    set(table, key, format!("{} ns", value.as_nanos()));
}

/// Writes a text.
pub(crate) fn set(table: &mut Table, key: &str, text: impl Into<String>) {
    table.insert(key.to_owned(), Value::String(text.into()));
}

/// Adds to a duration, if it stands there.
pub(crate) fn add(table: &mut Table, key: &str, by: Duration) {
    if let Some(value) = duration(table, key) {
        set_duration(table, key, value + by);
    }
}

/// The model of `queue`, `jitter` or `loss`, if one is named.
pub(crate) fn model<'t>(table: &'t Table, key: &str) -> Option<&'t str> {
    table.get(key)?.as_table()?.get("model")?.as_str()
}

/// The values of a setting in a table: of the table, and of a change also the one only for the direction from client to server.
pub(crate) fn values<'t>(table: &'t Table, key: &str) -> impl Iterator<Item = &'t Value> {
    let up = table.get(&format!("up_{key}"));
    table.get(key).into_iter().chain(up)
}

/// Whether a `queue` or a `loss` draws random numbers.
fn draws(value: &Value) -> bool {
    let model = value.get("model").and_then(Value::as_str);
    !matches!(model, Some("drop-tail" | "codel"))
        && value.as_str() != Some("100 %")
        && *value != no_loss()
}

/// A loss of nothing, which draws nothing.
pub(crate) fn no_loss() -> Value {
    let model = ("model".to_owned(), "scripted".into());
    Value::Table(Table::from_iter([
        model,
        ("packets".to_owned(), Value::Array(Vec::new())),
    ]))
}

/// Whether a loss depends on the time at which packets come.
pub(crate) fn is_timed(loss: &Value) -> bool {
    loss.get("good").is_some()
}

/// The delays of a hop from server to client and from client to server.
pub(crate) fn delays(hop: &Table) -> Option<[Duration; 2]> {
    let half = duration(hop, "rtt")? / 2;
    let up = tables(hop, "up")
        .into_iter()
        .find_map(|up| duration(up, "delay"));
    Some([half, up.unwrap_or(half)])
}

/// Writes them.
pub(crate) fn set_delays(hop: &mut Table, [down, up]: [Duration; 2]) {
    set_duration(hop, "rtt", down * 2);
    let own = hop
        .entry("up")
        .or_insert_with(|| Value::Table(Table::new()));
    if let Some(own) = own.as_table_mut() {
        set_duration(own, "delay", up);
    }
}

/// Whether a hop repeats changes of a setting, `queue` or `loss`, that draws. Each occurrence draws by its number in the schedule.
pub(crate) fn repeats_draws(hop: &Table, key: &str) -> bool {
    let changes = tables(hop, "change");
    hop.contains_key("repeat")
        && changes
            .iter()
            .any(|change| values(change, key).next().is_some())
        && (directions(hop).into_iter().chain(changes)).any(|table| values(table, key).any(draws))
}

/// Whether a link of this table is a random element: nothing but a plain queue, constant delay and no loss.
pub(crate) fn is_random(hop: &Table) -> bool {
    let drawn = |table: &Table| {
        values(table, "queue").any(draws)
            || values(table, "loss").next().is_some()
            || !matches!(
                model(table, "jitter"),
                None | Some("none" | "trace" | "bursts")
            )
    };
    let changed = tables(hop, "change");
    hop.contains_key("noise")
        || model(hop, "medium") == Some("wifi")
        || directions(hop).into_iter().chain(changed).any(drawn)
}

/// Whether jitter is drawn by the clock.
pub(crate) fn draws_in_time(table: &Table) -> bool {
    let jitter = table.get("jitter").and_then(Value::as_table);
    model(table, "jitter") == Some("wifi")
        && jitter.is_some_and(|jitter| jitter.contains_key("every"))
}

/// Whether the streams of randomness take other seeds by the clock.
pub(crate) fn has_tape(scenario: &Table) -> bool {
    let noise = scenario.get("noise").and_then(Value::as_table);
    noise.is_some_and(|noise| noise.contains_key("tape"))
}

/// Whether neighbours or absences on the medium of a hop come by the clock.
pub(crate) fn has_neighbours(hop: &Table) -> bool {
    let medium = hop.get("medium").and_then(Value::as_table);
    let keys = ["preset", "neighbours", "scan"];
    medium.is_some_and(|medium| keys.iter().any(|key| medium.contains_key(*key)))
}

/// A link whose behaviour does not depend on the time at which packets come.
pub(crate) fn is_timeless(hop: &Table) -> bool {
    let timed = |table: &Table| {
        table.contains_key("trace")
            || matches!(model(table, "jitter"), Some("trace" | "bursts"))
            || draws_in_time(table)
            || values(table, "loss").any(is_timed)
            || matches!(model(table, "queue"), Some("pie" | "dualpi2"))
    };
    !hop.contains_key("noise")
        && !hop.contains_key("medium")
        && !hop.contains_key("change")
        && !directions(hop).into_iter().any(timed)
}

/// Whether the limit of a queue follows from the RTT: "1 bdp", the default of a hop, for both directions unless `up` says another.
pub(crate) fn depends_on_rtt(hop: &Table) -> bool {
    let in_rtts = |buffer: &Value| buffer.as_str().is_none_or(|text| text.contains("bdp"));
    let up = tables(hop, "up")
        .into_iter()
        .find_map(|up| up.get("buffer"));
    hop.get("buffer").is_none_or(in_rtts) || up.is_some_and(in_rtts)
}

/// Whether a link has noise on its rate.
pub(crate) fn has_noise(scenario: &Table) -> bool {
    hops(scenario).iter().any(|hop| hop.contains_key("noise"))
}
