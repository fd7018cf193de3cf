//! Random flows: the workloads of a scenario.

use crate::random::Random;
use crate::values::{self, bytes, share, time, time_from};

/// Writes a flow over a path, or over so many links.
pub(super) fn write(text: &mut String, index: u64, links: u64, random: &mut Random) {
    let quic = random.percent(20);
    let controller = values::controller(random, quic);
    *text += &format!("[[flow]]\nname = \"f{index}\"\ncontroller = \"{controller}\"\n");
    if quic {
        text.push_str("stack = \"quic\"\n");
    }
    let _ = random
        .percent(40)
        .then(|| *text += &format!("start = \"{}\"\n", time(random)));
    let _ = (index > 0 && random.percent(30)).then(|| text.push_str("background = true\n"));
    if links > 0 {
        let first = random.below(links);
        let route: Vec<String> = (first..links).map(|link| format!("\"l{link}\"")).collect();
        *text += &format!("route = [{}]\n", route.join(", "));
    }
    if random.percent(10) {
        let (window, rtt) = (bytes(random, 100_000_000), time(random));
        *text += &format!("seed = {{ window = \"{window}\", rtt = \"{rtt}\" }}\n");
    }
    let _ = (!quic && random.percent(15)).then(|| text.push_str("zero_rtt = true\n"));
    if !quic && random.percent(10) {
        let conducts = ["optimistic-acks", "ack-division", "hides-ce", "greedy"];
        *text += &format!("receiver = \"{}\"\n", random.choose(&conducts));
    } else if random.percent(8) {
        let window = random.magnitude(4096, 1 << 24);
        *text += &format!("receive_window = \"{window} B\"\n");
    }
    if !quic && random.percent(4) {
        text.push_str("sender = \"ignores-loss\"\n");
    }
    if random.percent(20) {
        *text += &format!("host = {}\n", host(random));
    }
    if random.percent(10) {
        *text += &format!("tunnel = \"{}\"\n", random.choose(&["a", "b"]));
    }
    let most = if random.percent(8) {
        10_000_000_000
    } else {
        3_000_000
    };
    let workload = random.below(10);
    if workload != 2 && random.percent(10) {
        breaker(text, workload == 3 || workload == 4, random);
    }
    match workload {
        0 | 1 => *text += &format!("upload = \"{}\"\n", bytes(random, most)),
        2 => return requests(text, random),
        3 => {
            *text += &format!(
                "call = \"{}\"\n",
                time_from(random, 100_000_000, 10_000_000_000)
            );
            let _ = random
                .flag()
                .then(|| *text += &format!("measure_from = \"{}\"\n", time(random)));
            return;
        }
        4 => return media(text, quic, random),
        _ => {
            *text += &format!("download = \"{}\"\n", bytes(random, most));
            let _ = random
                .percent(20)
                .then(|| *text += &format!("request = \"{}\"\n", bytes(random, 100_000)));
            if random.percent(20) {
                return supply(text, quic, random);
            }
        }
    }
    let _ = random
        .percent(20)
        .then(|| *text += &format!("streams = {}\n", random.magnitude(1, 200)));
}

/// The hosts of a flow.
fn host(random: &mut Random) -> String {
    let model = *random.choose(&["ideal", "linux", "picoquic"]);
    if random.percent(40) {
        return format!("\"{model}\"");
    }
    let mut table = format!("{{ model = \"{model}\"");
    if random.flag() {
        let reads = match random.below(3) {
            0 => "each".to_owned(),
            1 => "all".to_owned(),
            _ => time_from(random, 1000, 100_000_000).to_string(),
        };
        table += &format!(", reads = \"{reads}\"");
    }
    if random.flag() {
        let bundle = match random.below(3) {
            0 => "auto".to_owned(),
            1 => format!("{} packets", random.magnitude(1, 64)),
            _ => format!("{} B", random.magnitude(1, 65_536)),
        };
        table += &format!(", bundle = \"{bundle}\"");
    }
    if random.flag() {
        table += &format!(", pacing = {}", random.flag());
    }
    for key in ["timer", "lateness"] {
        if random.percent(30) {
            table += &format!(", {key} = \"{}\"", time_from(random, 1000, 100_000_000));
        }
    }
    table + " }"
}

/// A circuit breaker of any flow, or of a call.
pub(super) fn breaker(text: &mut String, is_call: bool, random: &mut Random) {
    let interval = time_from(random, 10_000_000, 10_000_000_000);
    let table = if is_call && random.flag() {
        let unusable = match random.flag() {
            true => format!(", unusable = \"{}\"", share(random)),
            false => String::new(),
        };
        format!("model = \"media\", interval = \"{interval}\"{unusable}")
    } else {
        let (loss, intervals) = (share(random), random.magnitude(1, 20));
        format!(
            "model = \"transport\", loss = \"{loss}\", interval = \"{interval}\", intervals = {intervals}"
        )
    };
    *text += &format!("circuit_breaker = {{ {table} }}\n");
}

