//! Speed of the simulator, in ratios where the machine is noisy: `make bench`.
//!
//! Prints the fastest of several runs of one core, tracing off: the time of the 20 Mbps C4 trial, its data
//! packets per second, the seven network-event scenarios with 100 trials each, and the cost of a packet with
//! 1000 flows on one link against 2 flows.

use std::time::{Duration, Instant};
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

    let mut all = Duration::ZERO;
    for name in EVENTS {
        all += fastest(1, &shipped(name), 100).0;
    }
    println!(
        "7 scenarios x 100 trials      {:8.2} s of one core",
        all.as_secs_f64()
    );

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
        let begin = Instant::now();
        let finished = run_trials(scenario, &seeds, 1, &Progress::default());
        let packets = finished.iter().map(|trial| trial.outcome.packets).sum();
        best = best.min((begin.elapsed(), packets));
    }
    best
}

fn shipped(name: &str) -> Scenario {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../python/thalweg/suites/c4"
    );
    let file = format!("{folder}/{name}.toml");
    let text = std::fs::read(&file).expect("a shipped scenario");
    Scenario::from_toml(&text, &file, &[], &[]).expect("a shipped scenario is right")
}

/// `flows` CUBIC flows that move 200 MB in all over one fast link.
fn sharing(flows: u64) -> Scenario {
    let mut text = String::from(
        "title = \"shared\"\n[path]\nrate = \"1 Gbps\"\nrtt = \"40 ms\"\nbuffer = \"2 bdp\"\n",
    );
    let each = 200_000_000 / flows;
    for flow in 0..flows {
        text += &format!(
            "[[flow]]\nname = \"f{flow}\"\ncontroller = \"cubic\"\ndownload = \"{each} B\"\n"
        );
    }
    Scenario::from_toml(text.as_bytes(), "shared", &[], &[]).expect("a scenario of the benchmark")
}
