//! Random scenarios whose trials are short, and the relations between each of them and its twins. Three in ten have round numbers
//! and no noise, so that many things happen in the same nanosecond.

use super::{Plays, Target, scenario_random};
use crate::random::Random;
use crate::relations;
use toml::{Table, Value};

pub(super) const TARGET: Target = Target {
    name: "relations",
    ending: "toml",
    plays: Plays::Engine {
        make,
        check: relations::check,
    },
};

/// Most bytes of a transfer: a case is played some twenty times.
const MOST: u64 = 300_000;

pub(super) fn make(random: &mut Random) -> Vec<u8> {
    if random.percent(30) {
        return round(random).into_bytes();
    }
    let text = scenario_random::make(random);
    let head = text
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default()
        .to_vec();
    let table = std::str::from_utf8(&text)
        .ok()
        .and_then(|text| toml::from_str(text).ok());
    let Some(mut table): Option<Table> = table else {
        return text;
    };
    table
        .entry("time_limit")
        .or_insert_with(|| Value::String("100 s".to_owned()));
    // Series of several trials at once are large; `observers` looks at the series of one.
    table.remove("sample");
    let flows = table.get_mut("flow").and_then(Value::as_array_mut);
    for flow in flows.into_iter().flatten().filter_map(Value::as_table_mut) {
        for key in ["download", "upload"] {
            if flow.contains_key(key) {
                flow.insert(
                    key.to_owned(),
                    Value::String(format!("{} B", random.magnitude(1, MOST))),
                );
            }
        }
        if flow.contains_key("call") {
            let length = random.magnitude(100_000_000, 2_000_000_000);
            flow.insert("call".to_owned(), Value::String(format!("{length} ns")));
        }
    }
    let mut short = head;
    short.push(b'\n');
    short.extend(toml::to_string(&table).unwrap_or_default().bytes());
    short
}

/// Packets of 1250 B, whose transmission takes whole microseconds, and times of whole milliseconds.
fn round(random: &mut Random) -> String {
    let mut text = format!(
        "# seed {}\ntitle = \"round\"\noverhead = \"0 B\"\ntime_limit = \"60 s\"\n[noise]\nstart = \"0 s\"\nwakeup = \"0 s\"\n\
         [transport]\ninitial_mtu = \"1250 B\"\nmax_mtu = \"1250 B\"\ninitial_window = \"12500 B\"\n",
        random.below(1_000_000)
    );
    // One route, and limits that no RTT decides; or any.
    let (is_alike, is_plain) = (random.flag(), random.flag());
    let links = if random.percent(60) {
        random.between(1, 3)
    } else {
        0
    };
    if links == 0 {
        round_hop(&mut text, "path", (None, is_plain), random);
    }
    for link in 0..links {
        round_hop(&mut text, "link", (Some(link), is_plain), random);
    }
    for index in 0..*random.choose(&[1, 1, 1, 2, 3]) {
        let quic = random.percent(15);
        let controller = match random.percent(60) {
            true => (*random.choose(&crate::values::responsive())).to_owned(),
            false => crate::values::controller(random, quic),
        };
        text += &format!("[[flow]]\nname = \"f{index}\"\ncontroller = \"{controller}\"\n");
        if quic {
            text += "stack = \"quic\"\n";
        }
        if links > 0 {
            let first = if is_alike { 0 } else { random.below(links) };
            let route: Vec<String> = (first..links).map(|link| format!("\"l{link}\"")).collect();
            text += &format!("route = [{}]\n", route.join(", "));
        }
        if random.percent(40) {
            text += &format!("start = \"{} ms\"\n", 50 * random.below(40));
        }
        let kind = *random.choose(&["download", "download", "upload"]);
        text += &format!("{kind} = \"{} B\"\n", 1250 * random.magnitude(1, 240));
    }
    if random.percent(10) {
        text += &format!(
            "[[traffic]]\nname = \"t0\"\nrate = \"{}\"\npacket = \"1250 B\"\non = [[\"{} ms\", \"{} ms\"]]\n",
            round_rate(random),
            50 * random.below(4),
            50 * random.between(4, 40)
        );
        let _ = (links > 0).then(|| text += &format!("route = [\"l{}\"]\n", random.below(links)));
    }
    text
}

/// A hop; a plain one does not depend on the time at which packets come, nor its queue on the RTT.
fn round_hop(
    text: &mut String,
    key: &str,
    (number, is_plain): (Option<u64>, bool),
    random: &mut Random,
) {
    match number {
        None => *text += &format!("[{key}]\n"),
        Some(number) => *text += &format!("[[{key}]]\nname = \"l{number}\"\n"),
    }
    *text += &format!("rtt = \"{}\"\n", round_time(random));
    if !is_plain && random.percent(15) {
        let trace = *random.choose(&["1", "1 2 3", "1 1 4", "0 5 10"]);
        *text += &format!("trace = \"ms: {trace}\"\nbuffer = \"unlimited\"\n");
        return;
    }
    let (rate, buffer) = (round_rate(random), round_buffer(random, is_plain));
    *text += &format!("rate = \"{rate}\"\nbuffer = \"{buffer}\"\n");
    if is_plain {
        return;
    }
    if random.percent(30) {
        *text += &format!("queue = {}\n", scenario_random::queue(random));
    }
    let changes = *random.choose(&[0, 0, 0, 1, 2, 3]);
    if changes > 0 && random.flag() {
        *text += &format!("repeat = \"{} ms\"\n", 500 * random.between(2, 6));
    }
    let mut at = 0;
    for _ in 0..changes {
        at += 50 * random.between(1, 6);
        *text += &format!("[[{key}.change]]\nat = \"{at} ms\"\n");
        if random.percent(70) {
            *text += &format!("rate = \"{}\"\n", round_rate(random));
        }
        if random.percent(40) {
            *text += &format!("rtt = \"{}\"\n", round_time(random));
        }
        if random.percent(30) {
            *text += &format!("buffer = \"{}\"\n", round_buffer(random, false));
        }
    }
}

fn round_rate(random: &mut Random) -> String {
    format!("{} Mbps", random.choose(&[1, 2, 4, 5, 8, 10, 20, 50, 100]))
}

fn round_time(random: &mut Random) -> String {
    format!("{} ms", random.choose(&[0, 2, 10, 20, 40, 100]))
}

fn round_buffer(random: &mut Random, is_plain: bool) -> String {
    match random.below(if is_plain { 3 } else { 4 }) {
        0 => "unlimited".to_owned(),
        1 => format!("{} packets", random.choose(&[2, 4, 10, 40])),
        2 => format!("{} ms", random.choose(&[10, 20, 50, 100])),
        _ => format!("{} bdp", random.choose(&[1, 2, 4])),
    }
}
