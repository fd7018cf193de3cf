//! Random sources of cross traffic.

use super::flows;
use crate::random::Random;
use crate::values::{time, time_from};

/// Writes a source over a path, or over some of so many links.
pub(super) fn write(text: &mut String, index: u64, links: u64, random: &mut Random) {
    *text += &format!("[[traffic]]\nname = \"t{index}\"\n");
    if links > 0 {
        let first = random.below(links);
        let last = random.between(first + 1, links);
        let route: Vec<String> = (first..last).map(|link| format!("\"l{link}\"")).collect();
        *text += &format!("route = [{}]\n", route.join(", "));
    }
    let rate = random.magnitude(1, 100_000_000);
    if random.percent(30) {
        profile(text, rate, random);
    } else {
        *text += &format!("rate = \"{rate} bps\"\n");
        times(text, random);
    }
    let _ = random
        .percent(40)
        .then(|| *text += &format!("packet = \"{} B\"\n", random.magnitude(28, 65_535)));
    let _ = random
        .percent(30)
        .then(|| text.push_str("from = \"client\"\n"));
    let _ = random
        .percent(30)
        .then(|| *text += &format!("start = \"{}\"\n", time(random)));
    if random.percent(25) {
        *text += &format!("tunnel = \"{}\"\n", random.choose(&["a", "b"]));
    }
    if random.percent(25) {
        flows::breaker(text, false, random);
    }
}

/// When it is on: always, at times, or at random.
fn times(text: &mut String, random: &mut Random) {
    match random.below(3) {
        0 => {}
        1 => {
            let mut at = 0;
            let mut next = || {
                at += random.magnitude(1, 3_000_000_000);
                format!("\"{at} ns\"")
            };
            let spans: Vec<String> = (0..3)
                .map(|_| format!("[{}, {}]", next(), next()))
                .collect();
            *text += &format!("on = [{}]\n", spans.join(", "));
        }
        _ => {
            for key in ["mean_on", "mean_off"] {
                let mean = time_from(random, 100_000, 10_000_000_000);
                *text += &format!("{key} = \"{mean}\"\n");
            }
        }
    }
}

fn profile(text: &mut String, rate: u64, random: &mut Random) {
    let (mut words, mut at) = (Vec::new(), 0);
    let has_times = random.flag();
    for _ in 0..random.between(2, 20) {
        if has_times {
            words.push(at.to_string());
            at += random.magnitude(10, 1_000_000);
        }
        let bytes = if random.percent(30) {
            0
        } else {
            random.magnitude(1, 100_000)
        };
        words.push(bytes.to_string());
    }
    if !has_times {
        *text += &format!("bin = \"{}\"\n", time_from(random, 10_000, 1_000_000_000));
    }
    let mark = if has_times { "us:" } else { "bytes:" };
    *text += &format!("profile = \"{mark} {}\"\n", words.join(" "));
    let _ = random
        .flag()
        .then(|| *text += &format!("rate = \"{rate} bps\"\n"));
    let _ = random.flag().then(|| text.push_str("repeat = true\n"));
}
