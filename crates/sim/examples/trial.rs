//! Runs trials of a scenario file and prints their cost: `trial FILE [N] [FLOW=CONTROLLER] [--trace]`.
use std::time::Instant;
use thalweg_sim::{Clock, Progress, Scenario, run_traced, run_trial, run_trials};

fn main() {
    let mut args = std::env::args().skip(1);
    let file = args.next().expect("a scenario file");
    let n: u64 = args.next().map_or(1, |n| n.parse().expect("a number"));
    let args: Vec<String> = args.collect();
    let traced = args.iter().any(|word| word == "--trace");
    let controllers: Vec<(String, String)> = args
        .iter()
        .filter_map(|a| a.split_once('=').map(|(f, c)| (f.to_owned(), c.to_owned())))
        .collect();
    let text = std::fs::read(&file).expect("readable");
    let registry = thalweg_c4_history::registry();
    let read = Scenario::read(&text, &file, &[], &controllers, Clock::Virtual, &registry);
    let scenario = read.unwrap_or_else(|e| {
        eprintln!("{e}");
        std::process::exit(2)
    });
    let seeds: Vec<u64> = (1..=n).collect();
    let begin = Instant::now();
    let progress = Progress::default();
    let outcomes = match traced {
        false => run_trials(&scenario, &seeds, 1, &progress),
        true => {
            let trials = seeds.iter();
            trials
                .filter_map(|seed| Some(run_traced(&scenario, *seed, &progress)?.0))
                .collect()
        }
    };
    let took = begin.elapsed();
    let mut times: Vec<f64> = outcomes
        .iter()
        .map(|trial| {
            trial.outcome.flows[0]
                .completion
                .map_or(f64::INFINITY, |t| t.as_secs_f64())
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let q = |p: f64| times[((times.len() - 1) as f64 * p) as usize];
    let packets: u64 = outcomes.iter().map(|trial| trial.outcome.packets).sum();
    let events: u64 = outcomes.iter().map(|trial| trial.outcome.events).sum();
    println!("{:.2} events a packet", events as f64 / packets as f64);
    println!(
        "{file}: floor {:?} min {:.4} p5 {:.4} median {:.4} p95 {:.4} max {:.4}; {:.2} ms a trial, {:.2} M packets/s",
        scenario.floor().map(|f| f.as_secs_f64()),
        q(0.0),
        q(0.05),
        q(0.5),
        q(0.95),
        q(1.0),
        took.as_secs_f64() * 1e3 / n as f64,
        packets as f64 / took.as_secs_f64() / 1e6
    );
    if std::env::var("TRACE").is_ok() {
        let (outcome, trace) = run_trial(&scenario, 1, true);
        println!("{:#?}", outcome.flows);
        let mut state = "";
        for row in trace
            .unwrap()
            .senders
            .samples
            .iter()
            .filter(|r| r.flow == 0)
        {
            if row.state != state || std::env::var("ALL").is_ok() {
                state = row.state;
                println!(
                    "{:.6} {:9} window {:7} in flight {:7} srtt {:?} pacing {:?} rate {} {}",
                    row.time.as_secs_f64(),
                    state,
                    row.window.as_u64(),
                    row.in_flight.map_or(0, |bytes| bytes.as_u64()),
                    row.smoothed_rtt.map(|t| t.as_micros()),
                    row.pacing.map(|p| p.as_bytes_per_sec()),
                    row.delivery_rate.as_bytes_per_sec(),
                    row.event
                );
            }
        }
    }
}
