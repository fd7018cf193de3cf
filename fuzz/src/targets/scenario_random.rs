//! Random valid scenarios: every controller and option, both stacks, every discipline and model, extreme sizes.

use super::loss::loss;
use super::{Plays, Target, flows, medium, round, traffic};
use crate::random::Random;
use crate::trial;
use crate::values::{buffer, rate, share, smallest_queue, time, time_from};

pub(super) const TARGET: Target = Target {
    name: "scenario-random",
    ending: "toml",
    plays: Plays::Engine {
        make: any,
        check: trial::check,
    },
};

/// Cases of a hundred that are round.
const ROUND: u64 = 20;

fn any(random: &mut Random) -> Vec<u8> {
    if random.percent(ROUND) {
        return round::make(random).into_bytes();
    }
    make(random)
}

pub(super) fn make(random: &mut Random) -> Vec<u8> {
    let mut text = format!("# seed {}\ntitle = \"random\"\n", random.below(1_000_000));
    if random.percent(30) {
        text += &format!("overhead = \"{} B\"\n", random.between(0, 1000));
    }
    if random.percent(60) {
        let limit = time_from(random, 1_000_000, 1_000_000_000_000);
        text += &format!("time_limit = \"{limit}\"\n");
    }
    if random.percent(10) {
        text += &format!(
            "sample = \"{}\"\n",
            time_from(random, 1_000_000, 100_000_000)
        );
    }
    if random.percent(40) {
        let (start, wakeup) = (time(random), time_from(random, 1, 10_000_000));
        text += &format!("[noise]\nstart = \"{start}\"\nwakeup = \"{wakeup}\"\n");
        if random.percent(30) {
            text += &format!("handshake = \"{} B\"\n", random.below(600));
        }
        if random.percent(30) {
            text += &format!("phase = \"{}\"\n", time(random));
        }
        if random.flag() {
            text += &format!("jitter_seed = {}\n", random.below(1 << 62));
        }
        if random.percent(30) {
            let (last, seed) = (random.below(20), random.below(1 << 62));
            text += &format!(
                "tape = \"0-{last}:{seed} {}:{seed}\"\n",
                last + 1 + random.below(20)
            );
        }
    }
    if random.percent(30) {
        transport(&mut text, random);
    }
    hops_and_flows(&mut text, random, hop, flows::write);
    if random.percent(30) {
        let metric = *random.choose(&["completion", "closed"]);
        let at_most = time_from(random, 1_000_000, 600_000_000_000);
        text +=
            &format!("[[pass]]\nflow = \"f0\"\nmetric = \"{metric}\"\nat_most = \"{at_most}\"\n");
    }
    if text.contains("[path]") && random.percent(15) {
        let contends = text.contains("medium = { model = \"wifi\"");
        text += &medium::criterion(random, contends);
    }
    text.into_bytes()
}

/// Writes a hop under its key: `[path]`, or a `[[link]]` with its number.
type WriteHop = fn(&mut String, &str, Option<u64>, &mut Random);
/// Writes the flow of this number, over a path or so many links.
type WriteFlow = fn(&mut String, u64, u64, &mut Random);

/// A path or several links, flows over them, and cross traffic.
pub(super) fn hops_and_flows(
    text: &mut String,
    random: &mut Random,
    hop: WriteHop,
    flow: WriteFlow,
) {
    let links = if random.percent(25) {
        random.between(1, 4)
    } else {
        0
    };
    if links == 0 {
        hop(text, "path", None, random);
    }
    for link in 0..links {
        hop(text, "link", Some(link), random);
    }
    let flows = if random.percent(40) {
        random.between(2, 6)
    } else {
        1
    };
    for index in 0..flows {
        flow(text, index, links, random);
    }
    if random.percent(15) {
        // Sources do not wait for links: what overloads an unlimited buffer fills the memory of a case in its second.
        *text = text.replace("buffer = \"unlimited\"", "buffer = \"50 MB\"");
        for index in 0..random.between(1, 3) {
            traffic::write(text, index, links, random);
        }
    }
    without_refused_keys_of_cake(text);
    for name in ["a", "b"] {
        let is_used = text.contains(&format!("tunnel = \"{name}\""));
        if is_used && !text.contains("requests = ") && random.flag() {
            *text += &format!("[[tunnel]]\nname = \"{name}\"\n");
            flows::breaker(text, false, random);
        }
    }
}

