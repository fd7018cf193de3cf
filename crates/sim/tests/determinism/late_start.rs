//! A flow that starts late has the same trial, later: controllers, transport and stack count time from the start of their
//! connection (`now` of `Init`), never from the start of the trial.

use super::any_variant;
use thalweg_control::Registry;
use thalweg_sim::{Outcome, Scenario, Trace, run_trial};
use thalweg_units::{Duration, Instant};

/// Every controller, and each that differs by an option which has rules of its own for time or for the start.
fn controllers() -> Vec<String> {
    let registry = Registry::standard();
    let names = registry.entries().iter().map(|entry| entry.name.to_owned());
    let variants = [
        "bbr:variant=picoquic",
        "bbr1:variant=picoquic",
        "c4:variant=v1",
        "c4:variant=v2",
        "c4:variant=v3",
        "cubic:variant=picoquic",
        "cubic:variant=dcubic",
        "cubic:start=classic",
        "cubic:start=delay",
        "cubic:start=search",
        "cubic:start=rapid",
        "cubic:start=resume",
        "reno:variant=picoquic",
    ];
    names.chain(variants.map(str::to_owned)).collect()
}

/// One flow and what crosses its path, all of it `start` later than usual.
fn scenario(path: &str, flow: &str, start: Duration) -> Scenario {
    let text = format!(
        "title = \"t\"\ntime_limit = \"{} ms\"\n[noise]\nstart = \"0 ms\"\n[path]\n{path}\n\
         [[flow]]\nname = \"main\"\nstart = \"{} ms\"\n{flow}\n",
        (start + Duration::from_secs(60)).as_nanos() / 1_000_000,
        start.as_nanos() / 1_000_000,
    );
    any_variant::from_toml(text.as_bytes(), "late.toml", &[], &[])
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// All that a trial shows, `start` earlier.
fn earlier((mut outcome, trace): (Outcome, Option<Trace>), start: Duration) -> (Outcome, Trace) {
    let mut trace = trace.expect("a trace was asked for");
    let back = |time: &mut Instant| *time = Instant::START + (*time - (Instant::START + start));
    trace
        .senders
        .samples
        .iter_mut()
        .for_each(|row| back(&mut row.time));
    trace
        .senders
        .variables
        .iter_mut()
        .for_each(|row| back(&mut row.time));
    for (_, event) in &mut trace.senders.packets {
        back(&mut event.time);
    }
    trace.drops.iter_mut().for_each(|row| back(&mut row.time));
    trace.held.iter_mut().for_each(|row| back(&mut row.time));
    // Links are sampled from the start of the trial on; utilisation is of the whole trial, and the hash has the times.
    trace.links.clear();
    for link in &mut outcome.links {
        link.utilisation = 0.0;
    }
    outcome.trace_hash = None;
    outcome.end -= start;
    for flow in &mut outcome.flows {
        for time in [&mut flow.start, &mut flow.completion, &mut flow.closed] {
            *time = time.map(|time| time - start);
        }
        // From the first flow on, but out of the utilisation of the whole trial: equal but for the last digits.
        flow.utilisation = flow.utilisation.map(|share| (share * 1e6).round());
    }
    (outcome, trace)
}

fn compare(path: &str, flow: &str, seed: u64) {
    let at = |start| earlier(run_trial(&scenario(path, flow, start), seed, true), start);
    let (outcome, trace) = at(Duration::ZERO);
    assert!(outcome.flows[0].closed.is_some(), "{flow} does not end");
    for start in [7_300, 61_000].map(Duration::from_millis) {
        let (late_outcome, late_trace) = at(start);
        let first = |a: &Trace, b: &Trace| {
            let rows = a.senders.samples.iter().zip(&b.senders.samples);
            rows.clone()
                .find(|(a, b)| a != b)
                .map(|rows| format!("{rows:?}"))
        };
        assert!(
            late_trace == trace,
            "{flow} on {path} from {start} on: first of its samples to differ: {:?}",
            first(&trace, &late_trace)
        );
        assert_eq!(late_outcome, outcome, "{flow} on {path} from {start} on");
    }
}

const PATHS: [&str; 3] = [
    "rate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"1 bdp\"",
    "rate = \"100 Mbps\"\nrtt = \"100 us\"\nbuffer = \"100 packets\"",
    "rate = \"5 Mbps\"\nrtt = \"80 ms\"\nbuffer = \"2 bdp\"\nloss = \"1 %\"\njitter = { model = \"wifi\", mean = \"5 ms\" }",
];

#[test]
fn a_late_flow_of_the_model_has_the_trial_of_an_early_one() {
    for controller in controllers() {
        for path in PATHS {
            for work in [
                "download = \"15 kB\"",
                "download = \"3 MB\"",
                "upload = \"400 kB\"",
            ] {
                compare(path, &format!("controller = \"{controller}\"\n{work}"), 1);
            }
        }
    }
}

#[test]
fn a_late_flow_of_the_quic_stack_has_the_trial_of_an_early_one() {
    // noq:bbr3 draws random numbers that no seed determines.
    let theirs = ["noq:cubic", "noq:newreno"].map(str::to_owned);
    for controller in controllers().into_iter().chain(theirs) {
        for path in PATHS {
            let work = "stack = \"quic\"\ndownload = \"400 kB\"";
            compare(path, &format!("controller = \"{controller}\"\n{work}"), 1);
        }
    }
}
