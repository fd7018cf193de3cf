//! What a host cannot be.

use thalweg_sim::Scenario;

fn problem(lines: &str) -> String {
    let text = format!(
        "title = \"hosts\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\n[[flow]]\nname = \"main\"\ncontroller = \"cubic\"\ndownload = \"4 MB\"\n{lines}\n"
    );
    let read = Scenario::from_toml(text.as_bytes(), "a.toml", &[], &[]);
    read.err()
        .map_or("accepted".to_owned(), |error| error.to_string())
}

#[test]
fn a_message_names_the_key_its_value_and_what_is_accepted() {
    let cases = [
        "host = \"windows\"",
        "host = 3",
        "host = { model = \"lynux\" }",
        "host = { read = \"all\" }",
        "host = { reads = \"al\" }",
        "host = { reads = \"1 s\" }",
        "host = { bundle = \"7\" }",
        "host = { bundle = \"atuo\" }",
        "host = { bundle = \"0 packets\" }",
        "host = { bundle = \"65 packets\" }",
        "host = { bundle = \"70 kB\" }",
        "host = { bundle = \"10 ms\" }",
        "host = { timer = \"1 s\" }",
        "host = { lateness = \"2 s\" }",
        "host = { pacing = \"off\" }",
        "host = { reports = \"0 rtt\" }",
        "host = { reports = \"rtt\" }",
    ];
    let found: Vec<String> = cases.iter().map(|case| problem(case)).collect();
    insta::assert_snapshot!(found.join("\n"), @r#"
    a.toml:9: `host = "windows"`: unknown value "windows"; accepted: one of "ideal", "linux", "picoquic"
    a.toml:9: `host = 3`: 3 is a number; accepted: "ideal", "linux", "picoquic"
    a.toml:9: `host = { model = "lynux" }`: unknown value "lynux" (did you mean "linux"?); accepted: one of "ideal", "linux", "picoquic"
    a.toml:9: `host = { read = "all" }`: unknown key "read" (did you mean "reads"?); accepted: one of "model", "reads", "bundle", "pacing", "timer", "lateness", "reports"
    a.toml:9: `host = { reads = "al" }`: "al" is not a time (did you mean "all"?); accepted: "each", "all", "50 us"
    a.toml:9: flow.0.host: reads "1 s" is too long; accepted: at most "100 ms"
    a.toml:9: `host = { bundle = "7" }`: "7" is not a size of a bundle; accepted: "auto", "7 packets", "10 kB"
    a.toml:9: `host = { bundle = "atuo" }`: "atuo" is not a size of a bundle (did you mean "auto"?); accepted: "auto", "7 packets", "10 kB"
    a.toml:9: `host = { bundle = "0 packets" }`: "0 packets" is not a size of a bundle; accepted: "auto", "7 packets", "10 kB"
    a.toml:9: flow.0.host: bundle "65 packets" is larger than any device takes; accepted: "auto", "7 packets", "10 kB", at most 64 packets and "65.536 kB"
    a.toml:9: flow.0.host: bundle "70 kB" is larger than any device takes; accepted: "auto", "7 packets", "10 kB", at most 64 packets and "65.536 kB"
    a.toml:9: `host = { bundle = "10 ms" }`: "10 ms" is not a size of a bundle; accepted: "auto", "7 packets", "10 kB"
    a.toml:9: flow.0.host: timer "1 s" is too long; accepted: at most "100 ms"
    a.toml:9: flow.0.host: lateness "2 s" is too long; accepted: at most "1 s"
    a.toml:9: `host = { pacing = "off" }`: "off" is a text; accepted: true or false
    a.toml:9: flow.0.host: reports "0 rtt"; accepted: "1 rtt" or a time such as "10 ms", or "each"
    a.toml:9: flow.0.host: reports "rtt"; accepted: "1 rtt" or a time such as "10 ms", or "each"
    "#);
}

#[test]
fn all_that_is_meant_to_be_accepted_is() {
    for lines in [
        "host = \"ideal\"",
        "host = \"linux\"",
        "host = \"picoquic\"",
        "host = {}",
        "host = { model = \"linux\", reads = \"each\", bundle = \"64 packets\", pacing = true, timer = \"100 ms\", lateness = \"1 s\" }",
        "host = { bundle = \"65.536 kB\" }",
        "host = { bundle = \"1 B\" }",
        "host = { reports = \"each\" }",
        "host = { reports = \"0.5 rtt\" }",
    ] {
        assert_eq!(problem(lines), "accepted", "{lines}");
    }
}

/// What a path with `splits = false` and further lines says of a flow with further lines.
fn problem_of_whole_bundles(path: &str, flow: &str) -> String {
    let text = format!(
        "title = \"hosts\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nsplits = false\n{path}\n[[flow]]\nname = \"main\"\ncontroller = \"cubic\"\n{flow}\n"
    );
    let read = Scenario::from_toml(text.as_bytes(), "a.toml", &[], &[]);
    read.err()
        .map_or("accepted".to_owned(), |error| error.to_string())
}

#[test]
fn a_buffer_that_no_bundle_fits_into_is_refused_where_bundles_stay_whole() {
    let (down, up) = ("download = \"4 MB\"\n", "upload = \"4 MB\"\n");
    let linux = "host = \"linux\"";
    let cases = [
        ("buffer = \"2 kB\"", down, linux),
        ("buffer = \"0.02 bdp\"", down, linux),
        ("buffer = \"2 kB\"", up, "host = { bundle = \"2 packets\" }"),
        ("up = { buffer = \"2 kB\" }", up, linux),
        // Two packets of 1468 B are 2936 B.
        ("buffer = \"2936 B\"", down, linux),
        ("up = { buffer = \"2 kB\" }", down, linux),
        ("buffer = \"1 packet\"", down, linux),
        ("buffer = \"1 ms\"", down, linux),
        (
            "buffer = \"2 kB\"",
            down,
            "host = { bundle = \"1 packet\" }",
        ),
        ("buffer = \"2 kB\"", down, "host = { bundle = \"2879 B\" }"),
    ];
    let found: Vec<String> = (cases.iter())
        .map(|(path, data, host)| problem_of_whole_bundles(path, &format!("{data}{host}")))
        .collect();
    insta::assert_snapshot!(found.join("\n"), @r#"
    a.toml:6: path.buffer: "2 kB" holds no bundle of flow main; accepted with splits = false: "2.936 kB" or more, two full packets with their headers, or a number of packets
    a.toml:6: path.buffer: "2 kB" holds no bundle of flow main; accepted with splits = false: "2.936 kB" or more, two full packets with their headers, or a number of packets
    a.toml:6: path.buffer: "2 kB" holds no bundle of flow main; accepted with splits = false: "2.936 kB" or more, two full packets with their headers, or a number of packets
    a.toml:6: path.up.buffer: "2 kB" holds no bundle of flow main; accepted with splits = false: "2.936 kB" or more, two full packets with their headers, or a number of packets
    accepted
    accepted
    accepted
    accepted
    accepted
    accepted
    "#);
}
