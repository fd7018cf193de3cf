//! Flows of the real QUIC stack, alone and against modelled ones.

use audited::run_trial;
use thalweg_sim::{Outcome, Scenario};

mod audited;

fn outcome_of(toml: &str, seed: u64) -> Outcome {
    let scenario = Scenario::from_toml(toml.as_bytes(), "test.toml", &[], &[]);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    run_trial(&scenario, seed, false).0
}

fn path(extra: &str) -> String {
    format!(
        "title = \"test\"\noverhead = \"0 B\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"80 ms\"\nbuffer = \"1 bdp\"\n{extra}\n"
    )
}

fn flow(name: &str, stack: &str, rest: &str) -> String {
    format!("[[flow]]\nname = \"{name}\"\ncontroller = \"c4\"\nstack = \"{stack}\"\n{rest}\n")
}

#[test]
fn a_download_takes_as_long_as_on_the_modelled_endpoint() {
    let on = |stack| {
        outcome_of(
            &(path("") + &flow("main", stack, "download = \"10 MB\"")),
            1,
        )
    };
    let (model, quic) = (on("model"), on("quic"));
    let seconds = |outcome: &Outcome| {
        let completion = outcome.flows[0].completion.expect("it completes");
        completion.as_secs_f64()
    };
    let ratio = seconds(&quic) / seconds(&model);
    assert!((0.95..=1.05).contains(&ratio), "{ratio}");
    assert_eq!(quic.flows[0].bytes_delivered.as_u64(), 10_000_000);
}

#[test]
fn the_same_seed_has_the_same_packets_at_the_same_times() {
    let toml = path(
        "jitter = { model = \"wifi\", mean = \"7 ms\" }\nloss = { model = \"random\", rate = \"0.5 %\" }",
    ) + &flow("main", "quic", "download = \"2 MB\"");
    let first = outcome_of(&toml, 7);
    let again = outcome_of(&toml, 7);
    assert_eq!(first.trace_hash, again.trace_hash);
    assert_eq!(first.flows[0].completion, again.flows[0].completion);
    assert_ne!(first.trace_hash, outcome_of(&toml, 8).trace_hash);
}

#[test]
fn real_and_modelled_flows_share_a_bottleneck() {
    let toml = path("")
        + &flow("real", "quic", "download = \"10 MB\"")
        + &flow("modelled", "model", "download = \"10 MB\"");
    let outcome = outcome_of(&toml, 1);
    for flow in &outcome.flows {
        assert_eq!(flow.bytes_delivered.as_u64(), 10_000_000);
        // 20 MB at 20 Mbps: 8 s for both, 4 s for one alone.
        let seconds = flow.completion.expect("it completes").as_secs_f64();
        assert!((4.0..12.0).contains(&seconds), "{seconds}");
    }
    assert!(outcome.jain.is_some_and(|jain| (0.7..=1.0).contains(&jain)));
}

#[test]
fn an_upload_of_several_streams_arrives() {
    let toml = path("") + &flow("main", "quic", "upload = \"2 MB\"\nstreams = 5");
    let outcome = outcome_of(&toml, 1);
    assert_eq!(outcome.flows[0].bytes_delivered.as_u64(), 2_000_000);
    assert!(outcome.flows[0].completion.is_some() && outcome.flows[0].closed.is_some());
}

#[test]
fn a_call_has_its_frames_and_skips_groups_that_fall_behind() {
    // The first frame of 62.5 kB is late after 250 ms. It takes 242 ms here, and 252 with the C4 after draft -04.
    let call = flow("main", "quic", "call = \"5 s\"").replace("c4", "c4:variant=draft-04");
    let toml = path("") + &call;
    let outcome = outcome_of(&toml, 1);
    for media in &outcome.flows[0].media {
        assert_eq!((media.late, media.skipped), (0, 0), "{}", media.name);
        // The nominal time includes the way of the request: at least one RTT of 80 ms.
        let delay = media.mean_delay.expect("frames arrive").as_secs_f64();
        assert!((0.080..0.160).contains(&delay), "{}: {delay}", media.name);
    }
    // 3 Mbps of video do not fit 2 Mbps: the less compressed video is cancelled.
    let narrow = toml.replace("20 Mbps", "2 Mbps");
    let skipped = |outcome: &Outcome| -> u64 {
        outcome.flows[0]
            .media
            .iter()
            .map(|media| media.skipped)
            .sum()
    };
    let real = skipped(&outcome_of(&narrow, 1));
    let model = skipped(&outcome_of(&narrow.replace("\"quic\"", "\"model\""), 1));
    assert!(real > 0 && model > 0, "{real} and {model}");
}

