//! Relations that hold approximately, or between distributions and not between trials: each with a test, and a mutant that the
//! test finds.
//!
//! Distributions are compared by the statistic of Kolmogorov and Smirnov: the largest distance `D` between the two empirical
//! distribution functions of `n` completion times each. Two samples of one distribution exceed `sqrt(ln(2 / a) / n)` with a
//! probability of about `a` (Massey 1951; less for small samples and ties). Here `a` is one in a million for each test: with
//! 300 trials `D` stays below 0.22. Seeds are fixed, so that a test that passes goes on to pass until the engine draws or does
//! something else; then it fails by chance once in a million times.

mod mirrored;

use super::document::{duration, hops_mut, set_duration, tables_mut};
use crate::trial::ORIGIN;
use thalweg_sim::{Progress, Scenario, run_trials};
use toml::{Table, Value};

/// Trials on each side.
const TRIALS: u64 = 300;
/// Probability of a false alarm of one test.
const FALSE_ALARM: f64 = 1e-6;

/// When the first flow completed, in seconds from its start, in each of the trials.
fn completions(text: &str, seeds: impl IntoIterator<Item = u64>) -> Vec<f64> {
    completions_of(text, 0, seeds)
}

fn completions_of(text: &str, flow: usize, seeds: impl IntoIterator<Item = u64>) -> Vec<f64> {
    let scenario = Scenario::from_toml(text.as_bytes(), ORIGIN, &[], &[])
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let seeds: Vec<u64> = seeds.into_iter().collect();
    let trials = run_trials(&scenario, &seeds, 1, &Progress::default());
    let flows = trials.iter().map(|trial| &trial.outcome.flows[flow]);
    flows
        .map(|flow| {
            let completion = flow.completion.expect("it completes");
            (completion - flow.start.expect("it starts")).as_secs_f64()
        })
        .collect()
}

/// Largest distance between two empirical distribution functions.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let below = |sample: &[f64], x: f64| {
        sample.iter().filter(|value| **value <= x).count() as f64 / sample.len() as f64
    };
    let points = a.iter().chain(b);
    points
        .map(|x| (below(a, *x) - below(b, *x)).abs())
        .fold(0.0, f64::max)
}

/// What two samples of one distribution stay below.
fn bound() -> f64 {
    ((2.0 / FALSE_ALARM).ln() / TRIALS as f64).sqrt()
}

fn early() -> std::ops::RangeInclusive<u64> {
    1..=TRIALS
}
/// Other seeds than [`early`].
fn later() -> std::ops::RangeInclusive<u64> {
    TRIALS + 1..=2 * TRIALS
}

const LOSSY: &str = "loss = \"1 %\"\njitter = { model = \"wifi\", mean = \"4 ms\" }";

fn download(controller: &str, name: &str, path: &str, rest: &str) -> String {
    format!(
        "title = \"t\"\n[[flow]]\nname = \"{name}\"\ncontroller = \"{controller}\"\ndownload = \"150 kB\"\n{rest}\n\
         [path]\nrate = \"12 Mbps\"\nrtt = \"40 ms\"\n{path}\n"
    )
}

#[test]
fn the_distance_of_two_samples_is_that_of_their_distribution_functions() {
    assert!((distance(&[1.0, 2.0, 3.0, 4.0], &[3.0, 4.0, 5.0, 6.0]) - 0.5).abs() < 1e-12);
    assert_eq!(distance(&[1.0, 2.0], &[2.0, 1.0]), 0.0);
    assert!((bound() - 0.2199).abs() < 1e-4);
}

#[test]
fn names_that_seed_draws_leave_the_distribution_and_a_loss_of_three_percent_does_not() {
    let sample = |name: &str, path: &str| completions(&download("cubic", name, path, ""), early());
    let main = sample("main", LOSSY);
    let other = sample("other", LOSSY);
    assert_ne!(main, other, "names seed draws");
    // The draws of the path are the draws of the links, which keep their names: only starts and wake-ups differ.
    assert!(distance(&main, &other) < bound());
    let seeds = completions(&download("cubic", "main", LOSSY, ""), later());
    assert!(distance(&main, &seeds) < bound());
    let lossier = sample("main", &LOSSY.replace("1 %", "3 %"));
    assert!(distance(&main, &lossier) > bound());
}

