//! Rounds of requests: pages, incast, and short flows with idle times between them.

use super::audited;
use std::collections::BTreeSet;
use thalweg_sim::{Outcome, RequestOutcome, Scenario};

/// A flow of requests on 20 Mbps and 40 ms, under the auditor.
fn requests(keys: &str, limit: &str) -> Outcome {
    let text = format!(
        "title = \"rounds\"\ntime_limit = \"{limit}\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"100 ms\"\n\
         [[flow]]\nname = \"web\"\ncontroller = \"cubic\"\nrequests = {{ {keys} }}\n"
    );
    let scenario = Scenario::from_toml(text.as_bytes(), "rounds.toml", &[], &[]);
    audited::run_trial(&scenario.expect("a right scenario"), 1, false).0
}

fn seconds(requests: &[RequestOutcome]) -> Vec<(f64, f64)> {
    let times = requests.iter().map(|request| {
        let end = request.completion.expect("complete").as_secs_f64();
        (request.start.as_secs_f64(), end)
    });
    times.collect()
}

#[test]
fn short_flows_start_again_an_idle_time_after_their_end() {
    // RFC 8868 section 5.1: thirty connections of 30 to 50 KB, and idle times with a mean of 10 s.
    let keys = "count = 20, users = 30, least = \"30 kB\", most = \"50 kB\", mean_idle = \"10 s\"";
    let outcome = requests(keys, "600 s");
    assert_eq!(outcome.requests.len(), 600);
    let times = seconds(&outcome.requests);
    let mut idle = Vec::new();
    for user in times.chunks(20) {
        assert!((user[0].0 - times[0].0).abs() < 1e-9, "all start at once");
        idle.extend(user.windows(2).map(|two| two[1].0 - two[0].1));
    }
    assert!(idle.iter().all(|time| *time >= 0.0));
    // 570 exponential times of 10 s: a standard error of 0.42 s.
    let mean = idle.iter().sum::<f64>() / idle.len() as f64;
    assert!((8.7..11.3).contains(&mean), "{mean}");
    let lengths: Vec<u64> = outcome.requests.iter().map(|r| r.bytes.as_u64()).collect();
    assert!(
        lengths
            .iter()
            .all(|bytes| (30_000..=50_000).contains(bytes))
    );
    let mean = lengths.iter().sum::<u64>() as f64 / 600.0;
    // Uniform: a standard error of 5774 / sqrt(600) = 236.
    assert!((39_300.0..40_700.0).contains(&mean), "{mean}");
}

#[test]
fn flows_that_start_idle_wait_first_and_a_round_that_was_not_reached_has_no_row() {
    let keys = "count = 9, users = 8, least = \"30 kB\", most = \"50 kB\", mean_idle = \"10 s\", idle_first = true";
    let outcome = requests(keys, "20 s");
    let starts: BTreeSet<u64> = outcome
        .requests
        .iter()
        .map(|r| r.start.as_micros())
        .collect();
    assert_eq!(
        starts.len(),
        outcome.requests.len(),
        "none starts with another"
    );
    assert!((8..40).contains(&outcome.requests.len()));
    assert_eq!(outcome.flows[0].completion, None);
}

#[test]
fn incast_has_all_servers_answer_at_once_and_the_next_round_after_the_last() {
    let keys = "count = 5, parallel = 40, least = \"20 kB\", most = \"20 kB\", mean_idle = \"0 s\"";
    let outcome = requests(keys, "60 s");
    let times = seconds(&outcome.requests);
    for rounds in times.chunks(40).collect::<Vec<_>>().windows(2) {
        let end = rounds[0].iter().map(|time| time.1).fold(0.0, f64::max);
        assert!(rounds[1].iter().all(|time| (time.0 - end).abs() < 1e-9));
    }
    // 40 first windows of 20 kB in 250 kB of buffer.
    assert!(outcome.flows[0].packets_dropped > 100);
    assert_eq!(outcome.flows[0].bytes_delivered.as_u64(), 5 * 40 * 20_000);
}

#[test]
fn a_page_is_objects_over_parallel_connections() {
    // RFC 7928 section 7: 50 objects or more, of 1 KB or more, over six connections.
    let page = |objects: u32, parallel: u32| {
        let keys = format!(
            "count = 3, parallel = {parallel}, objects = {objects}, least = \"10 kB\", most = \"10 kB\", mean_gap = \"5 s\", gap = \"constant\""
        );
        let outcome = requests(&keys, "60 s");
        assert_eq!(outcome.requests.len(), 3 * parallel as usize);
        let bytes = u64::from(objects) * 10_000;
        assert!(outcome.requests.iter().all(|r| r.bytes.as_u64() == bytes));
        let times = seconds(&outcome.requests);
        times[0].1 - times[0].0
    };
    // A handshake, half a round trip for the request, and a round trip for each object; ten packets of 10 kB are one window.
    let alone = page(9, 1);
    assert!((0.40..0.50).contains(&alone), "{alone}");
    // 54 objects are 540 kB: 0.22 s of the link, between the round trips.
    let six = page(9, 6);
    assert!((alone..2.0 * alone).contains(&six), "{six} {alone}");
    // As many on one connection: 54 round trips of 40 ms and 4 ms for the data of each, and a handshake.
    let one = page(54, 1);
    assert!((2.38..2.5).contains(&one), "{one}");
}
