//! Refusals of `[flow.command]`.

use std::fmt::Write;
use thalweg_control::Registry;
use thalweg_sim::{Clock, Scenario};

const PROGRAMS: &str = "title = \"t\"\n[path]\nrate = \"1 Mbps\"\nrtt = \"40 ms\"\n[[flow]]\nname = \"main\"\n\
    controller = \"command:curl\"\ndownload = \"1 MB\"\n[flow.command]\nclient = \"curl\"\nserver = \"nginx\"\n\
    ready = \"tcp:80\"\n";

fn read(clock: Clock, from: &str, to: &str) -> Result<Scenario, String> {
    let text = PROGRAMS.replace(from, to);
    assert!(from.is_empty() || text != PROGRAMS, "{from}");
    let registry = Registry::standard();
    Scenario::read(text.as_bytes(), "a.toml", &[], &[], clock, &registry)
        .map_err(|error| error.to_string())
}

#[test]
fn programs_that_make_no_sense_are_refused_with_the_accepted_forms() {
    let mut table = String::new();
    for (from, to) in [
        ("\"command:curl\"", "\"command: \""),
        ("\"command:curl\"", "\"c4\""),
        ("\"command:curl\"", "\"kernel:cubic\""),
        (
            "[flow.command]\nclient = \"curl\"\nserver = \"nginx\"\nready = \"tcp:80\"\n",
            "",
        ),
        ("client = \"curl\"\n", ""),
        ("client = \"curl\"", "client = [\"curl\", \"-s\"]"),
        ("client = \"curl\"", "client = \" \""),
        ("server = \"nginx\"", "server = \"a\\u0000b\""),
        ("server = \"nginx\"\n", ""),
        ("\"tcp:80\"", "\"tcp:0\""),
        ("\"tcp:80\"", "\"udp:http\""),
        ("\"tcp:80\"", "\"\""),
        ("\"tcp:80\"", "\"tcp:80\"\nready_within = \"0 s\""),
        ("\"tcp:80\"", "\"tcp:80\"\nready_within = \"2 h\""),
        ("\"tcp:80\"", "\"tcp:80\"\ncount = \"bytes\""),
        ("\"tcp:80\"", "\"tcp:80\"\nport = 80"),
        ("[flow.command]", "[[flow.command]]"),
        (
            "download = \"1 MB\"",
            "requests = { count = 3, mean_gap = \"1 s\", p5 = \"2 kB\", p95 = \"9 kB\" }",
        ),
        ("download = \"1 MB\"", "call = \"5 s\""),
        ("download = \"1 MB\"", "download = \"1 MB\"\nstreams = 2"),
        (
            "download = \"1 MB\"",
            "download = \"1 MB\"\nreceive_window = \"64 kB\"",
        ),
        (
            "download = \"1 MB\"",
            "download = \"1 MB\"\nzero_rtt = true",
        ),
        (
            "download = \"1 MB\"",
            "download = \"1 MB\"\nsender = \"ignores-loss\"",
        ),
        ("download = \"1 MB\"\n", ""),
    ] {
        let refused = read(Clock::Any, from, to).expect_err(to);
        writeln!(table, "{refused}").unwrap();
    }
    insta::assert_snapshot!(table, @r##"
    a.toml:7: flow.0.controller: "command:" names no program; accepted: "command:curl"
    a.toml:7: flow.0.controller: "c4" cannot be combined with [flow.command], whose programs have controllers of their own; accepted: "command:NAME", a name for tables
    a.toml:7: flow.0.controller: "kernel:cubic" cannot be combined with [flow.command], whose programs have controllers of their own; accepted: "command:NAME", a name for tables
    a.toml:7: flow.0.controller: "command:curl" requires [flow.command] with the command of a client
    a.toml:9: `[flow.command]`: the key "client" is missing here; accepted: client = "curl -s -o /dev/null http://$THALWEG_PEER:8000/file"
    a.toml:10: `client = ["curl", "-s"]`: this is a list; accepted: a text in quotes
    a.toml:10: flow.0.command.client: " " is not a command; accepted: a line for sh, such as "nginx -g 'daemon off;'"
    a.toml:11: flow.0.command.server: has the character U+0000, which terminals and pages obey and do not show; accepted: text without control characters and those that change its direction
    a.toml:11: flow.0.command.ready: ready requires server
    a.toml:12: flow.0.command.ready: "tcp:0" is neither a port nor a command; accepted: "tcp:80", "udp:443", or a command such as "test -S /tmp/socket"
    a.toml:12: flow.0.command.ready: "udp:http" is neither a port nor a command; accepted: "tcp:80", "udp:443", or a command such as "test -S /tmp/socket"
    a.toml:12: flow.0.command.ready: "" is neither a port nor a command; accepted: "tcp:80", "udp:443", or a command such as "test -S /tmp/socket"
    a.toml:13: flow.0.command.ready_within: "0 ns" is out of range; accepted: above "0 s", up to "1 h"
    a.toml:13: flow.0.command.ready_within: "7200 s" is out of range; accepted: above "0 s", up to "1 h"
    a.toml:13: `count = "bytes"`: unknown value "bytes"; accepted: "workload" or "packets"
    a.toml:13: `port = 80`: unknown key "port"; accepted: one of "client", "server", "ready", "ready_within", "count"
    a.toml:9: `[[flow.command]]`: command is one table: write [flow.command]
    a.toml:8: flow.0.requests: requests cannot be combined with [flow.command], which takes a download or an upload
    a.toml:8: flow.0.call: call cannot be combined with [flow.command], which takes a download or an upload
    a.toml:9: flow.0.streams: streams cannot be combined with [flow.command], which takes a download or an upload
    a.toml:9: flow.0.receive_window: receive_window cannot be combined with [flow.command], which takes a download or an upload
    a.toml:9: flow.0.zero_rtt: zero_rtt cannot be combined with [flow.command], which takes a download or an upload
    a.toml:9: flow.0.sender: sender cannot be combined with [flow.command], which takes a download or an upload
    a.toml:5: flow.0: flow "main" has no workload; accepted: download = "10 MB", upload = "10 MB", call = "5 s", requests = { ... } or [[flow.media]]
    "##);
}

#[test]
fn in_virtual_time_there_are_no_programs() {
    let refused = read(Clock::Virtual, "", "").expect_err("a refusal");
    assert_eq!(
        refused,
        "a.toml:7: flow.0.controller: \"command:curl\" is a program and requires real time (thalweg run --live)"
    );
}

#[test]
fn the_floor_of_a_program_has_no_headers() {
    let text = PROGRAMS.to_owned()
        + "[[pass]]\nflow = \"main\"\nmetric = \"completion\"\nat_most = \"20 s\"\n";
    let registry = Registry::standard();
    let read = Scenario::read(text.as_bytes(), "a.toml", &[], &[], Clock::Any, &registry);
    let scenario = read.expect("a scenario");
    // 8 Mbit at 1 Mbps after 1.5 round trips, and half of one for the last byte: no less, whatever the program.
    assert_eq!(scenario.floor().expect("a floor").as_millis(), 8080);
}