/// Media and tunnels take keys of CAKE away that cannot be combined with them.
fn without_refused_keys_of_cake(text: &mut String) {
    for (other, key) in [
        ("medium = ", ", bandwidth = \""),
        ("tunnel = ", ", ack_filter = \""),
    ] {
        while text.contains(other)
            && let Some(start) = text.find(key)
        {
            let value = start + key.len();
            let end = text[value..].find('"').map_or(value, |end| value + end + 1);
            text.replace_range(start..end, "");
        }
    }
}

fn transport(text: &mut String, random: &mut Random) {
    text.push_str("[transport]\n");
    let largest = if random.percent(10) { 65_527 } else { 1500 };
    let mtu = random.between(1200, largest);
    if random.flag() {
        *text += &format!("max_mtu = \"{}\"\n", format_args!("{} B", mtu.max(1252)));
        *text += &format!(
            "initial_window = \"{} B\"\n",
            random.between(2 * mtu.max(1252), 3_000_000)
        );
    }
    if random.flag() {
        *text += &format!(
            "max_ack_delay = \"{}\"\n",
            time_from(random, 1000, 1_000_000_000)
        );
    }
    if random.flag() {
        *text += &format!("ack_every = {}\n", random.magnitude(1, 1000));
    }
    if random.flag() {
        *text += &format!("ack_frequency = {}\n", random.flag());
    }
    if random.flag() {
        *text += &format!(
            "initial_max_data = \"{} B\"\n",
            random.magnitude(4096, 1 << 32)
        );
    }
    if random.flag() {
        *text += &format!(
            "initial_max_stream_data = \"{} B\"\n",
            random.magnitude(4096, 1 << 32)
        );
    }
    // Its largest packets fit into the smallest windows.
    if mtu <= 2 * 1252 && random.percent(20) {
        text.push_str("mtu_fallback = true\n");
    }
    if random.percent(10) {
        text.push_str("pacing = false\n");
    }
    if random.percent(10) {
        text.push_str("skip_packet_numbers = true\n");
    }
    if random.percent(10) {
        text.push_str("acks = \"counted\"\n");
    }
}

fn hop(text: &mut String, key: &str, number: Option<u64>, random: &mut Random) {
    match number {
        None => *text += &format!("[{key}]\n"),
        Some(number) => *text += &format!("[[{key}]]\nname = \"l{number}\"\n"),
    }
    let traced = random.percent(8);
    let contends = !traced && random.percent(8);
    let rate = if contends { medium::rate } else { rate };
    if traced {
        *text += &format!("trace = \"{}\"\n", delivery_trace(random));
    } else {
        *text += &format!("rate = \"{}\"\n", rate(random));
    }
    *text += &format!("rtt = \"{}\"\n", time(random));
    *text += &format!("buffer = \"{}\"\n", buffer(random));
    let reorder = random.percent(20);
    if reorder {
        text.push_str("reorder = true\n");
    }
    if random.percent(15) {
        text.push_str("splits = false\n");
    }
    models(text, random, reorder);
    if contends {
        *text += &format!("medium = {}\n", medium::contention(random));
    } else if random.percent(12) && !traced {
        let make = random.choose(&[medium::turns, medium::turns, medium::turns, medium::none]);
        *text += &format!("medium = {}\n", make(random));
    } else if random.percent(12) {
        let (sd, delay) = (rate(random), time_from(random, 1000, 50_000_000));
        let every = time_from(random, 100_000, 100_000_000);
        *text += &format!(
            "noise = {{ rate_sd = \"{sd}\", delay_sd = \"{delay}\", every = \"{every}\" }}\n"
        );
    }
    let mut last = 0;
    let changes = if random.percent(25) && !traced {
        random.between(1, 5)
    } else {
        0
    };
    if changes > 0 && random.flag() {
        *text += &format!(
            "repeat = \"{}\"\n",
            time_from(random, 60_000_000_000, 200_000_000_000)
        );
    }
    if random.percent(25) {
        *text += &format!("[{key}.up]\n");
        let _ = random
            .flag()
            .then(|| *text += &format!("rate = \"{}\"\n", rate(random)));
        let _ = random
            .flag()
            .then(|| *text += &format!("buffer = \"{}\"\n", buffer(random)));
        let _ = random
            .flag()
            .then(|| *text += &format!("delay = \"{}\"\n", time(random)));
        models(text, random, reorder);
    }
    for position in 0..changes {
        last += random.magnitude(1_000, 10_000_000_000);
        *text += &format!("[[{key}.change]]\nat = \"{last} ns\"\n");
        if position + 1 < changes && random.percent(20) {
            text.push_str("rate = \"0 bps\"\n");
        } else {
            *text += &format!("rate = \"{}\"\n", rate(random));
        }
        let _ = random
            .percent(30)
            .then(|| *text += &format!("up_rate = \"{}\"\n", rate(random)));
        let _ = random
            .percent(30)
            .then(|| *text += &format!("rtt = \"{}\"\n", time(random)));
        let _ = random
            .percent(15)
            .then(|| *text += &format!("up_delay = \"{}\"\n", time(random)));
        let _ = random
            .percent(30)
            .then(|| *text += &format!("buffer = \"{}\"\n", buffer(random)));
        let _ = random
            .percent(30)
            .then(|| *text += &format!("jitter = {}\n", jitter(random, reorder)));
        for (key, make) in [
            ("loss", loss as Maker),
            ("up_loss", loss),
            ("queue", queue),
            ("up_queue", queue),
        ] {
            let _ = random
                .percent(15)
                .then(|| *text += &format!("{key} = {}\n", make(random)));
        }
        for key in ["flush", "up_flush"] {
            let _ = random
                .percent(15)
                .then(|| *text += &format!("{key} = {}\n", random.flag()));
        }
    }
}

