//! Keys of applications and receivers with values that make no sense.

use thalweg_sim::Scenario;

#[test]
fn requests_that_make_no_sense_are_refused_with_what_is_accepted() {
    let refusals = [
        "count = 0, mean_gap = \"1 s\", least = \"1 kB\", most = \"2 kB\"",
        "count = 5, users = 0, mean_gap = \"1 s\", least = \"1 kB\", most = \"2 kB\"",
        "count = 5, parallel = 0, mean_gap = \"1 s\", least = \"1 kB\", most = \"2 kB\"",
        "count = 5, objects = 10001, mean_gap = \"1 s\", least = \"1 kB\", most = \"2 kB\"",
        "count = 100, users = 100, parallel = 100, mean_gap = \"1 s\", least = \"1 kB\", most = \"2 kB\"",
        "count = 100, objects = 5000, mean_gap = \"1 s\", least = \"1 kB\", most = \"2 kB\"",
        "count = 5, least = \"1 kB\", most = \"2 kB\"",
        "count = 5, mean_gap = \"1 s\", mean_idle = \"1 s\", least = \"1 kB\", most = \"2 kB\"",
        "count = 5, mean_gap = \"1 s\", idle_first = true, least = \"1 kB\", most = \"2 kB\"",
        "count = 5, mean_gap = \"1 s\"",
        "count = 5, mean_gap = \"1 s\", p5 = \"1 kB\"",
        "count = 5, mean_gap = \"1 s\", most = \"1 kB\"",
        "count = 5, mean_gap = \"1 s\", p5 = \"1 kB\", most = \"1 kB\"",
        "count = 5, mean_gap = \"1 s\", p5 = \"0 B\", p95 = \"1 kB\"",
        "count = 5, mean_gap = \"1 s\", p5 = \"2 kB\", p95 = \"1 kB\"",
        "count = 5, mean_gap = \"1 s\", least = \"0 B\", most = \"1 kB\"",
        "count = 5, mean_gap = \"1 s\", least = \"2 kB\", most = \"1 kB\"",
        "count = 5, mean_gap = \"1 s\", least = \"2 kB\", most = \"1 kB\", lanes = 5",
    ]
    .map(|keys| refusal(&format!("requests = {{ {keys} }}")));
    insta::assert_snapshot!(refusals.join("\n"), @r##"
    a.toml:8: flow.0.requests.count: 0 is out of range; accepted: 1 to 100000
    a.toml:8: flow.0.requests.users: 0 is out of range; accepted: 1 to 100000
    a.toml:8: flow.0.requests.parallel: 0 is out of range; accepted: 1 to 100000
    a.toml:8: flow.0.requests.objects: 10001 is out of range; accepted: 1 to 10000
    a.toml:5: flow.0: flows and requests so far make 1000000 connections; accepted: at most 100000 over 2 links
    a.toml:8: flow.0.requests.objects: 500000 streams, chunks and objects in the flows so far are too many; accepted: at most 200000
    a.toml:8: flow.0.requests: there is neither a gap nor an idle time; accepted: mean_gap = "50 ms", from start to start, or mean_idle = "10 s", from end to start
    a.toml:8: flow.0.requests.mean_idle: mean_idle cannot be combined with mean_gap; a round starts after the start of the one before, or after its end
    a.toml:8: flow.0.requests.idle_first: idle_first requires mean_idle: with gaps, nothing is idle
    a.toml:8: flow.0.requests: there are no lengths; accepted: p5 = "2 kB" and p95 = "200 kB", or least = "30 kB" and most = "50 kB"
    a.toml:8: flow.0.requests: p5 requires p95, and least requires most
    a.toml:8: flow.0.requests: p5 requires p95, and least requires most
    a.toml:8: flow.0.requests: p5 and p95 cannot be combined with least and most; lengths are log-normal or uniform
    a.toml:8: flow.0.requests.p5: "0 B" is too small; accepted: "1 B" or more
    a.toml:8: flow.0.requests.p95: "1 kB" is below p5; accepted: at least "2 kB"
    a.toml:8: flow.0.requests.least: "0 B" is too small; accepted: "1 B" or more
    a.toml:8: flow.0.requests.most: "1 kB" is below least; accepted: at least "2 kB"
    a.toml:8: `requests = { count = 5, mean_gap = "1 s", least = "2 kB", most = "1 kB", lanes = 5 }`: unknown key "lanes"; accepted: one of "count", "mean_gap", "mean_idle", "gap", "idle_first", "users", "parallel", "objects", "p5", "p95", "least", "most"
    "##);
}

#[test]
fn what_makes_no_sense_is_refused_with_what_is_accepted() {
    let refusals = [
        "download = \"1 MB\"\napp_rate = \"0 bps\"",
        "download = \"1 MB\"\napp_rate = \"2 MB\"",
        "download = \"1 MB\"\napp_rate = \"2 Mbps\"\nstreams = 2",
        "download = \"1 MB\"\nthink_time = \"2 s\"",
        "download = \"1 MB\"\nchunk = \"0 B\"",
        "download = \"1 MB\"\nchunk = \"99 B\"",
        "download = \"1 MB\"\nchunk = 5",
        "download = \"1 MB\"\npauses = []",
        "download = \"1 MB\"\npauses = [[\"2 s\", \"1 s\"]]",
        "download = \"1 MB\"\npauses = [[\"2 s\"]]",
        "download = \"1 MB\"\npauses = [[\"1 s\", \"2 s\"]]\nstack = \"quic\"",
        "upload = \"1 MB\"\napp_rate = \"2 Mbps\"",
        "upload = \"1 MB\"\nchunk = \"1 kB\"",
        "call = \"5 s\"\npauses = [[\"1 s\", \"2 s\"]]",
        "download = \"1 MB\"\nreceive_window = \"4 kB\"",
    ]
    .map(refusal);
    insta::assert_snapshot!(refusals.join("\n"), @r##"
    a.toml:9: flow.0.app_rate: "0 bps" never writes anything; accepted: above "0 bps"
    a.toml:9: `app_rate = "2 MB"`: "2 MB" has an unknown unit "MB"; accepted: "20 Mbps", "1.5 Gbps", "512 kbps", "0 bps"
    a.toml:9: flow.0.app_rate: app_rate cannot be combined with streams; it takes streams = 1
    a.toml:9: flow.0.think_time: think_time requires chunk: the client waits between two chunks
    a.toml:9: flow.0.chunk: "0 B" is too small for "1 MB"; accepted: at least "100 B", at most 10000 chunks
    a.toml:9: flow.0.chunk: "99 B" is too small for "1 MB"; accepted: at least "100 B", at most 10000 chunks
    a.toml:9: `chunk = 5`: 5 has no unit; accepted: a text with a unit, such as "10 MB"
    a.toml:9: flow.0.pauses: the list is empty; accepted: beginnings and ends in the order of time, such as [["0 s", "40 s"], ["60 s", "80 s"]]
    a.toml:9: flow.0.pauses: ["2 s", "1 s"] is out of order; accepted: beginnings and ends in the order of time, such as [["0 s", "40 s"], ["60 s", "80 s"]]
    a.toml:9: flow.0.pauses: there is a list of 1 times; accepted: beginnings and ends in the order of time, such as [["0 s", "40 s"], ["60 s", "80 s"]]
    a.toml:9: flow.0.pauses: pauses requires app_rate, or stack = "model": a real stack sends what it has been given
    a.toml:9: flow.0.app_rate: app_rate requires a download
    a.toml:9: flow.0.chunk: chunk requires a download
    a.toml:9: flow.0.pauses: pauses requires a download
    a.toml:9: flow.0.receive_window: "4 kB" is too small; accepted: at least "4096 B"
    "##);
}

fn refusal(keys: &str) -> String {
    let text = format!(
        "title = \"t\"\n[path]\nrate = \"1 Mbps\"\nrtt = \"100 ms\"\n[[flow]]\nname = \"main\"\ncontroller = \"c4\"\n{keys}\n"
    );
    let read = Scenario::from_toml(text.as_bytes(), "a.toml", &[], &[]);
    read.expect_err("refused").to_string()
}
