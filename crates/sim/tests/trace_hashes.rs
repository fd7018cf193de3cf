//! The same trial gives the same hash in this build as in the release build of the Python package, with one thread
//! and with eight, on both stacks: `tests/trace_hashes.txt`, which `make hashes` writes.

mod any_variant;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use thalweg_sim::{Scenario, run_trial};

/// One hash of the table.
struct Row {
    name: String,
    scenario: Scenario,
    hash: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The hashes of a controller on a stack, in the scenarios that the first line names.
fn read<'a>(head: &'a str, line: &'a str) -> impl Iterator<Item = Row> {
    let mut cells = head.split(' ').zip(line.split(' '));
    let mut side = || cells.next().expect("a stack and a controller").1;
    let (stack, controller) = (side(), side());
    let known = cells.filter(|(_, hash)| *hash != "-");
    known.map(|(name, hash)| row(name, stack, controller, hash))
}

fn row(name: &str, stack: &str, controller: &str, hash: &str) -> Row {
    let file = root().join(format!("python/thalweg/suites/{name}.toml"));
    let (text, origin) = (std::fs::read(&file).unwrap(), file.display().to_string());
    let text_of = |text: &str| text.to_owned();
    let main = any_variant::from_toml(&text, &origin, &[], &[])
        .unwrap()
        .flows[0]
        .name
        .clone();
    let sets = [
        ("pass", "[]"),
        ("time_limit", "4 s"),
        ("flow.*.stack", stack),
    ];
    let sets = sets.map(|(key, value)| (text_of(key), text_of(value)));
    let bindings = [(main, text_of(controller))];
    Row {
        name: format!("{name} {stack} {controller}"),
        scenario: any_variant::from_toml(&text, &origin, &sets, &bindings).unwrap(),
        hash: text_of(hash),
    }
}

/// The hash of every row, or of one in `step`, with so many trials at a time.
fn hashes(rows: &[Row], step: usize, threads: usize) -> BTreeMap<&str, String> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(step, Ordering::Relaxed)) {
                    let outcome = run_trial(&row.scenario, 1, false).0;
                    let hash = format!("{:016x}", outcome.trace_hash.expect("a hash"));
                    found.lock().unwrap().insert(row.name.as_str(), hash);
                }
            });
        }
    });
    found.into_inner().unwrap()
}

#[test]
fn this_build_has_the_trace_hashes_of_the_table_with_one_thread_and_with_eight() {
    let table = std::fs::read_to_string(root().join("tests/trace_hashes.txt")).unwrap();
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    let head = lines.next().expect("the names of scenarios");
    let rows: Vec<Row> = lines.flat_map(|line| read(head, line)).collect();
    assert!(rows.len() > 100, "{} rows", rows.len());
    let wanted: BTreeMap<&str, String> = rows
        .iter()
        .map(|row| (row.name.as_str(), row.hash.clone()))
        .collect();
    // Unoptimised packets of the real stack take their time: alone, every fifth row, of both stacks.
    for (threads, step) in [(8, 1), (1, 5)] {
        for (name, hash) in hashes(&rows, step, threads) {
            assert_eq!(wanted[name], hash, "{name}, {threads} threads");
        }
    }
}
