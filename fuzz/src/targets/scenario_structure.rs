//! Shipped scenarios with keys removed, added and doubled, and with values of other kinds and sizes.

use super::{Plays, Target};
use crate::random::Random;
use crate::{shipped, trial, values};
use toml::{Table, Value};

pub(super) const TARGET: Target = Target {
    name: "scenario-structure",
    ending: "toml",
    plays: Plays::Engine {
        make,
        check: trial::check,
    },
};

fn make(random: &mut Random) -> Vec<u8> {
    let files = shipped::scenarios();
    let mut root = Value::Table(table(random, files));
    let donor = Value::Table(table(random, files));
    for _ in 0..random.magnitude(1, 12) {
        mutate(&mut root, &donor, random);
    }
    let mut text = format!("# seed {}\n", random.below(1000));
    if random.percent(20) {
        let key = random.choose(&[
            "path.rate",
            "path.rtt",
            "flow.main.controller",
            "flow.0.streams",
            "flow.*.stack",
        ]);
        let value = match values::absurd(random) {
            Value::String(text) => text.replace(['\n', '\r'], " "),
            other => other.to_string(),
        };
        text += &format!("# set {key}={value}\n");
    }
    if random.percent(20) {
        text += &format!("# controller main={}\n", values::controller(random, true));
    }
    text += &toml::to_string(&root).unwrap_or_default();
    text.into_bytes()
}

fn table(random: &mut Random, files: &[String]) -> Table {
    let text: &String = random.choose(files);
    toml::from_str(text).expect("shipped scenarios are TOML")
}

/// One change, at a random place of the tree.
fn mutate(node: &mut Value, donor: &Value, random: &mut Random) {
    match node {
        Value::Table(table) if !table.is_empty() => {
            let keys: Vec<String> = table.keys().cloned().collect();
            let key = random.choose(&keys).clone();
            let inner = matches!(table[&key], Value::Table(_) | Value::Array(_));
            if inner && random.percent(75) {
                let below = donor.get(&key).unwrap_or(donor);
                mutate(
                    table.get_mut(&key).expect("a key of this table"),
                    below,
                    random,
                );
                return;
            }
            change(table, &key, donor, random);
        }
        Value::Array(items) if !items.is_empty() => {
            let position = random.below(items.len() as u64) as usize;
            match random.below(10) {
                0 => drop(items.remove(position)),
                1 => items.push(items[position].clone()),
                2 => items.swap(position, 0),
                3 => items[position] = values::absurd(random),
                _ => mutate(&mut items[position], donor.get(0).unwrap_or(donor), random),
            }
        }
        other => *other = values::absurd(random),
    }
}

fn change(table: &mut Table, key: &str, donor: &Value, random: &mut Random) {
    match random.below(10) {
        0 => drop(table.remove(key)),
        1 => {
            let value = table[key].clone();
            let other = random.choose(KEYS);
            table.insert((*other).to_owned(), value);
        }
        2 => {
            let added = *random.choose(KEYS);
            let value = values::plausible(random, added);
            table.insert(added.to_owned(), value);
        }
        3 => {
            // The same key, or any other, of another scenario.
            if let Some(value) = donor.get(key) {
                table.insert(key.to_owned(), value.clone());
            } else if let Value::Table(donor) = donor {
                table.extend(donor.iter().take(3).map(|(k, v)| (k.clone(), v.clone())));
            }
        }
        4 | 5 => drop(table.insert(key.to_owned(), values::absurd(random))),
        6 => {
            let name = *random.choose(STRUCTURES);
            let value = toml::from_str::<Table>(name).expect("a table");
            table.extend(value);
        }
        _ => drop(table.insert(key.to_owned(), values::plausible(random, key))),
    }
}

const KEYS: &[&str] = &[
    "rate",
    "rtt",
    "buffer",
    "trace",
    "queue",
    "jitter",
    "loss",
    "noise",
    "policer",
    "reorder",
    "up",
    "change",
    "repeat",
    "at",
    "up_rate",
    "up_loss",
    "up_queue",
    "flush",
    "up_flush",
    "name",
    "controller",
    "stack",
    "start",
    "route",
    "background",
    "download",
    "upload",
    "requests",
    "call",
    "media",
    "measure_from",
    "streams",
    "request",
    "zero_rtt",
    "tunnel",
    "seed",
    "time_limit",
    "sample",
    "overhead",
    "initial_window",
    "initial_mtu",
    "max_mtu",
    "mtu_fallback",
    "pacing",
    "handshake",
    "phase",
    "max_ack_delay",
    "ack_every",
    "ack_frequency",
    "initial_max_data",
    "initial_max_stream_data",
    "metric",
    "stream",
    "at_most",
    "target",
    "interval",
    "update",
    "burst",
    "mean",
    "sd",
    "min",
    "max",
    "every",
    "delay_sd",
    "rate_sd",
    "count",
    "mean_gap",
    "p5",
    "p95",
    "unknown",
];

const STRUCTURES: &[&str] = &[
    "queue = { model = \"codel\" }",
    "queue = { model = \"fq-codel\", flows = 1 }",
    "queue = { model = \"cake\", bandwidth = \"5 Mbps\", rtt = \"metro\" }",
    "queue = { model = \"pie\", ecn = true }",
    "queue = { model = \"dualpi2\" }",
    "queue = { model = \"red\", gentle = false }",
    "queue = { model = \"step\", threshold = \"20 packets\" }",
    "jitter = { model = \"wifi\", mean = \"7 ms\" }",
    "jitter = { model = \"normal\", mean = \"5 ms\" }",
    "jitter = { model = \"bursts\", every = \"10 ms\" }",
    "jitter = { model = \"nr-bpdv\" }",
    "ecn = \"bleach\"",
    "medium = { model = \"half-duplex\", overhead = \"170 us\", packets = 4 }",
    "medium = { model = \"wifi\", preset = \"apartment\", attempts = 3 }",
    "medium = { model = \"wifi\", neighbours = [{ heard = \"neither\", airtime = \"1 ms\" }] }",
    "loss = { model = \"random\", rate = \"40 %\" }",
    "loss = { model = \"gilbert-elliott\", p = \"1 %\", r = \"10 %\" }",
    "noise = { rate_sd = \"2 Mbps\", delay_sd = \"1 ms\" }",
    "policer = { rate = \"2 Mbps\", burst = \"30 kB\" }",
    "up = { rate = \"1 Mbps\" }",
    "change = [{ at = \"1 s\", rate = \"0 bps\" }, { at = \"2 s\", rate = \"10 Mbps\" }]",
    "repeat = \"3 s\"",
    "stack = \"quic\"",
    "requests = { count = 5, mean_gap = \"100 ms\", p5 = \"1 kB\", p95 = \"100 kB\" }",
    "transport = { max_mtu = \"9000 B\", ack_every = 10 }",
    "seed = { window = \"1 MB\", rtt = \"50 ms\" }",
];
