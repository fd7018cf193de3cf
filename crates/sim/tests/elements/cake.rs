//! CAKE under real flows: the realised rate of its shaper, what is neutral, the filter of ACKs, and what is refused.

use super::audited::run_trial;
use thalweg_sim::{Outcome, Scenario};

/// These lines of the path and these flows, under the auditor.
fn outcome(path: &str, flows: &str) -> Outcome {
    let text = format!(
        "title = \"cake\"\noverhead = \"0 B\"\ntime_limit = \"20 s\"\n[path]\nrtt = \"40 ms\"\nbuffer = \"500 ms\"\n{path}\n{flows}"
    );
    let scenario = Scenario::from_toml(text.as_bytes(), "cake.toml", &[], &[]);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{text}"));
    run_trial(&scenario, 1, false).0
}

fn flow(name: &str, controller: &str, what: &str) -> String {
    format!(
        "[[flow]]\nname = \"{name}\"\ncontroller = \"{controller}\"\nbackground = true\n{what}\n"
    )
}

fn queue(keys: &str) -> String {
    format!("queue = {{ model = \"cake\"{keys} }}")
}

#[test]
fn the_realised_rate_is_the_requested_one_whatever_the_link_has_beyond() {
    for bandwidth in [3, 20, 33] {
        let keys = format!(", bandwidth = \"{bandwidth} Mbps\"");
        let path = format!("rate = \"100 Mbps\"\n{}", queue(&keys));
        let cross = "[[traffic]]\nname = \"cross\"\nrate = \"50 Mbps\"\n";
        let main = flow("main", "cubic", "download = \"1 GB\"");
        let outcome = outcome(&path, &(main + cross));
        // Nobody responds, so that the shaper is busy from the first packet on; of the link it uses so many percent.
        let realised = outcome.links[0].utilisation * 100.0 / f64::from(bandwidth);
        assert!(
            (0.9995..=1.0001).contains(&realised),
            "{bandwidth} {realised}"
        );
    }
}

#[test]
fn a_shaper_leaves_room_for_the_frames_of_its_link() {
    // 1000 B cost 38 more on Ethernet, 22 cells of 53 with 40 more on ADSL, and 30 more and a byte for each 64 on VDSL2.
    for (keys, cost) in [
        (", overhead = \"38 B\", mpu = \"84 B\"", 1038.0),
        (", overhead = \"40 B\", framing = \"atm\"", 1166.0),
        (", overhead = \"30 B\", framing = \"ptm\"", 1047.0),
        (", mpu = \"256 B\"", 1000.0),
    ] {
        let keys = format!(", bandwidth = \"20 Mbps\"{keys}");
        let path = format!("rate = \"100 Mbps\"\n{}", queue(&keys));
        let cross = "[[traffic]]\nname = \"cross\"\nrate = \"50 Mbps\"\npacket = \"1000 B\"\n";
        let main = flow("main", "cubic", "download = \"1 GB\"\nstart = \"19999 ms\"");
        let outcome = outcome(&path, &(main + cross));
        let realised = outcome.links[0].utilisation * 100.0 / (20.0 * 1000.0 / cost);
        assert!((0.9985..=1.0011).contains(&realised), "{keys} {realised}");
    }
}

#[test]
fn the_queue_delay_of_a_trace_is_the_wait_behind_the_shaper() {
    let path = format!("rate = \"1 Gbps\"\n{}", queue(", bandwidth = \"5 Mbps\""));
    let main = flow("main", "cubic", "download = \"1 GB\"");
    let text = format!(
        "title = \"cake\"\ntime_limit = \"20 s\"\n[path]\nrtt = \"40 ms\"\nbuffer = \"500 ms\"\n{path}\n{main}"
    );
    let scenario = Scenario::from_toml(text.as_bytes(), "cake.toml", &[], &[]).unwrap();
    let (outcome, trace) = run_trial(&scenario, 1, true);
    let waited = outcome.links[0].mean_queue_delay.as_secs_f64();
    let trace = trace.expect("a trace");
    let told = (trace.links.iter())
        .filter(|row| row.link == 0)
        .map(|row| row.queue_delay);
    let (sum, rows) = told.fold((0.0, 0.0), |(sum, rows), delay| {
        (sum + delay.as_secs_f64(), rows + 1.0)
    });
    // Packets wait when the queue is longer than on average, so the two are alike and not equal.
    let ratio = sum / rows / waited;
    assert!((0.7..1.3).contains(&ratio), "{ratio}");
}

