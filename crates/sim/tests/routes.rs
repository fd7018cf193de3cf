//! Routes over several links, requests, background flows and series.

use audited::run_trial;
use thalweg_sim::{Outcome, Scenario};

mod audited;

fn scenario(text: &str) -> Scenario {
    let text = format!("title = \"routes\"\noverhead = \"0 B\"\n{text}");
    Scenario::from_toml(text.as_bytes(), "routes.toml", &[], &[]).expect("a right scenario")
}

fn outcome_of(text: &str) -> Outcome {
    run_trial(&scenario(text), 1, false).0
}

const QUIET: &str = "noise = { start = \"0 s\", wakeup = \"0 s\" }\n";
const DUMBBELL: &str = r#"
[[link]]
name = "near"
rate = "10 Gbps"
rtt = "10 ms"
buffer = "100 MB"
[[link]]
name = "far"
rate = "10 Gbps"
rtt = "70 ms"
buffer = "100 MB"
[[link]]
name = "bottleneck"
rate = "20 Mbps"
rtt = "10 ms"
buffer = "80 ms"
[[flow]]
name = "close"
controller = "cubic"
download = "5 MB"
route = ["near", "bottleneck"]
[[flow]]
name = "distant"
controller = "cubic"
download = "5 MB"
route = ["far", "bottleneck"]
"#;

#[test]
fn the_round_trip_of_a_route_is_the_sum_of_its_links() {
    let outcome = outcome_of(DUMBBELL);
    // 10 + 10 ms and 70 + 10 ms, plus 0.5 to 1 ms to transmit a packet and its ACK at 20 Mbps.
    for (flow, rtt_ms) in outcome.flows.iter().zip([20.0, 80.0]) {
        let min = flow.min_rtt.expect("samples").as_secs_f64() * 1e3;
        assert!((rtt_ms..rtt_ms + 1.5).contains(&min), "{min} ms");
    }
}

#[test]
fn only_the_shared_link_drops_and_waits() {
    let outcome = outcome_of(DUMBBELL);
    let link = |name: &str| {
        outcome
            .links
            .iter()
            .find(|link| link.name == name)
            .expect("a link")
    };
    assert!(link("bottleneck").dropped_packets > 0);
    assert_eq!(
        link("near").dropped_packets + link("far").dropped_packets,
        0
    );
    let wait_ms = |name: &str| link(name).mean_queue_delay.as_secs_f64() * 1e3;
    // The bottleneck holds 80 ms; at 10 Gbps a burst of two packets waits for a microsecond.
    assert!((5.0..80.0).contains(&wait_ms("bottleneck")));
    assert!(wait_ms("near").max(wait_ms("far")) < 0.1);
    // What crosses the access links crosses the bottleneck, but for the drops.
    let offered = link("near").delivered_packets + link("far").delivered_packets;
    let through = link("bottleneck").delivered_packets + link("bottleneck").dropped_packets;
    assert!(
        offered >= through && offered - through < 400,
        "{offered} {through}"
    );
}

#[test]
fn one_named_link_is_the_short_form_by_another_name() {
    let flow = "[[flow]]\nname = \"main\"\ncontroller = \"c4\"\ndownload = \"2 MB\"\n";
    let hop = "rate = \"20 Mbps\"\nrtt = \"80 ms\"\n";
    let short = outcome_of(&format!("{QUIET}[path]\n{hop}{flow}"));
    let named = outcome_of(&format!("{QUIET}[[link]]\nname = \"only\"\n{hop}{flow}"));
    assert_eq!(short.trace_hash, named.trace_hash);
    assert_eq!(short.flows, named.flows);
}

#[test]
fn a_flow_over_three_bottlenecks_gets_less_than_those_over_one() {
    let hop = |name: &str| {
        format!(
            "[[link]]\nname = \"{name}\"\nrate = \"10 Mbps\"\nrtt = \"20 ms\"\nbuffer = \"1 bdp\"\n"
        )
    };
    let flow = |name: &str, route: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\ncontroller = \"reno\"\ndownload = \"1 GB\"\nbackground = true\nroute = [{route}]\n"
        )
    };
    let text = String::from("time_limit = \"30 s\"\n")
        + &["a", "b", "c"].map(hop).concat()
        + &flow("long", "\"a\", \"b\", \"c\"")
        + &flow("over-a", "\"a\"")
        + &flow("over-b", "\"b\"")
        + &flow("over-c", "\"c\"");
    let outcome = outcome_of(&text);
    let rates: Vec<f64> = (outcome.flows.iter())
        .map(|flow| flow.mean_rate.as_bits_per_sec() as f64 / 1e6)
        .collect();
    assert_eq!(outcome.end.as_secs_f64(), 30.0);
    for one_hop in &rates[1..] {
        assert!(rates[0] < *one_hop, "{rates:?}");
        // Each bottleneck is shared by two flows, and stays busy.
        assert!((8.0..10.0).contains(&(rates[0] + one_hop)), "{rates:?}");
    }
}