/// The media have ended long before the handshake. The client closes then, and the stack's debug assertions hold.
#[test]
fn a_call_that_is_over_before_its_handshake_closes_after_it() {
    let media = |from: &str| {
        format!(
            "[[flow.media]]\nname = \"{from}\"\nfrom = \"{from}\"\ncarriage = \"datagrams\"\nframe = \"80 B\"\nper_second = 50\nduration = \"1 s\"\n"
        )
    };
    let path = path("loss = { model = \"random\", rate = \"30 %\" }")
        .replace("80 ms", "99 s")
        .replace("1 bdp", "2 packets");
    let toml = "time_limit = \"5000 s\"\n".to_owned()
        + &path
        + &flow("main", "quic", &(media("server") + &media("client")));
    for seed in 0..10 {
        let outcome = outcome_of(&toml, seed);
        // A handshake and the close exchange take two round trips at least.
        let closed = outcome.flows[0].closed.expect("it closes").as_secs_f64();
        assert!((198.0..5000.0).contains(&closed), "seed {seed}: {closed}");
    }
}

/// The stack's pacer asks for a wait of no time where the rate earns a byte in less than half a nanosecond. Each
/// packet needs a few events; before, one instant had millions of them, without an end.
#[test]
fn a_round_trip_below_a_microsecond_and_a_very_fast_link_let_time_pass() {
    for (rate, rtt, controller) in [
        ("10 Gbps", "10 ns", "bbr"),
        ("10 Gbps", "500 ns", "bbr"),
        ("400 Gbps", "100 ns", "bbr1"),
        ("400 Gbps", "1 ns", "c4"),
        ("400 Gbps", "10 us", "bbr"),
    ] {
        let toml = path("loss = { model = \"random\", rate = \"1 %\" }")
            .replace("20 Mbps", rate)
            .replace("80 ms", rtt)
            .replace("1 bdp", "200 packets")
            + &flow("main", "quic", "download = \"1 MB\"")
                .replace("\"c4\"", &format!("\"{controller}\""))
            + "[noise]\nwakeup = \"0 s\"\n";
        let outcome = outcome_of(&toml, 1);
        let case = format!("{rate} {rtt} {controller}");
        assert!(outcome.flows[0].completion.is_some(), "{case}");
        assert_eq!(
            outcome.flows[0].bytes_delivered.as_u64(),
            1_000_000,
            "{case}"
        );
        let (events, packets) = (outcome.events, outcome.packets);
        assert!(
            events < 20 * packets,
            "{case}: {events} for {packets} packets"
        );
    }
}

#[test]
fn zero_rtt_is_refused_with_one_message() {
    let toml = path("") + &flow("main", "quic", "download = \"1 MB\"\nzero_rtt = true");
    let error = Scenario::from_toml(toml.as_bytes(), "test.toml", &[], &[]);
    let error = error.expect_err("it is refused").to_string();
    assert!(
        error.contains("zero_rtt") && error.contains("stack = \"model\""),
        "{error}"
    );
}

#[test]
fn the_controllers_of_the_stack_steer_flows_of_the_stack() {
    for controller in ["noq:cubic", "noq:newreno", "noq:bbr3"] {
        let toml = "allow_unseeded = true\n".to_owned()
            + &path("")
            + &flow("main", "quic", "download = \"4 MB\"");
        let outcome = outcome_of(&toml.replace("\"c4\"", &format!("\"{controller}\"")), 1);
        // 4 MB at 20 Mbps: 1.6 s and a handshake of one round trip at least.
        let seconds = outcome.flows[0]
            .completion
            .expect("it completes")
            .as_secs_f64();
        assert!((1.7..3.2).contains(&seconds), "{controller}: {seconds}");
    }
}

