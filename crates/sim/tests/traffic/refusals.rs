//! Keys of traffic with values that make no sense.

use thalweg_sim::Scenario;

#[test]
fn traffic_that_makes_no_sense_is_refused_with_what_is_accepted() {
    let refusals = [
        "",
        "rate = \"0 bps\"",
        "rate = \"2 Tbps\"",
        "rate = \"3 MB\"",
        "rate = \"3 Mbps\"\npacket = \"20 B\"",
        "rate = \"3 Mbps\"\npacket = \"66 kB\"",
        "rate = \"3 Mbps\"\non = []",
        "rate = \"3 Mbps\"\non = [\"0 s\", \"40 s\"]",
        "rate = \"3 Mbps\"\non = [[\"0 s\"]]",
        "rate = \"3 Mbps\"\non = [[\"0 s\", \"4 s\", \"5 s\"]]",
        "rate = \"3 Mbps\"\non = [[\"4 s\", \"4 s\"]]",
        "rate = \"3 Mbps\"\non = [[\"0 s\", \"4 s\"], [\"3 s\", \"5 s\"]]",
        "rate = \"3 Mbps\"\non = [[\"0 s\", \"4\"]]",
        "rate = \"3 Mbps\"\nmean_on = \"1 s\"",
        "rate = \"3 Mbps\"\nmean_off = \"1 s\"",
        "rate = \"3 Mbps\"\nmean_on = \"1 s\"\nmean_off = \"1 us\"",
        "rate = \"3 Mbps\"\nmean_on = \"1 s\"\nmean_off = \"1 s\"\non = [[\"0 s\", \"4 s\"]]",
        "rate = \"3 Mbps\"\nbin = \"100 ms\"",
        "rate = \"3 Mbps\"\nrepeat = true",
        "rate = \"3 Mbps\"\nfrom = \"middle\"",
        "rate = \"3 Mbps\"\nroute = [\"a\"]",
        "rate = \"3 Mbps\"\ncontroller = \"reno\"",
        "rate = \"1 Tbps\"\npacket = \"28 B\"",
        "profile = \"missing.csv\"",
        "profile = \"bytes: 1500 0\"",
        "profile = \"bytes: 1500 0\"\nbin = \"1 us\"",
        "profile = \"bytes: 0 0\"\nbin = \"1 s\"",
        "profile = \"bytes: 15 x\"\nbin = \"1 s\"",
        "profile = \"us: 0 1500 1000 0\"\nbin = \"1 s\"",
        "profile = \"us: 0 1500 0 0\"",
        "profile = \"us: 0 1500 1 1500000\"",
        "profile = \"bytes: 1500\"\nbin = \"1 s\"\non = [[\"0 s\", \"4 s\"]]",
        "profile = \"bytes: 1500\"\nbin = \"1 s\"\nmean_on = \"1 s\"",
    ]
    .map(refusal);
    insta::assert_snapshot!(refusals.join("\n"), @r##"
    a.toml:9: traffic.0.rate: is missing; accepted: rate = "3 Mbps", or profile = "FILE"
    a.toml:11: traffic.0.rate: "0 bps" is out of range; accepted: above "0 bps", up to "1 Tbps"
    a.toml:11: traffic.0.rate: "2000 Gbps" is out of range; accepted: above "0 bps", up to "1 Tbps"
    a.toml:11: `rate = "3 MB"`: "3 MB" has an unknown unit "MB"; accepted: "20 Mbps", "1.5 Gbps", "512 kbps", "0 bps"
    a.toml:12: traffic.0.packet: "20 B" is not a size of a packet; accepted: "28 B" to "65535 B", with headers
    a.toml:12: traffic.0.packet: "66 kB" is not a size of a packet; accepted: "28 B" to "65535 B", with headers
    a.toml:12: traffic.0.on: the list is empty; accepted: beginnings and ends in the order of time, such as [["0 s", "40 s"], ["60 s", "80 s"]]
    a.toml:12: `on = ["0 s", "40 s"]`: "0 s" is a text; accepted: a list in square brackets
    a.toml:12: traffic.0.on: there is a list of 1 times; accepted: beginnings and ends in the order of time, such as [["0 s", "40 s"], ["60 s", "80 s"]]
    a.toml:12: traffic.0.on: there is a list of 3 times; accepted: beginnings and ends in the order of time, such as [["0 s", "40 s"], ["60 s", "80 s"]]
    a.toml:12: traffic.0.on: ["4 s", "4 s"] is out of order; accepted: beginnings and ends in the order of time, such as [["0 s", "40 s"], ["60 s", "80 s"]]
    a.toml:12: traffic.0.on: ["3 s", "5 s"] is out of order; accepted: beginnings and ends in the order of time, such as [["0 s", "40 s"], ["60 s", "80 s"]]
    a.toml:12: `on = [["0 s", "4"]]`: "4" has no unit; accepted: "80 ms", "2.5 s", "250 us", "1 min"
    a.toml:12: traffic.0.mean_on: mean_on requires mean_off: how long it is off, on average
    a.toml:12: traffic.0.mean_off: mean_off requires mean_on: how long it is on, on average
    a.toml:13: traffic.0.mean_off: "1 us" is too short; accepted: "100 us" or more
    a.toml:14: traffic.0.on: on cannot be combined with mean_on; times are given, or drawn
    a.toml:12: traffic.0.bin: bin requires a profile; a constant rate has no bins
    a.toml:12: traffic.0.repeat: repeat requires a profile; a constant rate has no bins
    a.toml:12: `from = "middle"`: unknown value "middle"; accepted: "server" or "client"
    a.toml:12: traffic.0.route: a route requires [[link]] tables; [path] has a single hop, which all flows and traffic take
    a.toml:12: `controller = "reno"`: unknown key "controller"; accepted: one of "name", "rate", "profile", "bin", "repeat", "on", "mean_on", "mean_off", "packet", "from", "tunnel", "circuit_breaker", "start", "route"
    a.toml:5: flow: 2678571428571 packets of these flows can cross links in one trial; accepted: at most 1000000000000, by less data, a lower rate, a shorter rtt or a smaller buffer
    a.toml:11: traffic.0.profile: cannot read "missing.csv": No such file or directory (os error 2); accepted: the name of a file with a number of bytes on each line, or a time in microseconds and a number of bytes
    a.toml:11: traffic.0.profile: a profile with only bytes requires bin = "100 ms", the length of its bins
    a.toml:12: traffic.0.bin: "1 us" is too short; accepted: "10 us" or more
    a.toml:11: traffic.0.profile: all bins are empty; accepted: a profile with bytes in it
    a.toml:11: traffic.0.profile: bin 2: "x" is not a line of a profile; accepted: a whole number of bytes on each line, such as 15000
    a.toml:11: traffic.0.profile: a profile with times cannot be combined with bin; its times say how long bins are
    a.toml:11: traffic.0.profile: bin 2: the time 0 does not rise, or is beyond a day; accepted: a time in microseconds and a number of bytes on each line, such as 20000,15000
    a.toml:11: traffic.0.profile: a bin has a rate of 12000 Gbps; accepted: at most "1000 Gbps"
    a.toml:13: traffic.0.on: on cannot be combined with profile; bins without bytes are times at which it is off
    a.toml:13: traffic.0.mean_on: mean_on cannot be combined with profile; bins without bytes are times at which it is off
    "##);
}

fn refusal(keys: &str) -> String {
    named("cross", keys)
}

fn named(name: &str, keys: &str) -> String {
    let text = format!(
        "title = \"t\"\n[path]\nrate = \"1 Mbps\"\nrtt = \"100 ms\"\n[[flow]]\nname = \"main\"\ncontroller = \"c4\"\n\
         download = \"1 MB\"\n[[traffic]]\nname = \"{name}\"\n{keys}\n"
    );
    let read = Scenario::from_toml(text.as_bytes(), "a.toml", &[], &[]);
    read.expect_err("refused").to_string()
}

#[test]
fn names_of_traffic_and_flows_are_unique() {
    let rate = "rate = \"3 Mbps\"";
    let twice = format!("{rate}\n[[traffic]]\nname = \"cross\"\n{rate}");
    let refusals = [named("", rate), named("main", rate), named("cross", &twice)];
    insta::assert_snapshot!(refusals.join("\n"), @r##"
    a.toml:10: `name = ""`: "" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "main"
    a.toml:10: traffic.0.name: "main" names two flows or sources of traffic; accepted: unique names
    a.toml:13: traffic.1.name: "cross" names two flows or sources of traffic; accepted: unique names
    "##);
}

#[test]
fn a_profile_is_read_from_a_file_once_and_stays_with_the_scenario() {
    let folder = std::env::temp_dir().join(format!("thalweg-traffic-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let origin = folder.join("a.toml");
    let read = |profile: &str| {
        std::fs::write(folder.join("bins.csv"), profile).unwrap();
        let text = "title = \"t\"\n[path]\nrate = \"1 Mbps\"\nrtt = \"100 ms\"\n[[flow]]\nname = \"main\"\ncontroller = \"c4\"\n\
            download = \"1 MB\"\n[[traffic]]\nname = \"cross\"\nprofile = \"bins.csv\"\n";
        Scenario::from_toml(text.as_bytes(), &origin.display().to_string(), &[], &[])
            .map(|scenario| scenario.toml().to_owned())
            .map_err(|error| error.to_string().replace(&folder.display().to_string(), ""))
    };
    let good = read("0,1500\n1000, 3000\n");
    let wrong = read("0,1500\n1000;3000\n").unwrap_err();
    std::fs::remove_dir_all(&folder).unwrap();
    let kept = good.unwrap();
    assert!(
        kept.contains("profile = \"us: 0 1500 1000 3000\""),
        "{kept}"
    );
    assert_eq!(
        wrong,
        "/bins.csv:2: \"1000;3000\" is not a line of a profile; accepted: a time in microseconds and a number of bytes on each line, such as 20000,15000"
    );
}
