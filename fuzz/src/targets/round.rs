//! Round scenarios: rates, sizes and times whose sums meet in the same nanosecond, with packets of 1250 bytes and
//! without noise, so that transmissions end, packets arrive and the path changes at one time.

use super::medium;
use super::scenario_random::hops_and_flows;
use crate::random::Random;
use crate::values::{self, smallest_queue};

/// Rates at which a packet of 1250 bytes takes a whole number of microseconds.
const MBPS: [u64; 8] = [1, 2, 4, 5, 10, 20, 50, 100];

pub(super) fn make(random: &mut Random) -> String {
    let mut text = format!(
        "# seed {}\ntitle = \"round\"\noverhead = \"0 B\"\ntime_limit = \"{} s\"\n",
        random.below(1_000_000),
        random.between(1, 20)
    );
    text += "[noise]\nstart = \"0 s\"\nwakeup = \"0 s\"\n[transport]\ninitial_mtu = \"1250 B\"\n";
    hops_and_flows(&mut text, random, hop, flow);
    text
}

/// A time on a grid of ten, one or a tenth of a millisecond.
fn time(random: &mut Random, most_ms: u64) -> String {
    match random.below(4) {
        0 => format!("{} us", 100 * random.between(0, 10 * most_ms)),
        1 => format!("{} ms", 10 * random.between(0, most_ms / 10)),
        _ => format!("{} ms", random.between(0, most_ms)),
    }
}

fn rate(random: &mut Random) -> String {
    format!("{} Mbps", random.choose(&MBPS))
}

fn buffer(random: &mut Random) -> String {
    match random.below(4) {
        0 => format!("{} packets", random.between(1, 60)),
        1 => format!("{} B", 1250 * random.between(2, 60)),
        2 => format!("{} ms", random.between(1, 100)),
        _ => "unlimited".to_owned(),
    }
}

fn queue(random: &mut Random) -> String {
    if random.flag() {
        return smallest_queue(random);
    }
    let keys = random.choose::<&str>(&[
        "{ model = \"fq-codel\", flows = 16 }",
        "{ model = \"cake\", ack_filter = \"conservative\" }",
        "{ model = \"cake\", bandwidth = \"5 Mbps\" }",
        "{ model = \"pie\", ecn = true }",
        "{ model = \"red\", ecn = true }",
        "{ model = \"step\", threshold = \"20 packets\" }",
    ]);
    (*keys).to_owned()
}

fn loss(random: &mut Random) -> &'static str {
    random.choose::<&str>(&[
        "\"0 %\"",
        "\"1 %\"",
        "\"100 %\"",
        "\"100 %\"",
        "{ model = \"gilbert-elliott\", p = \"1 %\", r = \"20 %\" }",
        "{ model = \"gilbert-elliott\", good = \"90 ms\", bad = \"10 ms\" }",
        "{ model = \"periodic\", every = 100 }",
        "{ model = \"scripted\", packets = [3, \"10-12\"] }",
    ])
}

fn hop(text: &mut String, key: &str, number: Option<u64>, random: &mut Random) {
    match number {
        None => *text += &format!("[{key}]\n"),
        Some(number) => *text += &format!("[[{key}]]\nname = \"l{number}\"\n"),
    }
    *text += &format!("rate = \"{}\"\n", rate(random));
    *text += &format!("rtt = \"{}\"\n", time(random, 100));
    *text += &format!("buffer = \"{}\"\n", buffer(random));
    if random.percent(30) {
        *text += &format!("queue = {}\n", queue(random));
    }
    let _ = random
        .percent(15)
        .then(|| text.push_str("reorder = true\n"));
    if random.percent(20) {
        let make = random.choose(&[medium::turns, medium::contention]);
        *text += &format!("medium = {}\n", make(random));
    }
    let changes = random.between(0, 6);
    let step = *random.choose(&[1, 5, 10, 50, 100]);
    let mut last = 0;
    let times: Vec<u64> = (0..changes)
        .map(|_| {
            last += step * random.between(0, 20);
            last
        })
        .collect();
    if changes > 0 && random.percent(40) {
        *text += &format!("repeat = \"{} ms\"\n", last + step * random.between(1, 20));
    }
    if random.percent(25) {
        *text += &format!("[{key}.up]\nrate = \"{}\"\n", rate(random));
        let _ = random
            .flag()
            .then(|| *text += &format!("delay = \"{}\"\n", time(random, 100)));
    }
    for (position, at) in times.iter().enumerate() {
        *text += &format!("[[{key}.change]]\nat = \"{at} ms\"\n");
        change(text, position + 1 == times.len(), random);
    }
}

/// What changes. The last change leaves a path that carries packets.
fn change(text: &mut String, is_last: bool, random: &mut Random) {
    let mut key = |percent: u64, key: &str, make: &dyn Fn(&mut Random) -> String| {
        if random.percent(percent) {
            *text += &format!("{key} = {}\n", make(random));
        }
    };
    let quoted = |make: fn(&mut Random) -> String| {
        move |random: &mut Random| format!("\"{}\"", make(random))
    };
    if is_last {
        key(100, "rate", &quoted(rate));
        key(100, "loss", &|_| "\"0 %\"".to_owned());
    } else {
        key(
            50,
            "rate",
            &quoted(|random| {
                if random.percent(30) {
                    "0 bps".to_owned()
                } else {
                    rate(random)
                }
            }),
        );
        key(20, "up_rate", &quoted(rate));
        key(30, "loss", &|random| loss(random).to_owned());
        key(15, "up_loss", &|random| loss(random).to_owned());
    }
    key(50, "rtt", &quoted(|random| time(random, 100)));
    key(10, "up_delay", &quoted(|random| time(random, 100)));
    key(25, "buffer", &quoted(buffer));
    key(25, "queue", &queue);
    key(10, "up_queue", &queue);
    key(20, "flush", &|random| random.flag().to_string());
    key(10, "up_flush", &|random| random.flag().to_string());
}

fn flow(text: &mut String, index: u64, links: u64, random: &mut Random) {
    let controller = values::controller(random, false);
    *text += &format!("[[flow]]\nname = \"f{index}\"\ncontroller = \"{controller}\"\n");
    let _ = random
        .percent(15)
        .then(|| text.push_str("stack = \"quic\"\n"));
    let _ = random
        .percent(40)
        .then(|| *text += &format!("start = \"{}\"\n", time(random, 1000)));
    let _ = (index > 0 && random.percent(30)).then(|| text.push_str("background = true\n"));
    if links > 0 {
        let first = random.below(links);
        let route: Vec<String> = (first..links).map(|link| format!("\"l{link}\"")).collect();
        *text += &format!("route = [{}]\n", route.join(", "));
    }
    let amount = 1250 * random.magnitude(1, 1000);
    let key = *random.choose(&["download", "download", "upload"]);
    *text += &format!("{key} = \"{amount} B\"\n");
}