/// Rounds of downloads, in an open loop or a closed one.
fn requests(text: &mut String, random: &mut Random) {
    let (count, gap) = (
        random.magnitude(1, 50),
        time_from(random, 1000, 1_000_000_000),
    );
    let low = random.magnitude(1, 100_000);
    let high = low + random.magnitude(1, 300_000);
    let kind = *random.choose(&["exponential", "constant"]);
    let pace = if random.percent(60) {
        "mean_gap"
    } else {
        "mean_idle"
    };
    *text += &format!("requests = {{ count = {count}, {pace} = \"{gap}\", gap = \"{kind}\"");
    let [least, most] = *random.choose(&[["p5", "p95"], ["least", "most"]]);
    *text += &format!(", {least} = \"{low} B\", {most} = \"{high} B\"");
    for key in ["users", "parallel", "objects"] {
        if random.percent(20) {
            *text += &format!(", {key} = {}", random.magnitude(1, 6));
        }
    }
    if pace == "mean_idle" && random.flag() {
        text.push_str(", idle_first = true");
    }
    text.push_str(" }\n");
}

/// How the data of a download comes, if not all at once.
fn supply(text: &mut String, quic: bool, random: &mut Random) {
    let has_rate = random.flag();
    if has_rate {
        *text += &format!(
            "app_rate = \"{} bps\"\n",
            random.magnitude(10_000, 1_000_000_000)
        );
    }
    if random.flag() {
        *text += &format!("chunk = \"{} B\"\n", random.magnitude(10_000, 1_000_000));
        let _ = random
            .flag()
            .then(|| *text += &format!("think_time = \"{}\"\n", time(random)));
    }
    if (has_rate || !quic) && random.flag() {
        let mut at = 0;
        let mut next = || {
            at += random.magnitude(1, 1_000_000_000);
            format!("\"{at} ns\"")
        };
        let spans: Vec<String> = (0..3)
            .map(|_| format!("[{}, {}]", next(), next()))
            .collect();
        *text += &format!("pauses = [{}]\n", spans.join(", "));
    }
}

fn media(text: &mut String, quic: bool, random: &mut Random) {
    // For each end: whether it sends, and whether it sends datagrams.
    let mut ends = [(false, false); 2];
    let mut streams = String::new();
    for number in 0..random.between(1, 3) {
        let datagrams = random.flag();
        let carriage = if datagrams { "datagrams" } else { "streams" };
        let from = *random.choose(&["server", "client"]);
        let end = &mut ends[usize::from(from == "client")];
        *end = (true, end.1 || datagrams);
        let per_second = random.magnitude(1, 1000);
        let duration = time_from(random, 100_000_000, 5_000_000_000);
        let frame = match random.percent(30) {
            true => encoder(random),
            false => format!(
                "frame = \"{}\"",
                bytes(random, if datagrams { 1150 } else { 100_000 })
            ),
        };
        streams += &format!(
            "[[flow.media]]\nname = \"m{number}\"\ncarriage = \"{carriage}\"\nfrom = \"{from}\"\nper_second = {per_second}\nduration = \"{duration}\"\n{frame}\npriority = {}\n",
            random.below(256)
        );
        let _ = random
            .flag()
            .then(|| streams += &format!("group = {}\n", random.magnitude(1, 100)));
        let _ = random
            .flag()
            .then(|| streams += &format!("skip_after = \"{}\"\n", time(random)));
        let _ = random
            .flag()
            .then(|| streams += &format!("deadline = \"{}\"\n", time(random)));
        if datagrams && !quic && random.flag() {
            let fec = share(random);
            let repair = match random.below(3) {
                0 => "retransmit = true".to_owned(),
                1 => format!("fec = \"{fec}\""),
                _ => format!("retransmit = true, fec = \"{fec}\""),
            };
            streams += &format!("repair = {{ {repair} }}\n");
        }
    }
    if !quic && random.percent(40) {
        let target = random.magnitude(1, 100_000);
        let budget = random.below(100);
        let all_have_datagrams = ends.iter().all(|(sends, datagrams)| !sends || *datagrams);
        let by = match all_have_datagrams && random.flag() {
            true => "redundancy",
            false => "padding",
        };
        *text += &format!(
            "probe = {{ target = \"{target} kbps\", budget = \"{budget} %\", by = \"{by}\" }}\n"
        );
    }
    *text += &streams;
}

/// An encoder, of 1 kbps to some 50 Mbps.
fn encoder(random: &mut Random) -> String {
    let least = random.magnitude(1, 50_000);
    let most = least + random.magnitude(1, 50_000);
    let variation = random.below(51);
    format!(
        "rate = {{ least = \"{least} kbps\", most = \"{most} kbps\", variation = \"{variation} %\" }}"
    )
}