#[test]
fn many_flows_share_sets_of_queues_under_the_auditor() {
    // A flow whose set is full gets another queue, and its packets may overtake each other (`cake_hash`).
    let long: String = (0..20)
        .map(|number| flow(&format!("f{number}"), "cubic", "download = \"1 GB\""))
        .collect();
    let short = flow(
        "short",
        "cubic",
        "requests = { count = 600, mean_gap = \"20 ms\", least = \"3 kB\", most = \"30 kB\" }",
    );
    let all = outcome(
        &format!("rate = \"20 Mbps\"\n{}", queue("")),
        &(long + &short),
    );
    assert!(all.links[0].utilisation > 0.9);
}

#[test]
fn a_shaper_at_the_rate_of_the_link_or_above_changes_nothing() {
    // At 100 Mbps the quantum is 1514 bytes and the target 5 ms, as without a bandwidth.
    let hash = |keys: &str| {
        let path = format!("rate = \"100 Mbps\"\nloss = \"0.1 %\"\n{}", queue(keys));
        let flows = flow("a", "cubic", "download = \"1 GB\"")
            + &flow("b", "reno", "download = \"1 GB\"")
            + &flow("c", "bbr", "upload = \"1 GB\"");
        outcome(&path, &flows).trace_hash
    };
    let plain = hash("");
    assert_eq!(plain, hash(", bandwidth = \"100 Mbps\""));
    assert_eq!(
        plain,
        hash(", bandwidth = \"500 Mbps\", rtt = \"internet\"")
    );
    assert_ne!(plain, hash(", bandwidth = \"99 Mbps\""));
    assert_ne!(plain, hash(", rtt = \"metro\""));
}

#[test]
fn a_shaper_takes_the_queue_from_the_link_behind_it() {
    // CAKE at 18 of 20 Mbps before a link with a deep buffer: what waits does so under COBALT.
    let links = |queue: &str| {
        format!(
            "title = \"cake\"\ntime_limit = \"20 s\"\n[[link]]\nname = \"home\"\nrate = \"100 Mbps\"\nrtt = \"2 ms\"\nbuffer = \"500 ms\"\n{queue}\n\
             [[link]]\nname = \"access\"\nrate = \"20 Mbps\"\nrtt = \"38 ms\"\nbuffer = \"500 ms\"\n\
             [[flow]]\nname = \"main\"\ncontroller = \"cubic\"\nupload = \"1 GB\"\nbackground = true\nroute = [\"access\", \"home\"]\n"
        )
    };
    let delays = |queue: &str| {
        let read = Scenario::from_toml(links(queue).as_bytes(), "cake.toml", &[], &[]);
        let outcome = run_trial(&read.expect("a right scenario"), 1, false).0;
        let link = |name: &str| {
            let link = outcome.links.iter().find(|link| link.name == name);
            link.expect("there").mean_queue_delay.as_secs_f64() * 1e3
        };
        (link("home up"), link("access up"))
    };
    let (home, access) = delays(&queue(", bandwidth = \"18 Mbps\""));
    assert!(
        (1.0..12.0).contains(&home) && access < 0.2,
        "{home} {access}"
    );
    let (home, access) = delays("");
    assert!(home < 1.0 && access > 50.0, "{home} {access}");
}

#[test]
fn flows_share_evenly_and_one_that_does_not_respond_harms_itself() {
    let path = format!("rate = \"20 Mbps\"\n{}", queue(""));
    let even = ["a", "b", "c"].map(|name| flow(name, "cubic", "download = \"1 GB\""));
    let shares = |flows: &str| -> Vec<f64> {
        let outcome = outcome(&path, flows);
        let shares = outcome.flows.iter();
        shares
            .map(|flow| flow.bytes_delivered.as_u64() as f64 * 8.0 / 20.0 / 20e6)
            .collect()
    };
    for share in shares(&even.concat()) {
        assert!((0.30..0.34).contains(&share), "{share}");
    }
    // Half each, and the half of the one that sends 30 Mbps costs it 2/3 of what it sends.
    let greedy = flow("a", "cubic", "download = \"1 GB\"")
        + &flow("greedy", "cbr:rate=30Mbps", "download = \"1 GB\"");
    let shares = shares(&greedy);
    assert!((0.43..0.52).contains(&shares[0]), "{shares:?}");
}

