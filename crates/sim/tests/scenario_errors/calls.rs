//! What a user reads whose call cannot be run.

use super::read;
use std::fmt::Write;

const GOOD: &str = r#"title = "Call"
[path]
rate = "10 Mbps"
rtt = "50 ms"
[[flow]]
name = "main"
controller = "c4"
[[flow.media]]
name = "video"
per_second = 30
duration = "10 s"
group = 30
rate = { least = "150 kbps", most = "1.5 Mbps" }
pauses = [["2 s", "3 s"], ["5 s", "6 s"]]
[[flow.media]]
name = "audio"
carriage = "datagrams"
per_second = 50
duration = "10 s"
frame = "80 B"
[[pass]]
flow = "main"
stream = "video"
metric = "encoder-rate"
at_least = "1 Mbps"
"#;

#[test]
fn the_example_of_a_call_is_good() {
    read(GOOD.as_bytes(), &[], &[]).unwrap();
}

#[test]
fn a_refusal_of_a_call_names_file_line_key_value_and_accepted_forms() {
    let mut table = String::new();
    let encoder = "rate = { least = \"150 kbps\", most = \"1.5 Mbps\" }";
    let with =
        |keys: &str| format!("rate = {{ least = \"150 kbps\", most = \"1.5 Mbps\", {keys} }}");
    let changes = [
        // sizes of frames
        (encoder, String::new()),
        ("frame = \"80 B\"", String::new()),
        ("frame = \"80 B\"", "frame = \"0 B\"".to_owned()),
        ("frame = \"80 B\"", "frame = \"2 kB\"".to_owned()),
        (encoder, format!("{encoder}\nframe = \"4 kB\"")),
        (encoder, format!("{encoder}\nfirst_frame = \"4 kB\"")),
        (encoder, "rate = \"1 Mbps\"".to_owned()),
        // the encoder
        (encoder, "rate = { most = \"1 Mbps\" }".to_owned()),
        (
            encoder,
            "rate = { least = \"1 Mbps\", most = \"500 kbps\" }".to_owned(),
        ),
        (
            encoder,
            "rate = { least = \"100 bps\", most = \"1 Mbps\" }".to_owned(),
        ),
        (
            encoder,
            "rate = { least = \"1 Mbps\", most = \"2 Gbps\" }".to_owned(),
        ),
        (encoder, with("start = \"100 kbps\"")),
        (encoder, with("start = \"2 Mbps\"")),
        (encoder, with("uses = \"0 %\"")),
        (encoder, with("uses = \"120 %\"")),
        (encoder, with("reaction = \"2 min\"")),
        (encoder, with("variation = \"60 %\"")),
        (encoder, with("key_frame = 0.5")),
        (encoder, with("key_frame = 1000")),
        (encoder, with("key_frame = \"3\"")),
        (encoder, with("resolution = \"720p\"")),
        (
            "group = 30\nrate = { ",
            "rate = { key_frame = 3, ".to_owned(),
        ),
        // pauses
        ("[\"2 s\", \"3 s\"]", "[\"3 s\", \"2 s\"]".to_owned()),
        ("[\"2 s\", \"3 s\"]", "[\"2 s\", \"2 s\"]".to_owned()),
        ("[\"2 s\", \"3 s\"]", "[\"2 s\", \"5 s\"]".to_owned()),
        ("[\"2 s\", \"3 s\"]", "[\"2 s\"]".to_owned()),
        ("[\"2 s\", \"3 s\"]", "\"2 s\"".to_owned()),
        (
            "[[\"2 s\", \"3 s\"], [\"5 s\", \"6 s\"]]",
            "[[\"0 s\", \"10 s\"]]".to_owned(),
        ),
        // repair
        (encoder, format!("{encoder}\nrepair = {{ fec = \"20 %\" }}")),
        ("frame = \"80 B\"", "frame = \"80 B\"\nrepair = { fec = \"150 %\" }".to_owned()),
        ("frame = \"80 B\"", "frame = \"80 B\"\nrepair = \"fec\"".to_owned()),
        ("frame = \"80 B\"", "frame = \"80 B\"\nrepair = { rtx = true }".to_owned()),
        (
            "per_second = 50\nduration = \"10 s\"\nframe = \"80 B\"",
            "per_second = 1\nduration = \"10 s\"\nrate = { least = \"1 Mbps\", most = \"1 Gbps\" }\nrepair = { fec = \"5 %\" }".to_owned(),
        ),
        (
            "\"c4\"",
            "\"c4\"\nstack = \"quic\"\n[[flow.media]]\nname = \"slides\"\ncarriage = \"datagrams\"\nper_second = 1\nduration = \"10 s\"\nframe = \"80 B\"\nrepair = { retransmit = true }".to_owned(),
        ),
        ("metric = \"encoder-rate\"\nat_least = \"1 Mbps\"", "metric = \"repaired\"\nat_least = \"1\"".to_owned()),
        // probes
        ("\"c4\"", "\"c4\"\nprobe = { target = \"8 Mbps\", budget = \"20 %\", by = \"redundancy\" }\nstack = \"quic\"".to_owned()),
        ("\"c4\"", "\"c4\"\nprobe = { target = \"0 bps\", budget = \"20 %\" }".to_owned()),
        ("\"c4\"", "\"c4\"\nprobe = { target = \"8 Mbps\", budget = \"100 %\" }".to_owned()),
        ("\"c4\"", "\"c4\"\nprobe = { target = \"8 Mbps\" }".to_owned()),
        ("\"c4\"", "\"c4\"\nprobe = { target = \"8 Mbps\", budget = \"20 %\", by = \"bursts\" }".to_owned()),
        ("\"c4\"", "\"c4\"\nprobe = \"8 Mbps\"".to_owned()),
        ("\"c4\"", "\"nada:max_rate=5Mbps\"\nprobe = { target = \"8 Mbps\", budget = \"20 %\" }".to_owned()),
        ("\"c4\"\n[[flow.media]]\nname = \"video\"", "\"c4\"\nprobe = { target = \"8 Mbps\", budget = \"20 %\", by = \"redundancy\" }\n[[flow.media]]\nname = \"slides\"\nfrom = \"client\"\nper_second = 1\nduration = \"9 s\"\nframe = \"9 kB\"\n[[flow.media]]\nname = \"video\"".to_owned()),
        ("stream = \"video\"\nmetric = \"encoder-rate\"\nat_least = \"1 Mbps\"", "metric = \"probe-bytes\"\nat_most = \"1 MB\"".to_owned()),
        // criteria
        ("stream = \"video\"\n", "stream = \"audio\"\n".to_owned()),
        ("stream = \"video\"\n", String::new()),
        ("at_least = \"1 Mbps\"", "at_least = \"1 s\"".to_owned()),
        // controllers
        ("\"c4\"", "\"nada:min_rate=0 bps\"".to_owned()),
        ("\"c4\"", "\"gcc:gain=100\"".to_owned()),
        ("\"c4\"", "\"scream\"".to_owned()),
    ];
    for (from, to) in changes {
        assert!(GOOD.contains(from), "{from}");
        let text = GOOD.replacen(from, &to, 1);
        let refused = read(text.as_bytes(), &[], &[]);
        let message = refused
            .err()
            .unwrap_or_else(|| format!("`{to}` is ACCEPTED"));
        writeln!(table, "{message}").unwrap();
    }
    insta::assert_snapshot!(table, @r##"
    a.toml:8: flow.0.media.0: "video" has no size of frames; accepted: frame = "4 kB" or rate = { least = "150 kbps", most = "1.5 Mbps" }
    a.toml:15: flow.0.media.1: "audio" has no size of frames; accepted: frame = "4 kB" or rate = { least = "150 kbps", most = "1.5 Mbps" }
    a.toml:20: flow.0.media.1.frame: "0 B" is out of range; accepted: "1 B" to "1150 B"
    a.toml:20: flow.0.media.1.frame: "2 kB" is out of range; accepted: "1 B" to "1150 B"
    a.toml:13: flow.0.media.0.rate: frame and rate cannot be combined
    a.toml:14: flow.0.media.0.first_frame: cannot be combined with rate; set key_frame in rate
    a.toml:13: `rate = "1 Mbps"`: "1 Mbps" is a text; accepted: a table of keys
    a.toml:13: `rate = { most = "1 Mbps" }`: the key "least" is missing here; accepted: least = "150 kbps"
    a.toml:13: flow.0.media.0.rate.most: "500 kbps" is out of range; accepted: "1 Mbps" to "1 Gbps"
    a.toml:13: flow.0.media.0.rate.least: "100 bps" is out of range; accepted: "1 kbps" to "1 Gbps"
    a.toml:13: flow.0.media.0.rate.most: "2 Gbps" is out of range; accepted: "1 Mbps" to "1 Gbps"
    a.toml:13: flow.0.media.0.rate.start: "100 kbps" is out of range; accepted: "150 kbps" to "1.5 Mbps"
    a.toml:13: flow.0.media.0.rate.start: "2 Mbps" is out of range; accepted: "150 kbps" to "1.5 Mbps"
    a.toml:13: flow.0.media.0.rate.uses: "0 %" is out of range; accepted: more than "0 %"
    a.toml:13: `rate = { least = "150 kbps", most = "1.5 Mbps", uses = "120 %" }`: "120 %" is more than one; accepted: "1 %", "0.01", from 0 to 1
    a.toml:13: flow.0.media.0.rate.reaction: "120 s" is out of range; accepted: at most "60 s"
    a.toml:13: flow.0.media.0.rate.variation: "60 %" is out of range; accepted: at most "50 %"
    a.toml:13: flow.0.media.0.rate.key_frame: 0.5 is out of range; accepted: a number from 1 to 100
    a.toml:13: flow.0.media.0.rate.key_frame: 1000 is out of range; accepted: a number from 1 to 100
    a.toml:13: `rate = { least = "150 kbps", most = "1.5 Mbps", key_frame = "3" }`: "3" is a text; accepted: a number
    a.toml:13: `rate = { least = "150 kbps", most = "1.5 Mbps", resolution = "720p" }`: unknown key "resolution" (did you mean "reaction"?); accepted: one of "least", "most", "start", "uses", "reaction", "variation", "key_frame"
    a.toml:12: flow.0.media.0.rate.key_frame: requires group, the frames of which it is the first
    a.toml:14: flow.0.media.0.pauses: ["3 s", "2 s"] does not end after it begins; accepted: ["40 s", "60 s"]
    a.toml:14: flow.0.media.0.pauses: ["2 s", "2 s"] does not end after it begins; accepted: ["40 s", "60 s"]
    a.toml:14: flow.0.media.0.pauses: ["5 s", "6 s"] begins before the pause above is over; pauses must be in order and apart
    a.toml:14: `pauses = [["2 s"], ["5 s", "6 s"]]`: invalid length 1; accepted: two times, such as ["40 s", "60 s"]
    a.toml:14: `pauses = ["2 s", ["5 s", "6 s"]]`: "2 s" is a text; accepted: two times, such as ["40 s", "60 s"]
    a.toml:14: flow.0.media.0.pauses: leaves no frame of the stream; accepted: a shorter pause
    a.toml:14: flow.0.media.0.repair: requires carriage = "datagrams": what a stream loses is always sent again
    a.toml:21: `repair = { fec = "150 %" }`: "150 %" is more than one; accepted: "1 %", "0.01", from 0 to 1
    a.toml:21: `repair = "fec"`: "fec" is a text; accepted: a table of keys
    a.toml:21: `repair = { rtx = true }`: unknown key "rtx"; accepted: "retransmit" or "fec"
    a.toml:21: flow.0.media.1.repair: a frame may have 108696 packets at "1 Gbps"; accepted: at most 65535, the longest code
    a.toml:15: flow.0.media.0.repair: requires the modelled endpoint (stack = "model", virtual time): the QUIC stack does not tell which datagrams are lost, and puts several into one packet
    a.toml:24: pass.0.metric: "repaired" requires a stream with repair; "video" has none
    a.toml:8: flow.0.probe: requires the modelled endpoint (stack = "model", virtual time): the QUIC stack does not tell when it has nothing to send
    a.toml:8: flow.0.probe.target: "0 bps" is out of range; accepted: "1 kbps" to "1 Gbps"
    a.toml:8: flow.0.probe.budget: "100 %" leaves nothing for media; accepted: less, such as "20 %"
    a.toml:8: `probe = { target = "8 Mbps" }`: the key "budget" is missing here; accepted: budget = "20 %"
    a.toml:8: `probe = { target = "8 Mbps", budget = "20 %", by = "bursts" }`: unknown value "bursts"; accepted: "padding" or "redundancy"
    a.toml:8: `probe = "8 Mbps"`: "8 Mbps" is a text; accepted: a table of keys
    a.toml:7: flow.0.controller: "nada:max_rate=5Mbps" has max_rate "5 Mbps", and the media of line 14 has "8 Mbps", the target of its probe; accepted: no max_rate, which leaves the limits to the encoders, or the same rate
    a.toml:8: flow.0.probe.by: "redundancy" requires a stream with carriage = "datagrams" of each end that sends; the client has none; accepted: "padding"
    a.toml:23: pass.0.metric: metric "probe-bytes" requires a probe of this flow
    a.toml:24: pass.0.metric: "encoder-rate" requires a stream with rate; the frames of "audio" have fixed sizes
    a.toml:21: pass.0.stream: is missing for "encoder-rate"; accepted: video, audio
    a.toml:25: pass.0.at_least: "1 s" has an unknown unit "s"; accepted: "20 Mbps", "1.5 Gbps", "512 kbps", "0 bps"
    a.toml:7: flow.0.controller: option "min_rate" of "nada" cannot be "0 bps"; accepted: encoder, or a rate above 0 such as 5 Mbps
    a.toml:7: flow.0.controller: option "gain" of "gcc" cannot be "100"; accepted: a number from 1 to 60
    a.toml:7: flow.0.controller: unknown controller "scream" (did you mean "screamv2"?); accepted: CONTROLLERS
    "##);
}

#[test]
fn a_criterion_on_media_that_ends_before_its_measurement_is_refused_unless_it_counts_all_frames() {
    let ask = |metric: &str, from: &str| {
        let flow = format!("call = \"4 s\"\nmeasure_from = \"{from}\"");
        let text = super::GOOD
            .replacen("download = \"9 MB\"", &flow, 1)
            .replacen(
                "metric = \"closed\"",
                &format!("stream = \"audio\"\nmetric = \"{metric}\""),
                1,
            );
        read(text.as_bytes(), &[], &[]).map(|_| ())
    };
    assert_eq!(ask("mean-delay", "3.9 s"), Ok(()));
    assert_eq!(ask("max-delay-from-start", "5 s"), Ok(()));
    insta::assert_snapshot!(
        ask("mean-delay", "4 s").unwrap_err(),
        @r#"a.toml:23: pass.0.metric: "audio" ends before measure_from, "4 s", so no frame counts; use an earlier measure_from, or a delay from-start"#
    );
}
