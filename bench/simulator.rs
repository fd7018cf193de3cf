//! Speed of the simulator, in ratios where the machine is noisy: `make bench`.
//!
//! Prints the fastest of several runs of one core, tracing off, in processor time: the time of the 20 Mbps C4
//! trial, its data packets per second, the seven network-event scenarios and the whole suite with 100 trials each,
//! and the cost of a data packet with 1000 flows on one link against 2 flows.
//!
//! That last ratio compares steady states: every flow moves 1 MB with 1000 flows, so that its handshake is
//! one packet in a hundred, and the ACK frequency is fixed. Left to itself it asks for four ACKs for each window,
//! which is one for hundreds of packets of 2 flows and one for two packets of 1000 flows: the ratio would measure
//! the number of ACKs as well.

use cpu_time::ProcessTime;
use std::time::Duration;
use thalweg_sim::{Progress, Scenario, run_trials};

const EVENTS: [&str; 7] = [
    "simple-20mbps",
    "simple-200mbps",
    "satellite",
    "low-and-up",
    "drop-and-back",
    "black-hole",
    "short-to-long",
];

fn main() {
    let (time, packets) = fastest(5, &shipped("simple-20mbps"), 40);
    let trial = time.as_secs_f64() * 1e3 / 40.0;
    let rate = packets as f64 / time.as_secs_f64() / 1e6;
    println!("10 MB at 20 Mbps with C4      {trial:8.2} ms a trial   {rate:.2} M packets/s");

    let suite = names();
    let (mut events, mut all) = (Duration::ZERO, Duration::ZERO);
    for name in &suite {
        let (time, _) = fastest(1, &shipped(name), 100);
        all += time;
        if EVENTS.contains(&name.as_str()) {
            events += time;
        }
    }
    for (scenarios, time) in [(EVENTS.len(), events), (suite.len(), all)] {
        let seconds = time.as_secs_f64();
        println!("{scenarios:2} scenarios x 100 trials     {seconds:8.2} s of one core");
    }

    let cost = |flows: u64| {
        let (time, packets) = fastest(3, &sharing(flows), 1);
        time.as_secs_f64() * 1e9 / packets as f64
    };
    let (few, many) = (cost(2), cost(1000));
    println!("2 flows on one link           {few:8.0} ns a packet");
    println!(
        "1000 flows on one link        {many:8.0} ns a packet   {:.2} times as much",
        many / few
    );
}

/// The fastest of `runs` runs of `trials` trials, and the data packets that each run sends.
fn fastest(runs: usize, scenario: &Scenario, trials: u64) -> (Duration, u64) {
    let seeds: Vec<u64> = (1..=trials).collect();
    let mut best = (Duration::MAX, 0);
    for _ in 0..runs {
        let begin = ProcessTime::now();
        let finished = run_trials(scenario, &seeds, 1, &Progress::default());
        let packets = finished.iter().map(|trial| trial.outcome.packets).sum();
        best = best.min((begin.elapsed(), packets));
    }
    best
}

const SUITE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../python/thalweg/suites/c4"
);

/// The scenarios of the suite.
fn names() -> Vec<String> {
    let files = std::fs::read_dir(SUITE).expect("the suite is shipped");
    let mut names: Vec<String> = files
        .filter_map(|file| {
            Some(
                file.ok()?
                    .file_name()
                    .to_str()?
                    .strip_suffix(".toml")?
                    .to_owned(),
            )
        })
        .filter(|name| name != "suite")
        .collect();
    names.sort();
    names
}

fn shipped(name: &str) -> Scenario {
    let file = format!("{SUITE}/{name}.toml");
    let text = std::fs::read(&file).expect("a shipped scenario");
    Scenario::from_toml(&text, &file, &[], &[]).expect("a shipped scenario is right")
}

/// `flows` CUBIC flows that move 1 GB in all over one fast link, with an ACK for every second packet.
fn sharing(flows: u64) -> Scenario {
    let mut text = String::from(
        "title = \"shared\"\n[path]\nrate = \"1 Gbps\"\nrtt = \"40 ms\"\nbuffer = \"2 bdp\"\n[transport]\nack_frequency = false\n",
    );
    let each = 1_000_000_000 / flows;
    for flow in 0..flows {
        text += &format!(
            "[[flow]]\nname = \"f{flow}\"\ncontroller = \"cubic\"\ndownload = \"{each} B\"\n"
        );
    }
    Scenario::from_toml(text.as_bytes(), "shared", &[], &[]).expect("a scenario of the benchmark")
}