/// 5 MB last 20 s: `noq:bbr3` draws when it begins to probe, 2 to 3 s after it has found the capacity.
#[test]
fn a_controller_of_the_stack_repeats_to_the_bit_or_must_be_allowed_not_to() {
    let toml = path("").replace("20 Mbps", "2 Mbps");
    let toml = toml + &flow("main", "quic", "download = \"5 MB\"");
    for controller in ["noq:cubic", "noq:newreno"] {
        let toml = toml.replace("\"c4\"", &format!("\"{controller}\""));
        assert_eq!(
            outcome_of(&toml, 1).trace_hash,
            outcome_of(&toml, 1).trace_hash
        );
    }
    let toml = toml.replace("\"c4\"", "\"noq:bbr3\"");
    let error = Scenario::from_toml(toml.as_bytes(), "test.toml", &[], &[]);
    let error = error.expect_err("it is refused").to_string();
    assert!(error.contains("test.toml:10: flow.0.controller"), "{error}");
    assert!(error.contains("--allow-unseeded"), "{error}");
    let toml = format!("allow_unseeded = true\n{toml}");
    assert_ne!(
        outcome_of(&toml, 1).trace_hash,
        outcome_of(&toml, 1).trace_hash
    );
}

#[test]
fn the_controllers_of_the_stack_steer_no_modelled_flow() {
    for (name, stack, wanted) in [
        ("noq:cubic", "model", "--stack quic"),
        ("noq:vegas", "quic", "noq:cubic, noq:newreno, noq:bbr3"),
    ] {
        let toml = path("") + &flow("main", stack, "download = \"1 MB\"");
        let toml = toml.replace("\"c4\"", &format!("\"{name}\""));
        let error = Scenario::from_toml(toml.as_bytes(), "test.toml", &[], &[]);
        let error = error.expect_err("it is refused").to_string();
        assert!(
            error.contains("flow.0.controller") && error.contains(wanted),
            "{error}"
        );
    }
}

#[test]
fn a_flow_outlasts_an_outage_of_which_its_round_trip_is_a_tiny_part() {
    let toml = "title = \"test\"\ntime_limit = \"2 h\"\n[path]\nrate = \"1 Gbps\"\nrtt = \"20 us\"\nbuffer = \"100 kB\"\n\
        [[path.change]]\nat = \"0.2 s\"\nrate = \"0 bps\"\n[[path.change]]\nat = \"3000 s\"\nrate = \"1 Gbps\"\n";
    let toml =
        toml.to_owned() + &flow("main", "quic", "download = \"50 MB\"").replace("c4", "cubic");
    let completion = outcome_of(&toml, 1).flows[0].completion;
    // Probes are two seconds further apart each time: 110 s after 3000 s, since 2 + 4 + ... + 110 = 3080. What the first
    // does not repair, the next does.
    let seconds = completion.expect("it completes").as_secs_f64();
    assert!((3_000.0..3_225.0).contains(&seconds), "{seconds}");
}

/// RFC 9002 section 7.7: pacing is the transport's where the controller sets no rate. BBR's rate is its own.
#[test]
fn without_pacing_only_a_controller_with_a_rate_is_paced_on_either_stack() {
    for stack in ["model", "quic"] {
        let outcome = |controller: &str, pacing: bool| {
            let flow = flow("main", stack, "download = \"2 MB\"").replace("c4", controller);
            outcome_of(
                &format!("{}[transport]\npacing = {pacing}\n{flow}", path("")),
                1,
            )
        };
        for controller in ["cubic", "reno"] {
            let (paced, burst) = (outcome(controller, true), outcome(controller, false));
            assert_ne!(paced.trace_hash, burst.trace_hash, "{stack} {controller}");
            assert_eq!(burst.flows[0].bytes_delivered.as_u64(), 2_000_000);
        }
        // C4 has no rate before its first sample.
        for controller in ["bbr", "bbr1"] {
            let (paced, same) = (outcome(controller, true), outcome(controller, false));
            assert_eq!(paced.trace_hash, same.trace_hash, "{stack} {controller}");
        }
    }
}
