//! Circuit breakers of flows, cross traffic and tunnels: when they trip, what they leave, and what is refused.

#[path = "audited/mod.rs"]
mod audited;

use thalweg_sim::{BreakerRule, FlowOutcome, Outcome, Scenario};
use thalweg_units::Duration;

const TRANSPORT: &str =
    "circuit_breaker = { model = \"transport\", loss = \"10 %\", interval = \"1 s\" }";

/// On 10 Mbps and 100 ms, with these lines of the path and these flows, for 60 s.
fn outcome(path: &str, flows: &str) -> Outcome {
    audited::run_trial(&scenario(path, flows), 1, false).0
}

fn scenario(path: &str, flows: &str) -> Scenario {
    let text = format!(
        "title = \"breakers\"\ntime_limit = \"60 s\"\n[noise]\nstart = \"0 s\"\n[path]\nrate = \"10 Mbps\"\nrtt = \"100 ms\"\nbuffer = \"1 bdp\"\n{path}\n{flows}"
    );
    let scenario = Scenario::from_toml(text.as_bytes(), "breakers.toml", &[], &[]);
    scenario.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A flow that has the name of its controller, without the settings.
fn flow(controller: &str, what: &str) -> String {
    let name = controller.split(':').next().expect("has one");
    format!("[[flow]]\nname = \"{name}\"\ncontroller = \"{controller}\"\n{what}\n")
}

/// When the breaker of a flow trips, in seconds, and by which rule.
fn tripped(flow: &FlowOutcome) -> Option<(f64, BreakerRule)> {
    flow.tripped.map(|(at, rule)| (at.as_secs_f64(), rule))
}

#[test]
fn an_unresponsive_flow_trips_in_its_third_interval_and_leaves_the_path_to_others() {
    let rest = flow(
        "cbr:rate=20Mbps",
        &format!("upload = \"1 GB\"\n{TRANSPORT}"),
    ) + &flow("cubic", "upload = \"20 MB\"");
    let outcome = outcome("", &rest);
    let [unresponsive, cubic] = [&outcome.flows[0], &outcome.flows[1]];
    // 20 Mbps on 10 Mbps lose half of it from the first second on.
    assert_eq!(tripped(unresponsive), Some((3.0, BreakerRule::Loss)));
    assert_eq!((unresponsive.completion, unresponsive.closed), (None, None));
    // 2.9 s after the handshake at 20 Mbps: 4939 packets of 1440 + 28 bytes, and more as long as every probe for that size
    // is lost; 5904 if they all were, of 1200 + 28 bytes.
    let sent = unresponsive.packets_sent;
    assert!((4_939..5_400).contains(&sent), "{sent}");
    assert_eq!(cubic.tripped, None);
    // Alone after three seconds: 20 MB at 10 Mbps take 17 s with headers.
    let completion = cubic.completion.expect("complete").as_secs_f64();
    assert!((19.0..26.0).contains(&completion), "{completion}");
}

#[test]
fn a_breaker_that_does_not_trip_leaves_the_trial_as_it_is() {
    for what in [
        "upload = \"5 MB\"",
        "download = \"5 MB\"",
        "call = \"10 s\"",
    ] {
        let plain = outcome("", &flow("cubic", what));
        let with = outcome("", &flow("cubic", &format!("{what}\n{TRANSPORT}")));
        assert!(with.flows[0].completion.is_some());
        assert_eq!(
            (plain.trace_hash, plain.flows),
            (with.trace_hash, with.flows),
            "{what}"
        );
    }
}

#[test]
fn a_path_that_dies_trips_by_loss_or_for_want_of_reports() {
    let path =
        "change = [{ at = \"10.25 s\", loss = \"100 %\" }, { at = \"59 s\", loss = \"0 %\" }]";
    let download = |controller: &str| {
        let keys = format!("download = \"1 GB\"\nbackground = true\n{TRANSPORT}");
        tripped(&outcome(path, &flow(controller, &keys)).flows[0])
    };
    // All of what an unresponsive sender sends after 10.25 s is lost: at least three quarters of the first interval.
    assert_eq!(download("cbr:rate=5Mbps"), Some((13.0, BreakerRule::Loss)));
    // A responsive one sends probes, at intervals that double: seconds in which it sends nothing end the row.
    assert_eq!(download("cubic"), None);
    let call = "call = \"50 s\"\ncircuit_breaker = { model = \"media\", interval = \"1 s\" }";
    let call = flow("cbr:rate=5Mbps", call);
    // Three quarters of the interval to 11 s are lost, a quarter of three: the call has more than ten times what TCP would have.
    let both = outcome(path, &call);
    assert_eq!(
        tripped(&both.flows[0]),
        Some((11.0, BreakerRule::Congestion))
    );
    // If nothing but the reports is lost, what was underway is acknowledged until 10.3 s; the intervals to 12, 13 and 14 s are
    // silent.
    let silent = outcome(
        "change = [{ at = \"10.25 s\", up_loss = \"100 %\" }, { at = \"59 s\", up_loss = \"0 %\" }]",
        &call,
    );
    assert_eq!(
        tripped(&silent.flows[0]),
        Some((14.0, BreakerRule::Timeout))
    );
    assert!((silent.end.as_secs_f64() - 14.0) < 6.0, "{}", silent.end);
}

#[test]
fn a_call_trips_where_it_sends_ten_times_what_tcp_would() {
    let call = |path: &str, keys: &str| {
        let keys = format!("call = \"50 s\"\ncircuit_breaker = {keys}");
        tripped(&outcome(path, &flow("cbr:rate=8Mbps", &keys)).flows[0])
    };
    // With 20 % of loss at 100 ms and 1000 bytes TCP has 8000 / (0.1 * sqrt(0.133)) = 219 kbps: a call of 3 Mbps and what it
    // repeats is above ten times that after four reports, and with 1 % (10 Mbps) it is not.
    let (at, rule) = call("loss = \"20 %\"", "\"media\"").expect("trips");
    assert!(rule == BreakerRule::Congestion && at == 20.0, "{at}");
    assert_eq!(call("loss = \"1 %\"", "\"media\""), None);
    let unusable = "{ model = \"media\", interval = \"1 s\", unusable = \"0.5 %\" }";
    let (_, rule) = call("loss = \"1 %\"", unusable).expect("trips");
    assert_eq!(rule, BreakerRule::Usability);
}

const TUNNEL: &str = "[[tunnel]]\nname = \"vpn\"\ncircuit_breaker = { model = \"transport\", loss = \"10 %\", interval = \"1 s\" }\n";

fn traffic(rate: &str, keys: &str) -> String {
    format!("[[traffic]]\nname = \"cross\"\nrate = \"{rate}\"\n{keys}\n")
}

/// Megabytes that the link to the client has sent of other things than a flow with so many bytes.
fn of_others(outcome: &Outcome, flow: usize) -> f64 {
    let all = outcome.links[0].utilisation * 10e6 / 8.0 * outcome.end.as_secs_f64();
    (all - outcome.flows[flow].bytes_delivered.as_u64() as f64) / 1e6
}

#[test]
fn a_source_that_overloads_its_path_is_silent_after_three_intervals() {
    let flows = flow("cubic", "download = \"10 MB\"");
    // 20 Mbps on 10 Mbps lose half: from 2 s on for three seconds, of which it gets nearly all of 10 Mbps, 3.75 MB.
    let broken = outcome(
        "",
        &(flows.clone() + &traffic("20 Mbps", &format!("start = \"2 s\"\n{TRANSPORT}"))),
    );
    let rest = of_others(&broken, 0);
    assert!((3.0..4.2).contains(&rest), "{rest}");
    assert!(broken.flows[0].completion.is_some());
    let never = outcome(
        "",
        &(flows.clone() + &traffic("20 Mbps", "start = \"2 s\"")),
    );
    assert_eq!(never.flows[0].completion, None);
    // At 5 Mbps it loses less than 10 %, and the breaker changes nothing.
    let calm = |keys: &str| outcome("", &(flows.clone() + &traffic("5 Mbps", keys)));
    let (with, without) = (calm(TRANSPORT), calm(""));
    assert_eq!(
        (with.trace_hash, with.flows),
        (without.trace_hash, without.flows)
    );
}

#[test]
fn the_breaker_of_a_tunnel_sums_up_what_is_in_it_and_ends_all_of_it() {
    // 6 and 8 Mbps on 10 Mbps: 29 % of both are lost. The flow outside goes on, and one inside that would start later does not.
    let inside = flow("cbr:rate=6Mbps", "download = \"1 GB\"\ntunnel = \"vpn\"");
    let late = flow(
        "reno",
        "download = \"1 MB\"\ntunnel = \"vpn\"\nstart = \"10 s\"",
    );
    let outside = flow("cubic", "download = \"20 MB\"");
    let cross = traffic("8 Mbps", "tunnel = \"vpn\"");
    let all = format!(
        "{inside}{late}{outside}{cross}{TUNNEL}[[pass]]\nflow = \"reno\"\nmetric = \"trips\"\nat_most = \"0\"\n[[pass]]\nflow = \"cubic\"\nmetric = \"completion\"\nat_most = \"60 s\"\n"
    );
    let outcome = outcome("", &all);
    let [inside, late, outside] = [0, 1, 2].map(|flow| &outcome.flows[flow]);
    assert_eq!(tripped(inside), Some((3.0, BreakerRule::Loss)));
    assert_eq!(tripped(late), Some((3.0, BreakerRule::Loss)));
    assert_eq!(
        (late.packets_sent, late.closed, late.completion),
        (0, None, None)
    );
    assert_eq!(tripped(outside), None);
    // A flow that never ran was never active with the others.
    assert_eq!(outcome.overlap, Duration::ZERO);
    // Alone after three seconds, as above.
    let completion = outside.completion.expect("complete").as_secs_f64();
    assert!((18.0..26.0).contains(&completion), "{completion}");
}

#[test]
fn scenarios_with_other_breakers_of_tunnels_are_other_scenarios() {
    let inside = flow("reno", "download = \"1 MB\"\ntunnel = \"vpn\"");
    let other = |from: &str, to: &str| {
        assert!(TUNNEL.contains(from), "{from}");
        scenario("", &(inside.clone() + &TUNNEL.replace(from, to))).resolved()
    };
    let same = other("vpn", "vpn");
    for (from, to) in [("10 %", "20 %"), ("1 s", "2 s")] {
        assert_ne!(same, other(from, to));
    }
}

#[test]
fn one_that_loses_much_beside_many_that_do_not_leaves_the_tunnel_open() {
    // The aggregate counts (RFC 8084 section 4): 1 Mbps over a lossy hop of 20 %, next to 8 Mbps that lose nothing: 2 %.
    let text = format!(
        "title = \"t\"\ntime_limit = \"20 s\"\n[noise]\nstart = \"0 s\"\n[[link]]\nname = \"a\"\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\n\
         [[link]]\nname = \"lossy\"\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nloss = \"20 %\"\n\
         [[flow]]\nname = \"one\"\ncontroller = \"cbr:rate=1Mbps\"\ndownload = \"1 GB\"\nbackground = true\nroute = [\"a\", \"lossy\"]\ntunnel = \"vpn\"\nBREAKER\
         [[flow]]\nname = \"many\"\ncontroller = \"cbr:rate=8Mbps\"\ndownload = \"1 GB\"\nbackground = true\nroute = [\"a\"]\ntunnel = \"vpn\"\n{TUNNEL}"
    );
    let play = |breaker: &str| {
        let text = text.replace("BREAKER", breaker);
        let scenario = Scenario::from_toml(text.as_bytes(), "t.toml", &[], &[]).expect("right");
        let outcome = audited::run_trial(&scenario, 1, false).0;
        [tripped(&outcome.flows[0]), tripped(&outcome.flows[1])]
    };
    assert_eq!(play(""), [None, None]);
    // By itself the one trips, and leaves the tunnel as it is.
    assert_eq!(
        play(&format!("{TRANSPORT}\n")),
        [Some((3.0, BreakerRule::Loss)), None]
    );
}

#[test]
fn a_breaker_that_makes_no_sense_is_refused_with_what_is_accepted() {
    let refusals = [
        "circuit_breaker = \"fuse\"",
        "circuit_breaker = \"transport\"",
        "circuit_breaker = \"media\"",
        "circuit_breaker = 3",
        "circuit_breaker = { model = \"transport\", loss = \"10 %\" }",
        "circuit_breaker = { model = \"transport\", loss = \"0 %\", interval = \"1 s\" }",
        "circuit_breaker = { model = \"transport\", loss = \"10 %\", interval = \"1 ms\" }",
        "circuit_breaker = { model = \"transport\", loss = \"10 %\", interval = \"1 s\", intervals = 0 }",
        "circuit_breaker = { model = \"transport\", loss = \"10 %\", interval = \"1 s\", unusable = \"1 %\" }",
        "[[pass]]\nflow = \"main\"\nmetric = \"trips\"\nat_most = \"0\"",
    ]
    .map(|lines| refusal(&format!("download = \"1 MB\"\n{lines}")));
    let of_others = [
        "requests = { count = 3, mean_gap = \"1 s\", least = \"1 kB\", most = \"9 kB\" }\ncircuit_breaker = { model = \"transport\", loss = \"10 %\", interval = \"1 s\" }",
        "call = \"5 s\"\ncircuit_breaker = { model = \"media\", unusable = \"0 %\" }",
        "call = \"5 s\"\n[[traffic]]\nname = \"cross\"\nrate = \"1 Mbps\"\ncircuit_breaker = \"media\"",
        "call = \"5 s\"\n[[traffic]]\nname = \"cross\"\nrate = \"1 Mbps\"\ncircuit_breaker = { model = \"transport\", loss = \"10 %\", interval = \"1 ms\" }",
        "call = \"5 s\"\n[[tunnel]]\nname = \"vpn\"",
        "call = \"5 s\"\n[[tunnel]]\nname = \"vpn\"\ncircuit_breaker = { model = \"transport\", loss = \"10 %\", interval = \"1 s\" }",
        "call = \"5 s\"\ntunnel = \"vpn\"\n[[tunnel]]\nname = \"vpn\"\ncircuit_breaker = \"media\"",
        "call = \"5 s\"\ntunnel = \"vpn\"\n[[tunnel]]\nname = \"vpn\"\ncircuit_breaker = { model = \"transport\", loss = \"0 %\", interval = \"1 s\" }\nrate = \"1 Mbps\"",
        "requests = { count = 3, mean_gap = \"1 s\", least = \"1 kB\", most = \"9 kB\" }\ntunnel = \"vpn\"\n[[tunnel]]\nname = \"vpn\"\ncircuit_breaker = { model = \"transport\", loss = \"10 %\", interval = \"1 s\" }",
    ]
    .map(refusal);
    insta::assert_snapshot!([&refusals[..], &of_others].concat().join("\n"), @r##"
    a.toml:9: `circuit_breaker = "fuse"`: unknown value "fuse"; accepted: "transport" or "media"
    a.toml:9: `circuit_breaker = "transport"`: "transport" requires "loss": circuit_breaker = { model = "transport", loss = "10 %", interval = "1 s" }
    a.toml:9: flow.0.circuit_breaker: model "media" requires a call or [[flow.media]]; use "transport" for other flows, traffic and tunnels
    a.toml:9: `circuit_breaker = 3`: 3 is a number; accepted: "transport", "media", or a table with one of these as its model
    a.toml:9: `circuit_breaker = { model = "transport", loss = "10 %" }`: the key "interval" is missing here; accepted: interval = "1 s"
    a.toml:9: flow.0.circuit_breaker: loss "0 %" trips without loss; accepted: "10 %", up to "100 %"
    a.toml:9: flow.0.circuit_breaker: interval "1 ms" is too short; accepted: "10 ms" or more
    a.toml:9: flow.0.circuit_breaker: intervals 0 is out of range; accepted: 1 to 1000 in a row
    a.toml:9: `circuit_breaker = { model = "transport", loss = "10 %", interval = "1 s", unusable = "1 %" }`: unknown key "unusable"; accepted: one of "loss", "interval", "intervals"
    a.toml:11: pass.0.metric: metric "trips" requires a circuit_breaker in this flow or its tunnel
    a.toml:9: flow.0.circuit_breaker: cannot be combined with requests, each of which is a connection of its own
    a.toml:9: flow.0.circuit_breaker: unusable "0 %" trips without loss; accepted: "10 %", up to "100 %"
    a.toml:12: traffic.0.circuit_breaker: model "media" requires a call or [[flow.media]]; use "transport" for other flows, traffic and tunnels
    a.toml:12: traffic.0.circuit_breaker: interval "1 ms" is too short; accepted: "10 ms" or more
    a.toml:9: `[[tunnel]]`: the key "circuit_breaker" is missing here; accepted: circuit_breaker = { model = "transport", interval = "1 s", loss = "10 %" }
    a.toml:10: tunnel.0.name: nothing is in the tunnel "vpn"; accepted: the name that a flow or traffic gives as its tunnel
    a.toml:12: tunnel.0.circuit_breaker: model "media" requires a call or [[flow.media]]; use "transport" for other flows, traffic and tunnels
    a.toml:13: `rate = "1 Mbps"`: unknown key "rate"; accepted: "name" or "circuit_breaker"
    a.toml:12: tunnel.0.circuit_breaker: cannot be combined with the requests of the flow "main" in this tunnel, each of which is a connection of its own
    "##);
}

fn refusal(lines: &str) -> String {
    let text = format!(
        "title = \"t\"\n[path]\nrate = \"1 Mbps\"\nrtt = \"40 ms\"\n[[flow]]\nname = \"main\"\ncontroller = \"c4\"\n{lines}\n"
    );
    let read = Scenario::from_toml(text.as_bytes(), "a.toml", &[], &[]);
    read.expect_err("refused").to_string()
}