#[test]
fn a_start_within_noise_leaves_the_distribution_and_noise_that_depends_on_time_does_not() {
    let noise = "noise = { rate_sd = \"4 Mbps\", delay_sd = \"2 ms\", every = \"10 ms\" }";
    let sample = |path: &str, start: &str, seeds| {
        completions(
            &download("cubic", "main", path, &format!("start = \"{start}\"")),
            seeds,
        )
    };
    let early = sample(noise, "0 s", early());
    assert!(distance(&early, &sample(noise, "7.3 s", later())) < bound());
    let slower = format!("{noise}\n[[path.change]]\nat = \"7 s\"\nrate = \"10 Mbps\"");
    assert!(distance(&early, &sample(&slower, "7.3 s", later())) > bound());
}

/// A hop of 400 Gbps takes 26 ns for a packet: no time, and yet not zero, so that no trial is the same.
#[test]
fn a_second_hop_of_no_delay_and_the_largest_rate_leaves_the_distribution_and_one_of_the_rate_does_not()
 {
    let chain = |second: Option<&str>| {
        let mut text =
            download("cubic", "main", LOSSY, "").replace("[path]", "[[link]]\nname = \"down\"");
        if let Some(rate) = second {
            let route = "download = \"150 kB\"\nroute = [\"down\", \"second\"]";
            text = text.replace("download = \"150 kB\"", route);
            text += &format!(
                "[[link]]\nname = \"second\"\nrate = \"{rate}\"\nrtt = \"0 s\"\nbuffer = \"unlimited\"\n"
            );
        }
        text
    };
    let one = completions(&chain(None), early());
    assert!(distance(&one, &completions(&chain(Some("400 Gbps")), later())) < bound());
    assert!(distance(&one, &completions(&chain(Some("3 Mbps")), later())) > bound());
    // Without loss it is the same trial but for these nanoseconds: ten packets fly, and a hundred round trips have two ends.
    let quiet = |text: String| {
        let text = text.replace(LOSSY, "buffer = \"unlimited\"");
        completions(
            &text.replace(
                "title = \"t\"",
                "title = \"t\"\nnoise = { start = \"0 s\", wakeup = \"0 s\" }",
            ),
            [1],
        )[0]
    };
    let (one, two) = (quiet(chain(None)), quiet(chain(Some("400 Gbps"))));
    assert!(one < two && two < one + 100e-6, "{one} and {two}");
}

/// Flows behind FQ-CoDel are hashed by their numbers, and of two that act in one nanosecond the first of the file is first.
#[test]
fn flows_in_another_order_behind_fq_codel_leave_the_distribution_and_longer_ones_do_not() {
    let text = |flows: [(&str, &str); 2]| {
        let flow = |(name, controller): (&str, &str)| {
            format!(
                "[[flow]]\nname = \"{name}\"\ncontroller = \"{controller}\"\ndownload = \"150 kB\"\n"
            )
        };
        format!(
            "title = \"t\"\n{}{}[path]\nrate = \"12 Mbps\"\nrtt = \"40 ms\"\n{LOSSY}\nqueue = {{ model = \"fq-codel\", flows = 2 }}\n",
            flow(flows[0]),
            flow(flows[1])
        )
    };
    let (a, b) = (("a", "reno"), ("b", "bbr"));
    let first = completions_of(&text([a, b]), 0, early());
    assert!(distance(&first, &completions_of(&text([b, a]), 1, later())) < bound());
    let longer = text([a, b]).replace("150 kB", "250 kB");
    assert!(distance(&first, &completions_of(&longer, 0, later())) > bound());
}

