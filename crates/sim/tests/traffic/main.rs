//! Cross traffic without a transport: what it does to links and to flows, and what is refused.

#[path = "../audited/mod.rs"]
mod audited;
mod refusals;

use thalweg_sim::{Outcome, Scenario, run_trial};

const PATH: &str = "[path]\nrate = \"10 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"100 ms\"\n";

fn scenario(rest: &str, path: &str) -> Scenario {
    let text = format!("title = \"traffic\"\ntime_limit = \"20 s\"\n{path}\n{rest}");
    let read = Scenario::from_toml(text.as_bytes(), "traffic.toml", &[], &[]);
    read.expect("a right scenario")
}

/// Under the auditor.
fn outcome(rest: &str, path: &str) -> Outcome {
    audited::run_trial(&scenario(rest, path), 1, false).0
}

/// An endless download.
fn download(controller: &str) -> String {
    format!(
        "[[flow]]\nname = \"main\"\ncontroller = \"{controller}\"\ndownload = \"1 GB\"\nbackground = true\n"
    )
}

#[test]
fn a_flow_gets_what_a_constant_rate_leaves() {
    let traffic = "[[traffic]]\nname = \"cross\"\nrate = \"4 Mbps\"\n";
    let alone = outcome(&download("cubic"), PATH);
    let beside = outcome(&(download("cubic") + traffic), PATH);
    let rate = |outcome: &Outcome| outcome.flows[0].mean_rate.as_bits_per_sec() as f64 / 1e6;
    // 10 Mbps, less headers of a full packet: 1406 of 1468 bytes, and the slow start.
    assert!((9.3..9.58).contains(&rate(&alone)), "{}", rate(&alone));
    assert!((5.3..5.75).contains(&rate(&beside)), "{}", rate(&beside));
    assert!(beside.links[0].utilisation > 0.97);
}

#[test]
fn given_times_and_profiles_send_what_they_say() {
    let idle = "[[flow]]\nname = \"main\"\ncontroller = \"reno\"\ndownload = \"1 B\"\nstart = \"19.9 s\"\nbackground = true\n";
    let sent = |traffic: &str| {
        let text = format!("{idle}[[traffic]]\nname = \"cross\"\n{traffic}\n");
        let outcome = outcome(&text, PATH);
        let mut links = outcome.links.into_iter().map(|link| link.delivered_packets);
        (links.next().unwrap(), links.next().unwrap())
    };
    // The flow itself has begun a handshake: two packets down and three up.
    let (down, up) = sent("rate = \"12 Mbps\"\non = [[\"25 s\", \"30 s\"]]");
    let more = |traffic: &str| {
        let (with, against) = sent(traffic);
        (with - down, against - up)
    };
    // 6 Mbps for 5 s and 1 s, in packets of 12 000 bits.
    let windows = "rate = \"6 Mbps\"\non = [[\"1 s\", \"6 s\"], [\"8 s\", \"9 s\"]]";
    assert_eq!(more(windows), (3000, 0));
    assert_eq!(more(&format!("{windows}\nfrom = \"client\"")), (0, 3000));
    assert_eq!(more(&format!("{windows}\npacket = \"150 B\"")), (30_000, 0));
    // 15 000 B, nothing, and 30 000 B: ten and twenty packets, once, or 66 times in 19.8 s and the ten of another time.
    let bins = "profile = \"bytes: 15000 0 30000\"\nbin = \"100 ms\"";
    assert_eq!(more(bins), (30, 0));
    let (repeated, _) = more(&format!("{bins}\nrepeat = true"));
    assert!((1980..=1990).contains(&repeated), "{repeated}");
    // 45 000 B in 300 ms are 1.2 Mbps. Scaled to twice that.
    assert_eq!(more(&format!("{bins}\nrate = \"2.4 Mbps\"")), (60, 0));
    let times = "profile = \"us: 0 15000 100000 0 200000 30000\"";
    assert_eq!(more(times), (30, 0));
}

