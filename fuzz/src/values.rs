//! Quantities as a scenario writes them, the usual and the extreme.

use crate::random::Random;
use crate::registry::registry;
use std::sync::OnceLock;
use thalweg_control::Purpose;
use thalweg_control::registry::ENTRIES;

/// The controllers of Thalweg that respond to congestion, by their names.
pub(crate) fn responsive() -> Vec<&'static str> {
    let entries = ENTRIES.iter();
    let responsive = entries.filter(|entry| entry.purpose != Purpose::Test);
    responsive.map(|entry| entry.name).collect()
}

/// A queue discipline with nothing but what it requires.
pub(crate) fn smallest_queue(random: &mut Random) -> String {
    static ALL: OnceLock<Vec<String>> = OnceLock::new();
    let all = ALL.get_or_init(|| thalweg_sim::smallest_tables("queue"));
    random.choose(all).clone()
}

/// A rate above 0.
pub(crate) fn rate(random: &mut Random) -> String {
    let rate = match random.below(10) {
        0 => random.magnitude(1, 100_000),
        1 => random.magnitude(1_000_000_000, 400_000_000_000),
        2 => *random.choose(&[1, 400_000_000_000, 8_000, 1_000_000, 999_999_937]),
        _ => random.magnitude(100_000, 1_000_000_000),
    };
    format!("{rate} bps")
}

/// A time of 0 to 100 s.
pub(crate) fn time(random: &mut Random) -> String {
    let nanos = match random.below(10) {
        0 => 0,
        1 => random.magnitude(1, 1_000_000),
        2 => random.magnitude(1_000_000_000, 100_000_000_000),
        _ => random.magnitude(1_000_000, 500_000_000),
    };
    format!("{nanos} ns")
}

/// A time, `least` nanoseconds or longer.
pub(crate) fn time_from(random: &mut Random, least: u64, most: u64) -> String {
    format!("{} ns", random.magnitude(least, most))
}

/// Bytes, one or more.
pub(crate) fn bytes(random: &mut Random, most: u64) -> String {
    format!("{} B", random.magnitude(1, most))
}

/// A share from 0 to 1.
pub(crate) fn share(random: &mut Random) -> String {
    match random.below(6) {
        0 => (*random.choose(&["0", "1", "0.5", "0.000001", "0.999999"])).to_owned(),
        1 => format!("0.{:06}", random.below(1_000_000)),
        _ => format!("0.0{:05}", random.below(100_000)),
    }
}

/// A buffer, nearly always of a packet or more.
pub(crate) fn buffer(random: &mut Random) -> String {
    match random.below(20) {
        0..=3 => "unlimited".to_owned(),
        4..=8 => time_from(random, 1_000, 10_000_000_000),
        9..=13 => format!("{} B", random.magnitude(2_400, 100_000_000)),
        14..=18 => format!("{} packets", random.magnitude(1, 100_000)),
        _ => format!(
            "{} bdp",
            *random.choose(&["0.001", "0.1", "0.5", "4", "100", "1000000"])
        ),
    }
}

