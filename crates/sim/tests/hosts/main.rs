//! Hosts that read in batches, send in bundles and have timers that tick (`host` of a flow, `splits` of a path).

mod any_host;
#[path = "../audited/mod.rs"]
mod audited;
mod refusals;

use thalweg_path::Passage;
use thalweg_sim::{Outcome, Progress, Scenario, Watch, run_watched};
use thalweg_units::{Duration, Instant};

pub(crate) fn read(text: &str) -> Scenario {
    Scenario::from_toml(text.as_bytes(), "hosts.toml", &[], &[])
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A download over 20 Mbps and 40 ms with no noise; `path` and `flow` are further lines.
fn scenario(path: &str, flow: &str) -> Scenario {
    read(&format!(
        "title = \"hosts\"\ntime_limit = \"20 s\"\nnoise = {{ start = \"0 s\", wakeup = \"0 s\" }}\n\
         [path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\n{path}\n\
         [[flow]]\nname = \"main\"\ndownload = \"4 MB\"\n{flow}\n"
    ))
}

fn outcome(path: &str, flow: &str) -> Outcome {
    audited::run_trial(&scenario(path, flow), 1, false).0
}

/// What passed the link towards the client.
fn passages(path: &str, flow: &str) -> Vec<Passage> {
    let watch = Watch {
        from: Instant::START,
        most: usize::MAX,
    };
    let all = run_watched(&scenario(path, flow), 1, watch, &Progress::default()).unwrap();
    let down = all.1.rows.iter().filter(|row| row.link == 0);
    down.map(|row| row.passage).collect()
}

/// Lengths of the runs of packets that enter a link at one instant.
fn bursts(passages: &[Passage]) -> Vec<usize> {
    let bursts = passages.chunk_by(|a, b| a.entered == b.entered);
    bursts.map(<[Passage]>::len).collect()
}

/// All but what tells how the trial was computed.
fn shown(outcome: &Outcome) -> Outcome {
    Outcome {
        events: 0,
        ..outcome.clone()
    }
}

#[test]
fn a_table_without_a_model_differs_from_the_host_that_the_rules_have() {
    let path = "jitter = { model = \"wifi\", mean = \"7 ms\" }\n[transport]\nrules = \"picoquic\"";
    let [none, empty, named, ideal] = ["", "host = {}", "host = \"picoquic\"", "host = \"ideal\""]
        .map(|host| outcome(path, &format!("controller = \"cubic\"\n{host}")).trace_hash);
    assert_eq!([none, none], [empty, named]);
    assert_ne!(none, ideal);
}

#[test]
fn a_bundle_of_one_packet_is_no_bundle_and_a_link_that_splits_nothing_has_nothing_to_split() {
    for controller in ["cubic", "bbr", "c4", "reno"] {
        for path in [
            "",
            "splits = false",
            "buffer = \"20 packets\"\nsplits = false",
        ] {
            let flow = format!("controller = \"{controller}\"\n");
            let ideal = outcome("", &flow);
            let other = outcome(path, &format!("{flow}host = {{ bundle = \"1 packet\" }}"));
            match path {
                "" | "splits = false" => assert_eq!(ideal, other, "{controller} {path}"),
                _ => assert_eq!(
                    outcome("buffer = \"20 packets\"", &flow),
                    other,
                    "{controller}"
                ),
            }
        }
    }
}

#[test]
fn reading_all_at_once_changes_nothing_where_no_two_packets_arrive_at_once() {
    for controller in ["cubic", "bbr", "c4"] {
        for lines in [
            "",
            "host = { reads = \"0 s\" }",
            "host = { reads = \"all\" }",
        ] {
            let flow = format!("controller = \"{controller}\"\n");
            let found = outcome("loss = \"0.5 %\"", &(flow.clone() + lines));
            assert_eq!(
                outcome("loss = \"0.5 %\"", &flow),
                found,
                "{controller} {lines}"
            );
        }
    }
}

#[test]
fn a_host_that_reads_all_that_has_arrived_answers_once() {
    // Releases of 10 ms hold 10 ms x 20 Mbps = 25 kB, 17 packets: eight ACKs for each, or one.
    let path = "jitter = { model = \"bursts\", every = \"10 ms\" }";
    let acks = |host: &str| {
        let found = outcome(path, &format!("controller = \"cubic\"\nhost = {host}"));
        (found.links[1].delivered_packets, found.packets)
    };
    let (each, packets) = acks("\"ideal\"");
    let (all, more) = acks("\"picoquic\"");
    assert!(
        (0.4..0.55).contains(&(each as f64 / packets as f64)),
        "{each} of {packets}"
    );
    assert!(
        (0.05..0.11).contains(&(all as f64 / more as f64)),
        "{all} of {more}"
    );
}

#[test]
fn moderated_interrupts_add_their_time_at_both_ends() {
    let rtt = |reads: &str| {
        let flow = format!("controller = \"cubic\"\nhost = {{ reads = \"{reads}\" }}");
        outcome("", &flow).flows[0].min_rtt.unwrap()
    };
    // Both ends read the first packet of a batch 300 us after its arrival, and later ones sooner. The least sample may be
    // of another packet, whose transmission took 50 us more.
    let added = rtt("300 us") - rtt("each");
    let (least, most) = (Duration::from_micros(300), Duration::from_micros(650));
    assert!(added >= least && added <= most, "{added}");
}

#[test]
fn a_paced_sender_sends_whole_bundles_at_once_and_as_much_as_without() {
    let flow = "controller = \"cbr:rate=8Mbps\"\n";
    let alone = passages("", flow);
    let bundled = passages("", &format!("{flow}host = {{ bundle = \"7 packets\" }}"));
    let data = |all: &[Passage]| -> Vec<Passage> {
        let full = all.iter().filter(|passage| passage.size.as_u64() > 1400);
        full.copied().collect()
    };
    let (alone, bundled) = (bursts(&data(&alone)), bursts(&data(&bundled)));
    let most = |bursts: &[usize], length| {
        let so_long = bursts.iter().filter(|found| **found == length).count();
        so_long as f64 / bursts.len() as f64
    };
    assert!(most(&alone, 1) > 0.95, "{alone:?}");
    assert!(most(&bundled, 7) > 0.95, "{bundled:?}");
    // The first packets are smaller, and the last.
    let sum = |bursts: &[usize]| bursts.iter().sum::<usize>();
    assert!(sum(&alone).abs_diff(sum(&bundled)) < 10);
    // 7 x 1440 B at 1 MB/s take 10.08 ms, and both trials as long.
    let end = |host: &str| outcome("", &format!("{flow}{host}")).end.as_secs_f64();
    let ratio = end("host = { bundle = \"7 packets\" }") / end("");
    assert!((0.99..1.01).contains(&ratio), "{ratio}");
}

#[test]
fn the_size_of_a_bundle_follows_the_pacing_rate_as_on_linux() {
    let usual = |rate: &str| {
        let flow = format!("controller = \"cbr:rate={rate}\"\nhost = {{ bundle = \"auto\" }}");
        let text = format!(
            "title = \"hosts\"\ntime_limit = \"2 s\"\n[path]\nrate = \"1 Gbps\"\nrtt = \"40 ms\"\nsplits = false\n\
             [[flow]]\nname = \"main\"\ndownload = \"1 GB\"\nbackground = true\n{flow}\n"
        );
        let watch = Watch {
            from: Instant::START + Duration::from_millis(300),
            most: 20,
        };
        let all = run_watched(&read(&text), 1, watch, &Progress::default()).unwrap();
        let mut sizes: Vec<u64> = (all.1.rows.iter())
            .filter(|row| row.link == 0)
            .map(|row| row.passage.size.as_u64())
            .collect();
        sizes.sort_unstable();
        sizes[sizes.len() / 2] / 1468
    };
    // 100 Mbps / 8 / 1024 = 12 207 B, 8 packets of 1440 B; 500 Mbps: 61 035 B, 42; 5 Mbps: two at least.
    assert_eq!(
        [usual("100Mbps"), usual("500Mbps"), usual("5Mbps")],
        [8, 42, 2]
    );
}

#[test]
fn a_queue_that_does_not_split_counts_a_bundle_as_one_packet_and_drops_it_whole() {
    let flow = "controller = \"cubic\"\nhost = { bundle = \"7 packets\", pacing = false }";
    let whole = outcome("buffer = \"20 packets\"\nsplits = false", flow);
    let split = outcome("buffer = \"20 packets\"", flow);
    // Twenty bundles are 140 packets, four times what the 69 packets of a round trip need; twenty packets are not.
    assert!(
        whole.links[0].max_queue_packets >= 18,
        "{}",
        whole.links[0].max_queue_packets
    );
    assert!(whole.end < split.end, "{} {}", whole.end, split.end);
    let dropped = passages("buffer = \"20 packets\"\nsplits = false", flow);
    let (drops, lost) = (whole.flows[0].packets_dropped, whole.flows[0].packets_lost);
    assert!(
        drops > 0 && lost > 3 * drops && lost <= 7 * drops,
        "{drops} {lost}"
    );
    assert!(
        dropped
            .iter()
            .any(|passage| passage.size.as_u64() == 7 * 1468)
    );
    // Where packets are split, each is dropped by itself.
    assert_eq!(split.flows[0].packets_dropped, split.flows[0].packets_lost);
}

#[test]
fn a_link_behind_one_that_does_not_split_may_split() {
    let text = |first: bool, second: bool| {
        format!(
            "title = \"hosts\"\n[[link]]\nname = \"a\"\nrate = \"50 Mbps\"\nrtt = \"10 ms\"\nsplits = {first}\n\
             [[link]]\nname = \"b\"\nrate = \"20 Mbps\"\nrtt = \"30 ms\"\nsplits = {second}\n\
             [[flow]]\nname = \"main\"\ncontroller = \"cubic\"\ndownload = \"3 MB\"\nroute = [\"a\", \"b\"]\n\
             host = {{ model = \"linux\", bundle = \"5 packets\" }}\n"
        )
    };
    let packets = |first, second| {
        let found = audited::run_trial(&read(&text(first, second)), 1, false).0;
        let links = [&found.links[0], &found.links[2]];
        links.map(|link| link.delivered_packets as f64 / found.packets as f64)
    };
    // Up to five packets in one, and some fewer; b drops a few.
    let whole = 0.18..0.55;
    let [a, b] = packets(false, false);
    assert!(whole.contains(&a) && whole.contains(&b), "{a} {b}");
    let [a, b] = packets(false, true);
    assert!(whole.contains(&a) && b > 0.85, "{a} {b}");
    // What was split is not put together again.
    let [a, b] = packets(true, false);
    assert!(a > 0.95 && b > 0.85, "{a} {b}");
}

#[test]
fn timers_fire_at_multiples_of_their_granularity_after_the_start() {
    let flow = "start = \"3 ms\"\ncontroller = \"cbr:rate=8Mbps\"\nhost = { timer = \"4 ms\" }";
    let found = passages("", flow);
    let late: Vec<u64> = (found.iter())
        .filter(|passage| passage.size.as_u64() > 1400)
        .map(|passage| (passage.entered.as_nanos() - 3_000_000) % 4_000_000)
        .collect();
    let at_ticks = late.iter().filter(|rest| **rest == 0).count();
    // The others leave when an acknowledgement arrives.
    assert!(at_ticks * 2 > late.len(), "{at_ticks} of {}", late.len());
    assert!(bursts(&found).into_iter().max() >= Some(2));
}

#[test]
fn a_linux_host_does_not_pace_what_sets_no_rate_and_is_told_otherwise_by_keys() {
    let longest = |host: &str, transport: &str| {
        let flow = format!("controller = \"cubic\"\nhost = {host}\n[transport]\n{transport}");
        bursts(&passages("buffer = \"unlimited\"", &flow))
            .into_iter()
            .max()
    };
    // The initial window of ten packets leaves at once either way; later two packets for two acknowledged ones, or
    // what a bundle has.
    let unpaced = longest("\"linux\"", "");
    assert_eq!(
        unpaced,
        longest("{ pacing = false, bundle = \"auto\", reads = \"all\" }", "")
    );
    let paced = longest("{ model = \"linux\", pacing = true }", "");
    assert_eq!(paced, longest("\"linux\"", "pacing = true"));
    assert_ne!(
        outcome("", "controller = \"cubic\"\nhost = \"linux\"").trace_hash,
        outcome(
            "",
            "controller = \"cubic\"\nhost = { model = \"linux\", pacing = true }"
        )
        .trace_hash,
    );
}

/// Times at which the window of the sender changes after the first second.
fn changes_of_the_window(flow: &str) -> Vec<f64> {
    let (_, trace) = audited::run_trial(&scenario("buffer = \"3 bdp\"", flow), 1, true);
    let trace = trace.expect("a trace");
    let rows = trace.senders.samples.windows(2);
    (rows.filter(|pair| pair[0].window != pair[1].window))
        .map(|pair| pair[1].time.as_secs_f64())
        .filter(|time| (0.1..0.5).contains(time))
        .collect()
}

#[test]
fn a_datapath_that_reports_once_a_round_trip_has_the_window_jump_once_a_round_trip() {
    let flow = "controller = \"reno\"\n";
    let each = changes_of_the_window(flow);
    let jumps = changes_of_the_window(&format!("{flow}host = {{ reports = \"1 rtt\" }}"));
    // 0.4 s are ten round trips of 40 ms, and fewer where a queue has grown.
    assert!(each.len() > 100, "{}", each.len());
    assert!((5..=11).contains(&jumps.len()), "{jumps:?}");
    let apart = jumps.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(apart.into_iter().all(|apart| apart >= 0.0399), "{jumps:?}");
    let all = changes_of_the_window(&format!("{flow}host = {{ reports = \"each\" }}"));
    assert_eq!(each, all);
}

#[test]
fn a_loss_is_reported_at_once() {
    let flow = "controller = \"reno\"\nhost = { reports = \"10 s\" }";
    let (_, trace) = audited::run_trial(&scenario("loss = \"1 %\"", flow), 1, true);
    let trace = trace.expect("a trace");
    let lost = trace.senders.packets.iter().find_map(|(_, event)| {
        matches!(event.fate, thalweg_transport::PacketFate::Lost).then_some(event.time)
    });
    let lost = lost.expect("a loss");
    let mut rows = trace.senders.samples.iter();
    let window = rows
        .clone()
        .take_while(|row| row.time < lost)
        .last()
        .map(|row| row.window);
    let reduced = rows.find(|row| row.time >= lost && Some(row.window) != window);
    assert_eq!(reduced.map(|row| row.time), Some(lost));
}

#[test]
fn lateness_is_that_of_one_flow() {
    let host = "controller = \"bbr\"\nhost = { lateness = \"100 us\" }";
    let all = scenario("", "controller = \"bbr\"");
    let text = all
        .toml()
        .replace("wakeup = \"0 s\"", "wakeup = \"100 us\"");
    let both = audited::run_trial(&read(&text), 1, false).0;
    assert_eq!(shown(&outcome("", host)), shown(&both));
    assert_ne!(outcome("", host), outcome("", "controller = \"bbr\""));
}

/// BBRv1 has a window of one packet after timeouts, of 1252 bytes; the probe of the path MTU makes packets 1440 bytes. The
/// auditor refuses a window of less than a packet. In the second trial a packet that was late proves a loss spurious, which is
/// reported just before the acknowledgement.
#[test]
fn a_datapath_that_reports_tells_a_larger_path_mtu_at_once() {
    let lossy = "rate = \"100 kbps\"\nrtt = \"5 ms\"\nloss = \"40 %\"";
    let late = "rate = \"8 Mbps\"\nrtt = \"5 ms\"\njitter = { model = \"wifi\", mean = \"7 ms\" }";
    for (path, size, seed) in [(lossy, "5 kB", 984_092), (late, "100 kB", 450_218)] {
        let scenario = read(&format!(
            "title = \"t\"\ntime_limit = \"15 s\"\ntransport = {{ rules = \"picoquic\" }}\n[path]\n{path}\n\
             buffer = \"20 packets\"\n[[flow]]\nname = \"main\"\ncontroller = \"bbr1\"\nupload = \"{size}\"\n\
             host = {{ reports = \"10 ms\" }}\n"
        ));
        audited::run_trial(&scenario, seed, false);
    }
}