#[test]
fn acknowledgements_that_wait_behind_an_upload_slow_a_download_down() {
    let path = "[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"100 ms\"\n[path.up]\nrate = \"1 Mbps\"\nbuffer = \"500 ms\"\n";
    let main = "[[flow]]\nname = \"main\"\ncontroller = \"cubic\"\ndownload = \"5 MB\"\n";
    let upload = "[[flow]]\nname = \"upload\"\ncontroller = \"cubic\"\nupload = \"1 GB\"\nbackground = true\n";
    let alone = outcome_of(&format!("{path}{main}"));
    let busy = outcome_of(&format!("{path}{main}{upload}"));
    let time = |outcome: &Outcome| outcome.flows[0].completion.expect("done").as_secs_f64();
    assert!(
        time(&busy) > 1.2 * time(&alone),
        "{} {}",
        time(&busy),
        time(&alone)
    );
}

#[test]
fn the_floor_of_a_route_is_that_of_its_tightest_link() {
    let flow = "[[flow]]\nname = \"main\"\ncontroller = \"c4\"\ndownload = \"2 MB\"\nroute = [\"a\", \"b\"]\n";
    let hops = "[[link]]\nname = \"a\"\nrate = \"100 Mbps\"\nrtt = \"20 ms\"\n[[link]]\nname = \"b\"\nrate = \"10 Mbps\"\nrtt = \"20 ms\"\n";
    let scenario = scenario(&format!("{hops}{flow}"));
    let floor = scenario.floor().expect("a floor").as_secs_f64();
    // 16 Mbit at 10 Mbps are 1.6 s, headers add 1 to 4 %; two round trips of 40 ms.
    assert!((1.68 + 0.016..1.68 + 0.064).contains(&floor), "{floor}");
    let outcome = run_trial(&scenario, 1, false).0;
    let time = outcome.flows[0].completion.expect("done").as_secs_f64();
    assert!((floor..1.25 * floor).contains(&time), "{time} {floor}");
}

const WEB: &str = "[path]\nrate = \"50 Mbps\"\nrtt = \"20 ms\"\nbuffer = \"1 bdp\"\n[[flow]]\nname = \"web\"\ncontroller = \"cubic\"\nrequests = { count = 40, mean_gap = \"200 ms\", p5 = \"65536 B\", p95 = \"2097152 B\" }\n";
const BULK: &str =
    "[[flow]]\nname = \"bulk\"\ncontroller = \"cubic\"\ndownload = \"1 GB\"\nbackground = true\n";

#[test]
fn requests_are_the_same_whoever_competes_and_take_longer_then() {
    let (alone, beside) = (outcome_of(WEB), outcome_of(&format!("{WEB}{BULK}")));
    assert_eq!(alone.requests.len(), 40);
    let mut slower = 0;
    for (undisturbed, disturbed) in alone.requests.iter().zip(&beside.requests) {
        assert_eq!(
            (undisturbed.start, undisturbed.bytes),
            (disturbed.start, disturbed.bytes)
        );
        let took = |r: &thalweg_sim::RequestOutcome| r.completion.expect("done") - r.start;
        slower += usize::from(took(disturbed) > took(undisturbed));
    }
    // Some meet the long flow just after it has yielded.
    assert!((30..=40).contains(&slower), "{slower} of 40");
    let moved: u64 = alone.requests.iter().map(|r| r.bytes.as_u64()).sum();
    assert_eq!(alone.flows[0].bytes_delivered.as_u64(), moved);
    assert_eq!(
        alone.flows[0].completion,
        alone.requests.iter().map(|r| r.completion).max().flatten()
    );
}

#[test]
fn a_request_that_does_not_finish_is_there_without_a_completion() {
    let outcome = outcome_of(&format!("time_limit = \"3 s\"\n{WEB}"));
    let finished = outcome.requests.iter().filter(|r| r.completion.is_some());
    let finished = finished.count();
    assert!((1..39).contains(&finished), "{finished}");
    assert_eq!(outcome.requests.len(), 40);
    assert_eq!(outcome.flows[0].completion, None);
    assert_eq!(outcome.end.as_secs_f64(), 3.0);
}

#[test]
fn series_add_up_to_what_the_links_counted() {
    let text = format!("sample = \"50 ms\"\n{WEB}{BULK}");
    let outcome = outcome_of(&text);
    let series = outcome.series.as_ref().expect("recorded");
    let down = &outcome.links[0];
    let received: u64 = series.flows.iter().flat_map(|flow| &flow.received).sum();
    let sent: u64 = series.flows.iter().flat_map(|flow| &flow.sent).sum();
    assert_eq!(received, down.delivered_bytes.as_u64());
    assert!(sent > received);
    let bins = (outcome.end.as_secs_f64() / 0.05).ceil() as usize;
    assert!(series.flows.iter().all(|flow| flow.received.len() == bins));
    // 50 Mbps for 50 ms are 312 500 bytes, and no bin has more than that but for one packet.
    assert!(series.capacity[0].iter().all(|bytes| *bytes == 312_500));
    let most = (0..bins).map(|bin| series.flows[0].received[bin] + series.flows[1].received[bin]);
    assert!(
        most.max()
            .is_some_and(|most| (300_000..=314_000).contains(&most))
    );
}
