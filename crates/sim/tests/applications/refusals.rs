//! Keys of applications and receivers with values that make no sense.

use thalweg_sim::Scenario;

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
    .map(|keys| {
        let text = format!(
            "title = \"t\"\n[path]\nrate = \"1 Mbps\"\nrtt = \"100 ms\"\n[[flow]]\nname = \"main\"\ncontroller = \"c4\"\n{keys}\n"
        );
        let read = Scenario::from_toml(text.as_bytes(), "a.toml", &[], &[]);
        read.expect_err("refused").to_string()
    });
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
    a.toml:9: flow.0.pauses: pauses requires app_rate, or stack = "model": the QUIC stack sends what it has been given
    a.toml:9: flow.0.app_rate: app_rate requires a download
    a.toml:9: flow.0.chunk: chunk requires a download
    a.toml:9: flow.0.pauses: pauses requires a download
    a.toml:9: flow.0.receive_window: "4 kB" is too small; accepted: at least "4096 B"
    "##);
}
