//! The same workload from the server and from the client, on a path whose directions have changed places: every number of the
//! flow is of its sender, so that both have the same distribution.
//!
//! Not exactly: the server waits for a request, half a round trip, and has sent a handshake before. Means of a flow over a
//! whole trial hardly see that, unless it is a call of few packets on an idle link, all of whose numbers are the same in each trial:
//! `sim/tests/calls/senders.rs` has such ones.

use super::{TRIALS, bound, distance, early, later};
use crate::trial::ORIGIN;
use thalweg_sim::{FlowOutcome, Progress, Scenario, run_trials};
use thalweg_units::Duration;

/// A number of a flow.
type Number = (&'static str, fn(&FlowOutcome) -> Option<f64>);

fn seconds(time: Option<Duration>) -> Option<f64> {
    time.map(Duration::as_secs_f64)
}

fn of_sent(flow: &FlowOutcome, packets: u64) -> Option<f64> {
    Some(packets as f64 / flow.packets_sent as f64)
}

/// What a flow says of its sender.
const NUMBERS: &[Number] = &[
    ("loss", |flow| of_sent(flow, flow.packets_lost)),
    ("drops", |flow| of_sent(flow, flow.packets_dropped)),
    ("lost at random", |flow| {
        of_sent(flow, flow.packets_lost_at_random)
    }),
    ("marks", |flow| of_sent(flow, flow.packets_marked)),
    ("sent", |flow| Some(flow.packets_sent as f64)),
    ("rtt", |flow| seconds(flow.mean_rtt)),
    ("event-rtt", |flow| seconds(flow.event_rtt)),
    ("queue-delay", |flow| seconds(flow.mean_queue_delay)),
    ("p95-queue-delay", |flow| seconds(flow.p95_queue_delay)),
    ("jitter", |flow| seconds(flow.mean_jitter)),
    ("load", |flow| flow.load),
    ("utilisation", |flow| flow.utilisation),
    ("rate", |flow| Some(flow.mean_rate.as_bits_per_sec() as f64)),
];

/// The direction of the data, narrow, lossy and marking, and the one back.
const DATA: &[&str] = &[
    "rate = \"3 Mbps\"",
    "loss = \"1 %\"",
    "jitter = { model = \"wifi\", mean = \"4 ms\" }",
    "queue = { model = \"red\", min = \"10 kB\", max = \"40 kB\", ecn = true }",
];
const BACK: &[&str] = &[
    "rate = \"20 Mbps\"",
    "loss = \"0.1 %\"",
    "jitter = { model = \"none\" }",
    "queue = { model = \"drop-tail\" }",
];

/// A workload over a path with these directions.
fn text(workload: &str, [down, up]: [&[&str]; 2]) -> String {
    let (down, up) = (down.join("\n"), up.join(", "));
    format!(
        "title = \"t\"\ntime_limit = \"30 s\"\n\
         transport = {{ initial_mtu = \"1252 B\", max_mtu = \"1252 B\" }}\n\
         [path]\nrtt = \"40 ms\"\nbuffer = \"100 kB\"\n{down}\nup = {{ {up} }}\n\
         [[flow]]\nname = \"main\"\ncontroller = \"cubic\"\n{workload}"
    )
}

/// The flow of each trial.
fn flows(text: &str, seeds: impl Iterator<Item = u64>) -> Vec<FlowOutcome> {
    let scenario = Scenario::from_toml(text.as_bytes(), ORIGIN, &[], &[]);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let seeds: Vec<u64> = seeds.collect();
    let trials = run_trials(&scenario, &seeds, 1, &Progress::default());
    trials
        .into_iter()
        .map(|mut trial| trial.outcome.flows.remove(0))
        .collect()
}

/// The largest distance of any number that both have, with its name.
fn farthest(one: &[FlowOutcome], other: &[FlowOutcome]) -> (f64, &'static str) {
    let sample = |flows: &[FlowOutcome], number: fn(&FlowOutcome) -> Option<f64>| {
        flows.iter().filter_map(number).collect::<Vec<f64>>()
    };
    let distances = NUMBERS.iter().map(|(name, number)| {
        let (one, other) = (sample(one, *number), sample(other, *number));
        let is_whole = one.len() == other.len() && (one.is_empty() || one.len() as u64 == TRIALS);
        (
            if is_whole {
                distance(&one, &other)
            } else {
                1.0
            },
            *name,
        )
    });
    distances
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .expect("numbers")
}

fn call(stack: &str, carriage: &str, from: &str, size: &str) -> String {
    format!(
        "stack = \"{stack}\"\n[[flow.media]]\nname = \"video\"\nfrom = \"{from}\"\n\
         carriage = \"{carriage}\"\nper_second = 25\nduration = \"4 s\"\n{size}\n"
    )
}

#[test]
#[ignore = "takes minutes: a part of `make soak`"]
fn a_workload_from_the_client_on_a_mirrored_path_has_the_numbers_of_one_from_the_server() {
    let fixed = "frame = \"12 kB\"\ngroup = 25";
    let encoder = "rate = { least = \"200 kbps\", most = \"4 Mbps\" }";
    let mut workloads = vec![(
        "upload = \"1 MB\"\n".to_owned(),
        "download = \"1 MB\"\n".to_owned(),
    )];
    for (stack, carriage, size) in [
        ("model", "streams", fixed),
        ("model", "datagrams", encoder),
        ("quic", "streams", fixed),
    ] {
        let from = |end| call(stack, carriage, end, size);
        workloads.push((from("client"), from("server")));
    }
    for (client, server) in &workloads {
        let down = flows(&text(server, [DATA, BACK]), early());
        let up = flows(&text(client, [BACK, DATA]), later());
        let (distance, name) = farthest(&down, &up);
        assert!(distance < bound(), "{name}: {distance}\n{client}");
        // A path that is not mirrored is found.
        let (distance, _) = farthest(&down, &flows(&text(client, [DATA, BACK]), later()));
        assert!(distance > bound(), "{distance}\n{client}");
    }
}