/// All times of a scenario `factor` times as long, and its rates `factor` times as low.
fn scaled(text: &str, factor: u64) -> String {
    let mut table: Table = toml::from_str(text).unwrap();
    let times = |table: &mut Table, keys: &[&str]| {
        for key in keys {
            if let Some(time) = duration(table, key) {
                set_duration(table, key, time * factor);
            }
        }
    };
    for hop in hops_mut(&mut table) {
        times(hop, &["rtt"]);
        let rate: thalweg_units::Rate = hop["rate"].as_str().unwrap().parse().unwrap();
        let slower = format!("{} bps", rate.as_bits_per_sec() / factor);
        hop.insert("rate".to_owned(), Value::String(slower));
    }
    for noise in tables_mut(&mut table, "noise") {
        times(noise, &["start", "wakeup"]);
    }
    for transport in tables_mut(&mut table, "transport") {
        times(transport, &["max_ack_delay"]);
    }
    toml::to_string(&table).unwrap()
}

/// Where nothing but the path has a time: `reno` with classic slow start (its window counts packets and losses), RTTs far
/// above the granularity of timers (RFC 9002: 1 ms), a `max_ack_delay` that grows along, and nothing that times out before
/// there is an RTT. CUBIC grows with the third power of time, and BBR and C4 have times of their own.
#[test]
fn time_scaled_scales_completions_of_reno_and_not_those_of_cubic() {
    let text = |controller: &str| {
        let head = "title = \"t\"\nnoise = { start = \"10 ms\", wakeup = \"0 s\" }\ntransport = { max_ack_delay = \"10 ms\", ack_frequency = false }";
        let path = "buffer = \"20 packets\"\nloss = \"0.3 %\"";
        download(controller, "main", path, "")
            .replace("title = \"t\"", head)
            .replace("150 kB", "1 MB")
    };
    let compare = |controller: &str| {
        let usual = completions(&text(controller), early());
        let slow = completions(&scaled(&text(controller), 4), later());
        let slow: Vec<f64> = slow.iter().map(|seconds| seconds / 4.0).collect();
        distance(&usual, &slow)
    };
    assert!(compare("reno:start=classic") < bound());
    assert!(compare("cubic:start=classic") > bound());
}

/// A delivery trace of one packet each millisecond delivers in the last microsecond of each, so that a packet waits for up to a
/// millisecond where a rate of 12 Mbps takes one for its transmission. A full link is as fast with either.
#[test]
fn a_constant_delivery_trace_in_place_of_a_rate_is_as_fast_within_its_resolution() {
    let text = |capacity: &str| {
        let quiet = "title = \"t\"\noverhead = \"0 B\"\nnoise = { start = \"0 s\", wakeup = \"0 s\" }\n\
                     transport = { initial_mtu = \"1500 B\", max_mtu = \"1500 B\", initial_window = \"150000 B\" }";
        download("reno:start=classic", "main", "buffer = \"unlimited\"", "")
            .replace("title = \"t\"", quiet)
            .replace("rate = \"12 Mbps\"", capacity)
            .replace("150 kB", "1.5 MB")
    };
    let of = |capacity: &str| completions(&text(capacity), [1])[0];
    let links = |capacity: &str| {
        let scenario = Scenario::from_toml(text(capacity).as_bytes(), ORIGIN, &[], &[]).unwrap();
        let mut trials = run_trials(&scenario, &[1], 1, &Progress::default());
        trials.remove(0).outcome.links
    };
    // As much of either is used, and packets wait as long, but for the millisecond that they take to be sent.
    for (rate, trace) in links("rate = \"12 Mbps\"")
        .iter()
        .zip(links("trace = \"ms: 1\""))
    {
        let [one, other] = [rate.utilisation, trace.utilisation];
        assert!((one - other).abs() < 0.01, "{one} and {other}");
        let [one, other] = [rate, &trace].map(|link| link.mean_queue_delay.as_secs_f64());
        assert!((one - other).abs() < 0.001, "{one} and {other}");
    }
    let (rate, trace) = (of("rate = \"12 Mbps\""), of("trace = \"ms: 1\""));
    // Two round trips before the link is full, each with two links whose opportunities come a millisecond late at most.
    assert!((trace - rate).abs() < 0.005, "{rate} and {trace}");
    assert!((of("trace = \"ms: 1 2 3 5\"") - rate).abs() > 0.1);
}