#[test]
fn traffic_crosses_the_links_of_its_route_and_no_others() {
    let links = "[[link]]\nname = \"a\"\nrate = \"10 Mbps\"\nrtt = \"10 ms\"\nbuffer = \"100 ms\"\n\
        [[link]]\nname = \"b\"\nrate = \"10 Mbps\"\nrtt = \"10 ms\"\nbuffer = \"100 ms\"\nqueue = \"fq-codel\"\n\
        [[link]]\nname = \"c\"\nrate = \"10 Mbps\"\nrtt = \"10 ms\"\nbuffer = \"100 ms\"\nqueue = \"dualpi2\"\njitter = \"2 ms\"\n";
    let idle = "[[flow]]\nname = \"main\"\ncontroller = \"reno\"\ndownload = \"1 MB\"\nroute = [\"a\"]\nbackground = true\n\
        [[traffic]]\nname = \"far\"\nrate = \"1.2 Mbps\"\non = [[\"0 s\", \"10 s\"]]\nroute = [\"b\", \"c\"]\nfrom = \"client\"\n\
        [[traffic]]\nname = \"near\"\nrate = \"12 Mbps\"\nroute = [\"b\", \"a\"]\n";
    let outcome = outcome(idle, links);
    let of = |name: &str| outcome.links.iter().find(|link| link.name == name).unwrap();
    // 1.2 Mbps for 10 s: a thousand packets.
    assert_eq!(of("c up").delivered_packets, 1000);
    assert_eq!(of("b up").delivered_packets, 1000);
    assert_eq!(of("c").delivered_packets, 0);
    // 10 of 12 Mbps fit into b, and these into a.
    assert!(of("b").dropped_packets > 2000, "{:?}", of("b"));
    assert!(of("b").utilisation > 0.99 && of("a").utilisation > 0.99);
}

#[test]
fn traffic_that_never_sends_leaves_a_trial_as_it_is() {
    for controller in ["cubic", "bbr", "c4"] {
        let plain = scenario(&download(controller), PATH);
        let silent = download(controller)
            + "[[traffic]]\nname = \"cross\"\nrate = \"4 Mbps\"\nstart = \"30 s\"\n";
        let silent = scenario(&silent, PATH);
        let (without, with) = (
            run_trial(&plain, 7, false).0,
            run_trial(&silent, 7, false).0,
        );
        assert_eq!(without.flows, with.flows, "{controller}");
        assert_eq!(without.trace_hash, with.trace_hash, "{controller}");
    }
}

#[test]
fn a_link_that_slows_down_is_to_a_flow_as_one_that_traffic_fills() {
    // RFC 8867 section 4.3: capacity varies (a) as the capacity of the link, or (b) as an unresponsive source leaves it.
    let rate = |path: &str, traffic: &str| {
        let outcome = outcome(&(download("cubic") + traffic), path);
        outcome.flows[0].mean_rate.as_bits_per_sec() as f64
    };
    let path = "[path]\nrate = \"4 Mbps\"\nrtt = \"100 ms\"\nbuffer = \"300 ms\"\n";
    let changes = path.replace("4 Mbps", "1 Mbps")
        + "[[path.change]]\nat = \"8 s\"\nrate = \"2.5 Mbps\"\n[[path.change]]\nat = \"14 s\"\nrate = \"600 kbps\"\n";
    let source = |name: &str, rate: &str, on: &str| {
        format!("[[traffic]]\nname = \"{name}\"\nrate = \"{rate}\"\non = [{on}]\n")
    };
    let leaves = source("first", "3 Mbps", "[\"0 s\", \"8 s\"]")
        + &source("second", "1.5 Mbps", "[\"8 s\", \"14 s\"]")
        + &source("third", "3.4 Mbps", "[\"14 s\", \"20 s\"]");
    let ratio = rate(path, &leaves) / rate(&changes, "");
    assert!((0.85..1.15).contains(&ratio), "{ratio}");
}

#[test]
fn a_source_that_overloads_an_unlimited_buffer_is_refused_before_it_fills_the_memory() {
    let text = |buffer: &str| {
        format!(
            "title = \"overload\"\n[path]\nrate = \"1 kbps\"\nrtt = \"40 ms\"\nbuffer = \"{buffer}\"\n\
             [[flow]]\nname = \"main\"\ncontroller = \"cubic\"\ndownload = \"1 kB\"\n\
             [[traffic]]\nname = \"flood\"\nrate = \"100 Mbps\"\npacket = \"100 B\"\n"
        )
    };
    let read = |buffer: &str| {
        thalweg_sim::Scenario::from_toml(text(buffer).as_bytes(), "a.toml", &[], &[])
    };
    // 100 Mbps for ten minutes are 75 million packets of 100 B; 50 million may be inside the network.
    let refused = read("unlimited").expect_err("too many packets").to_string();
    assert!(refused.contains("can be inside the network"), "{refused}");
    assert!(read("1 MB").is_ok());
}