/// Queue, jitter, loss, ECN and policer, each seldom.
fn models(text: &mut String, random: &mut Random, reorder: bool) {
    let _ = random
        .percent(40)
        .then(|| *text += &format!("queue = {}\n", queue(random)));
    let _ = random
        .percent(25)
        .then(|| *text += &format!("jitter = {}\n", jitter(random, reorder)));
    if random.percent(10) {
        *text += &format!(
            "ecn = \"{}\"\n",
            random.choose(&["bleach", "drop-ce", "hide-ce"])
        );
    }
    let _ = random
        .percent(30)
        .then(|| *text += &format!("loss = {}\n", loss(random)));
    if random.percent(10) {
        let (rate, burst) = (rate(random), random.magnitude(2_400, 1_000_000));
        let mark = random.flag();
        *text +=
            &format!("policer = {{ rate = \"{rate}\", burst = \"{burst} B\", mark = {mark} }}\n");
    }
}

/// Makes a value.
pub(super) type Maker = fn(&mut Random) -> String;
/// A key and its values.
pub(super) type Key = (&'static str, Maker);

/// Writes an inline table whose optional keys are there in half the cases.
pub(super) fn table(random: &mut Random, model: &str, keys: &[Key]) -> String {
    let mut text = format!("{{ model = \"{model}\"");
    for (key, value) in keys {
        if random.flag() {
            text += &format!(", {key} = {}", value(random));
        }
    }
    text + " }"
}

pub(super) fn queue(random: &mut Random) -> String {
    const TARGET: Maker = |r| format!("\"{}\"", time_from(r, 100_000, 1_000_000_000));
    const FLAG: Maker = |r| r.flag().to_string();
    const SHARE: Maker = |r| format!("\"{}\"", share(r));
    const COUNT: Maker = |r| r.magnitude(1, 65_536).to_string();
    const QUANTUM: Maker = |r| format!("\"{} B\"", r.magnitude(64, 100_000));
    let codel: &[Key] = &[
        ("target", TARGET),
        ("interval", TARGET),
        ("ecn", FLAG),
        ("ce_threshold", TARGET),
    ];
    match random.below(8) {
        0 => smallest_queue(random),
        1 => table(random, "codel", codel),
        2 => {
            let keys = [codel, &[("flows", COUNT), ("quantum", QUANTUM)]].concat();
            table(random, "fq-codel", &keys)
        }
        3 => {
            let keys = [
                ("target", TARGET),
                ("update", TARGET),
                ("burst", TARGET),
                ("ecn", FLAG),
                ("mark_below", SHARE),
            ];
            table(random, "pie", &keys)
        }
        4 => table(
            random,
            "dualpi2",
            &[
                ("target", TARGET),
                ("max_rtt", TARGET),
                ("step", TARGET),
                ("ramp", TARGET),
            ],
        ),
        5 => format!(
            "{{ model = \"step\", threshold = {}, drop = {} }}",
            random.choose(&[
                "\"1 packet\"",
                "\"65 packets\"",
                "\"3 kB\"",
                "\"242 us\"",
                "\"1 ms\""
            ]),
            random.flag()
        ),
        6 => {
            const FILTER: Maker = |r| {
                let filters = ["\"conservative\"", "\"aggressive\""];
                (*r.choose(&filters)).to_owned()
            };
            const BANDWIDTH: Maker = |r| format!("\"{} bps\"", r.magnitude(1_000, 1_000_000_000));
            const FRAME: Maker = |r| format!("\"{} B\"", r.below(257));
            const CELLS: Maker = |r| (*r.choose(&["\"atm\"", "\"ptm\""])).to_owned();
            let keys = [
                ("bandwidth", BANDWIDTH),
                ("rtt", TARGET),
                ("ack_filter", FILTER),
                ("overhead", FRAME),
                ("mpu", FRAME),
                ("framing", CELLS),
            ];
            table(random, "cake", &keys)
        }
        _ => {
            let min = random.magnitude(1, 1_000_000);
            let max = min + random.magnitude(1, 1_000_000);
            let (chance, gentle, ecn) = (random.between(1, 1000), random.flag(), random.flag());
            format!(
                "{{ model = \"red\", min = \"{min} B\", max = \"{max} B\", max_probability = \"{}\", gentle = {gentle}, ecn = {ecn} }}",
                chance as f64 / 1000.0
            )
        }
    }
}

fn jitter(random: &mut Random, reorder: bool) -> String {
    let small = |random: &mut Random| time_from(random, 1, 500_000_000);
    match random.below(9) {
        7 => format!(
            "{{ model = \"bursts\", every = \"{}\" }}",
            time_from(random, 10_000, 500_000_000)
        ),
        8 if reorder => {
            let (share, extent) = (share(random), random.magnitude(1, 1_000));
            format!("{{ model = \"reordering\", share = \"{share}\", extent = {extent} }}")
        }
        8 => format!(
            "{{ model = \"nr-bpdv\", sd = \"{}\", clip = {} }}",
            small(random),
            random.between(1, 50) as f64 / 10.0
        ),
        0 => "{ model = \"none\" }".to_owned(),
        1 => {
            let min = random.magnitude(1, 100_000_000);
            let max = min + random.magnitude(1, 1_000_000_000);
            format!("{{ model = \"uniform\", min = \"{min} ns\", max = \"{max} ns\" }}")
        }
        2 => format!(
            "{{ model = \"normal\", mean = \"{}\", sd = \"{}\" }}",
            small(random),
            small(random)
        ),
        3 => {
            let max = random.magnitude(1, 1_000_000_000);
            let (mean, sd) = (small(random), small(random));
            format!(
                "{{ model = \"truncated-normal\", mean = \"{mean}\", sd = \"{sd}\", max = \"{max} ns\" }}"
            )
        }
        4 => {
            let formula = *random.choose(&["reference", "draft"]);
            let every = match random.percent(30) {
                true => format!(", every = \"{}\"", time_from(random, 10_000, 1_000_000_000)),
                false => String::new(),
            };
            format!(
                "{{ model = \"wifi\", mean = \"{}\", formula = \"{formula}\"{every} }}",
                small(random)
            )
        }
        5 => {
            let (fraction, short, long) = (share(random), small(random), small(random));
            format!(
                "{{ model = \"two-components\", fraction = \"{fraction}\", short = \"{short}\", long = \"{long}\" }}"
            )
        }
        _ => {
            let mut at = 0;
            let mut text = "us:".to_owned();
            for _ in 0..random.between(1, 30) {
                text += &format!(" {at} {}", random.magnitude(1, 1_000_000));
                at += random.magnitude(1, 1_000_000);
            }
            format!("{{ model = \"trace\", file = \"{text}\" }}")
        }
    }
}

fn delivery_trace(random: &mut Random) -> String {
    let mut at = 0;
    let mut text = "ms:".to_owned();
    for _ in 0..random.between(1, 100) {
        at += if random.percent(20) {
            random.magnitude(1, 5000)
        } else {
            random.below(5)
        };
        text += &format!(" {}", at.max(1));
    }
    text
}