/// Something that may stand at any key, and seldom does: of another type, out of range, or absurd.
pub(crate) fn absurd(random: &mut Random) -> toml::Value {
    const TEXTS: &[&str] = &[
        "",
        " ",
        "0 s",
        "0 B",
        "0 bps",
        "-1 s",
        "1e300 s",
        "nan",
        "1 ns",
        "1 bps",
        "400 Gbps",
        "100 s",
        "100 h",
        "1000000 h",
        "18446744073709551615 ns",
        "18446744073709551616 B",
        "18446744073709551615 bps",
        "9999999999999 MB",
        "1 B",
        "0 packets",
        "18446744073709551615 packets",
        "0.001 bdp",
        "1000000 bdp",
        "unlimited",
        "0 %",
        "100 %",
        "101 %",
        "0.0000000001",
        "1",
        "c4",
        "cubic",
        "noq:bbr3",
        "kernel:cubic",
        "bbr:variant=picoquic",
        "quic",
        "model",
        "main",
        "down",
        "none",
        "wifi",
        "normal",
        "completion",
        "closed",
        "p95-delay",
        "/dev/zero",
        "/dev/null",
        "/",
        "..",
        "ms: 1 1 1",
        "ms: 0",
        "us: 0 1000",
        "\u{0}",
        "</script>",
        "\u{202e}",
        "10 us",
        "100 us",
        "0.5 us",
        "5 Mbps",
        "30 ms",
    ];
    match random.below(9) {
        0 => toml::Value::Integer(random.any() as i64),
        1 => toml::Value::Integer(*random.choose(&[0, 1, -1, 2, 100, 10_000, 65_536, i64::MAX])),
        2 => toml::Value::Float(*random.choose(&[0.0, -0.0, 1e308, f64::NAN, f64::INFINITY, 0.5])),
        3 => toml::Value::Boolean(random.flag()),
        4 => toml::Value::Array(Vec::new()),
        5 => toml::Value::Table(toml::Table::new()),
        6 => toml::Value::String("x".repeat(random.magnitude(1, 100_000) as usize)),
        _ => toml::Value::String((*random.choose(TEXTS)).to_owned()),
    }
}

/// A plausible text for a key of that name.
pub(crate) fn plausible(random: &mut Random, key: &str) -> toml::Value {
    let text = match key {
        "rate" | "up_rate" | "rate_sd" | "app_rate" => rate(random),
        "buffer" => buffer(random),
        "download" | "upload" | "request" | "burst" | "frame" | "first_frame" | "quantum"
        | "window" | "overhead" | "min" | "p5" | "p95" => bytes(random, 1_000_000_000),
        "controller" => controller(random, false),
        "fraction" | "max_probability" | "mark_below" | "p" | "r" => share(random),
        "packet" | "chunk" | "least" | "most" | "receive_window" => bytes(random, 65_535),
        "packets" => {
            return toml::Value::Array(vec![
                toml::Value::Integer(random.magnitude(1, 1000) as i64),
            ]);
        }
        "streams" | "count" | "per_second" | "flows" | "users" | "parallel" | "objects"
        | "ack_every" | "group" | "priority" => {
            return toml::Value::Integer(random.magnitude(1, 100_000) as i64);
        }
        _ => time(random),
    };
    toml::Value::String(text)
}

/// A controller with options: of the registry, or of the real stack where that is allowed.
pub(crate) fn controller(random: &mut Random, of_stack: bool) -> String {
    use thalweg_control::OptionKind;
    if of_stack && random.percent(15) {
        return (*random.choose(&["noq:cubic", "noq:newreno"])).to_owned();
    }
    let entry = random.choose(registry().entries());
    let mut options = Vec::new();
    for doc in entry.options {
        if !random.percent(40) {
            continue;
        }
        let value = match doc.kind {
            OptionKind::Choice(_) | OptionKind::Variant { .. } => {
                (*random.choose(&registry().choices(entry, doc))).to_owned()
            }
            OptionKind::Flag => (*random.choose(&["on", "off"])).to_owned(),
            OptionKind::Number(low, high) | OptionKind::NumberOr(_, low, high) => {
                match random.below(3) {
                    0 => low.to_string(),
                    1 => high.to_string(),
                    _ => (low + (high - low) * random.below(1000) as f64 / 1000.0).to_string(),
                }
            }
            OptionKind::Duration => time(random),
            OptionKind::Rate | OptionKind::RateOr(_) => {
                (*random.choose(&["100 kbps", "5 Mbps", "60 Mbps"])).to_owned()
            }
        };
        options.push(format!("{}={value}", doc.name));
    }
    let colon = if options.is_empty() { "" } else { ":" };
    format!("{}{colon}{}", entry.name, options.join(","))
}
