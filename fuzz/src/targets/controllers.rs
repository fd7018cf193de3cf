//! Controllers alone, driven through their trait with random events of a consistent, if unlikely, path.

use super::{Plays, Target};
use crate::failure::{Failure, Held, Verdict, require};
use crate::flow::Flow;
use crate::random::Random;
use crate::registry::registry;
use crate::script::{Line, step};
use crate::values;
use crate::watch::Watch;
use thalweg_units::{Bytes, Duration, Rate};

/// More than any path of these events holds.
const LARGEST: Bytes = Bytes::new(1 << 60);

pub(super) const TARGET: Target = Target {
    name: "controllers",
    ending: "txt",
    plays: Plays::Engine { make, check },
};

fn make(random: &mut Random) -> Vec<u8> {
    let mut text = format!(
        "controller {}\n",
        values::controller(random, false).replace(' ', "")
    );
    let mtu = if random.percent(80) {
        random.between(1200, 1500)
    } else {
        random.between(1200, 65_527)
    };
    step(&mut text, "mtu", &[mtu]);
    step(&mut text, "window", &[random.magnitude(2 * mtu, 100 * mtu)]);
    step(
        &mut text,
        "start",
        &[random.below(3) * random.magnitude(1, 1_000_000_000_000)],
    );
    if random.percent(30) {
        step(&mut text, "remember", &[random.magnitude(1, 1 << 34)]);
    }
    // Each case has its own tempo, so that some stay in one regime for long.
    let rtt = random.magnitude(1, 100_000_000_000);
    for _ in 0..random.magnitude(5, 400) {
        let span = random.magnitude(1, 4 * rtt);
        match random.below(24) {
            0..=3 => step(&mut text, "fill", &[random.magnitude(1, 500)]),
            4 => step(&mut text, "send", &[random.between(1, mtu)]),
            5..=7 => step(&mut text, "wait", &[span]),
            8 | 9 => step(&mut text, "ack", &[random.below(100), random.below(4)]),
            10..=13 => step(&mut text, "ack-all", &[random.below(20)]),
            14 => step(&mut text, "lose", &[random.below(100)]),
            15 => step(&mut text, "lose-many", &[random.below(100)]),
            16 => step(&mut text, "lose-persistently", &[random.below(100)]),
            17 => step(&mut text, "timeout", &[]),
            18 => step(&mut text, "spurious", &[random.below(100)]),
            19 => step(&mut text, "app-limited", &[random.below(2)]),
            20 => step(&mut text, "idle", &[span]),
            21 | 22 => step(&mut text, "peak", &[random.magnitude(1, 400_000_000_000)]),
            _ => step(&mut text, "mtu-grows", &[random.between(1, 9000)]),
        }
    }
    text.into_bytes()
}

fn check(text: &[u8], watch: &Watch) -> Verdict {
    watch.stage("controller");
    let lines = Line::all(text);
    let setting = |word: &str| lines.iter().find(|line| line.word == word);
    let number = |word: &str| setting(word).map_or(0, |line| line.number(0));
    let name = setting("controller").map_or("c4", |line| line.text(0));
    let Ok(spec) = registry().read(name) else {
        return Ok(Held::Refused);
    };
    let mtu = number("mtu").clamp(1200, 65_527);
    let window = number("window").max(2 * mtu);
    let mut flow = Flow::new(&spec, number("start"), mtu, window);
    keeps_its_bounds(&flow, name, mtu, "new")?;
    for line in &lines {
        apply(&mut flow, line);
        keeps_its_bounds(&flow, name, mtu, line.word)?;
    }
    Ok(Held::Played)
}

fn apply(flow: &mut Flow, line: &Line<'_>) {
    let (first, second) = (line.number(0), line.number(1));
    match line.word {
        "fill" => flow.fill(first.min(500)),
        "send" => flow.send(first),
        "wait" => flow.now += Duration::from_nanos(first.min(1 << 40)),
        "ack" => flow.ack(first as usize, 1, second),
        "ack-all" => flow.ack(0, usize::MAX, first),
        "lose" => flow.lose(first as usize, 1, false),
        "lose-many" => flow.lose(0, first as usize, false),
        "lose-persistently" => flow.lose(first as usize, 1, true),
        "timeout" => flow.timeout(),
        "spurious" => flow.spurious(first as usize),
        "app-limited" => flow.app_limited(first == 1),
        "idle" => flow.idle(Duration::from_nanos(first.min(1 << 40))),
        "remember" => flow.remember(first),
        "peak" => flow.path.peak_rate = flow.path.peak_rate.max(Rate::from_bits_per_sec(first)),
        "mtu-grows" => flow.path.mtu = flow.path.mtu.max(Bytes::new(first.min(65_527))),
        _ => {}
    }
}

/// Packets that a document lets the window shrink to: two (RFC 9002 section 7.2), but one after a timeout in BBR
/// (draft-ietf-ccwg-bbr-06 section 5.6.4.4, draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.3.3). A mutant may
/// be one of BBR, and the 64 KiB of one of them are a single packet of the largest size.
fn least_packets(controller: &str) -> u64 {
    let may_have_one = controller.starts_with("bbr") || controller.starts_with("mutant");
    if may_have_one { 1 } else { 2 }
}

/// The largest window that a controller may ask for, far above all that these events let it measure.
///
/// Not so C4's: when it leaves Initial it takes half its window over its rate for the max RTT
/// (draft-huitema-ccwg-c4-spec, "Initial state"). The text does not bound that quotient: a rate of bytes per second
/// makes it months, and a rate of Tbps after that makes the window exabytes.
fn largest_window(controller: &str) -> Bytes {
    if controller.starts_with("c4") {
        Bytes::MAX
    } else {
        LARGEST
    }
}

/// What any transport may rely on. The bounds are in packets of the size at the start, since a controller learns of a
/// larger one from the next event.
fn keeps_its_bounds(flow: &Flow, name: &str, mtu: u64, after: &str) -> Result<(), Failure> {
    let control = flow.control();
    let told = || format!("{control:?} after {after}: {:?}", flow.shown());
    let window = Bytes::new(mtu * least_packets(name))..=largest_window(name);
    require(window.contains(&control.window), "window", told)?;
    let quantum = Bytes::new(mtu)..=LARGEST;
    require(quantum.contains(&control.quantum), "quantum", told)?;
    require(control.pacing != Some(Rate::ZERO), "pacing", told)?;
    match flow.shown().wrong() {
        None => Ok(()),
        Some(name) => Err(Failure::new(
            "variable",
            format!("{name} is not a number after {after}"),
        )),
    }
}
