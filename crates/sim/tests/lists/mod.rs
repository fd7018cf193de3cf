//! Lists that follow from the registries: tests try everything in them, and tables of messages have a word for each, so that
//! a new discipline or controller changes neither.

use thalweg_control::registry::ENTRIES;
use thalweg_control::{Purpose, Registry};
use thalweg_sim::{Metric, smallest_tables};

/// Each queue discipline, as `queue` of a scenario takes it.
pub(crate) fn queues() -> Vec<String> {
    smallest_tables("queue")
}

/// The controllers of these purposes, by name.
pub(crate) fn controllers(purposes: &[Purpose]) -> Vec<&'static str> {
    let entries = ENTRIES.iter();
    let of = entries.filter(|entry| purposes.contains(&entry.purpose));
    of.map(|entry| entry.name).collect()
}

/// Messages with DISCIPLINES, CONTROLLERS and METRICS in place of what they list.
pub(crate) fn shortened(messages: &str) -> String {
    let queues = queues();
    let disciplines: Vec<_> = queues
        .iter()
        .filter_map(|table| table.split('"').nth(1))
        .map(|name| format!("\"{name}\""))
        .collect();
    let registry: Registry = thalweg_c4_history::registry();
    let names: Vec<_> = registry.entries().iter().map(|entry| entry.name).collect();
    let metrics: Vec<_> = Metric::ALL.iter().map(|metric| metric.name()).collect();
    messages
        .replace(&disciplines.join(", "), "DISCIPLINES")
        .replace(&names.join(", "), "CONTROLLERS")
        .replace(&metrics.join(", "), "METRICS")
}

#[test]
fn the_lists_have_what_everybody_knows() {
    assert!(queues().contains(&"{ model = \"codel\" }".to_owned()));
    assert!(controllers(&[Purpose::Internet]).contains(&"cubic"));
    assert!(!controllers(&[Purpose::Internet]).contains(&"cbr"));
    assert_eq!(shortened("one of \"drop-tail\""), "one of \"drop-tail\"");
}