#[test]
fn a_filter_of_acks_lifts_a_download_whose_acks_are_the_bottleneck() {
    // An ACK for two packets of 1440 bytes takes 55 bytes of 100 kbps: 5.2 Mbps, less what is lost of 50 Mbps otherwise.
    let run = |keys: &str, stack: &str| {
        let path = format!(
            "rate = \"50 Mbps\"\nup = {{ rate = \"100 kbps\", queue = {{ model = \"cake\"{keys} }} }}"
        );
        let download = format!("download = \"1 GB\"\n{stack}");
        let outcome = outcome(&path, &flow("main", "cubic", &download));
        (
            outcome.flows[0].bytes_delivered.as_u64() as f64 * 8.0 / 20.0 / 1e6,
            outcome.links[1].dropped_packets,
        )
    };
    let (plain, _) = run("", "");
    let (filtered, dropped) = run(", ack_filter = \"conservative\"", "");
    let (aggressive, more) = run(", ack_filter = \"aggressive\"", "");
    assert!(filtered > plain * 1.1, "{plain} {filtered}");
    assert!(aggressive > plain * 1.1, "{plain} {aggressive}");
    assert!(dropped > 100 && more > 100, "{dropped} {more}");
    // The ACKs of the real stack are encrypted: the same trial.
    assert_eq!(
        run("", "stack = \"quic\""),
        run(", ack_filter = \"aggressive\"", "stack = \"quic\"")
    );
}

#[test]
fn what_cake_cannot_do_is_refused_with_what_is_accepted() {
    let refusal = |lines: &str| {
        let text = format!(
            "title = \"t\"\n[path]\nrate = \"1 Mbps\"\nrtt = \"40 ms\"\n{lines}\n[[flow]]\nname = \"main\"\ncontroller = \"c4\"\ndownload = \"1 MB\"\ntunnel = \"vpn\"\n"
        );
        let read = Scenario::from_toml(text.as_bytes(), "a.toml", &[], &[]);
        read.expect_err("refused").to_string()
    };
    let refusals = [
        queue(", bandwidth = \"0 bps\""),
        queue(", bandwidth = 3"),
        queue(", rtt = \"internett\""),
        queue(", rtt = 100"),
        queue(", rtt = \"1 us\""),
        queue(", ack_filter = true"),
        queue(", ack_filter = \"none\""),
        queue(", diffserv = \"diffserv4\""),
        queue(", ack_filter = \"aggressive\""),
        format!(
            "{}\nmedium = \"half-duplex\"",
            queue(", bandwidth = \"500 kbps\"")
        ),
        "[[path.change]]\nat = \"1 s\"\nup_queue = { model = \"cake\", bandwidth = \"1 bps\" }"
            .to_owned(),
    ]
    .map(|lines| refusal(&lines));
    insta::assert_snapshot!(refusals.join("\n"), @r##"
    a.toml:5: path.queue: bandwidth "0 bps" is too low; accepted: "1 kbps" or more, or none for the rate of the link
    a.toml:5: `queue = { model = "cake", bandwidth = 3 }`: 3 has no unit; accepted: a text with a unit, such as "20 Mbps"
    a.toml:5: `queue = { model = "cake", rtt = "internett" }`: "internett" is not a time (did you mean "internet"?); accepted: "100 ms", "datacentre", "lan", "metro", "regional", "internet", "oceanic", "satellite", "interplanetary"
    a.toml:5: `queue = { model = "cake", rtt = 100 }`: 100 has no unit; accepted: a text with a unit or a name, such as "100 ms", "datacentre", "lan", "metro", "regional", "internet", "oceanic", "satellite", "interplanetary"
    a.toml:5: path.queue: rtt "1 us" is too short; accepted: "10 us" or more
    a.toml:5: `queue = { model = "cake", ack_filter = true }`: true is neither a text nor a number; accepted: a text in quotes
    a.toml:5: `queue = { model = "cake", ack_filter = "none" }`: unknown value "none"; accepted: "conservative" or "aggressive"
    a.toml:5: `queue = { model = "cake", diffserv = "diffserv4" }`: unknown key "diffserv"; accepted: one of "bandwidth", "rtt", "ack_filter", "overhead", "mpu", "framing"
    a.toml:5: path.queue: ack_filter cannot be combined with a tunnel, whose packets it does not look into
    a.toml:5: path.queue: bandwidth cannot be combined with a medium, which decides when a link sends
    a.toml:7: path.change.0.up_queue: bandwidth "1 bps" is too low; accepted: "1 kbps" or more, or none for the rate of the link
    "##);
}
