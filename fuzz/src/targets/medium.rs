//! A medium that both directions of a hop share.

use super::scenario_random::{Key, Maker, table};
use crate::random::Random;
use crate::values::time_from;

/// One for which the directions take turns.
pub(super) fn turns(random: &mut Random) -> String {
    const OVERHEAD: Maker = |r| format!("\"{} ns\"", r.magnitude(1, 10_000_000));
    const PACKETS: Maker = |r| r.magnitude(1, 100).to_string();
    table(
        random,
        "half-duplex",
        &[("overhead", OVERHEAD), ("packets", PACKETS)],
    )
}

/// One for which stations contend.
pub(super) fn contention(random: &mut Random) -> String {
    const PRESET: Maker = |r| {
        let presets = ["home", "apartment", "office", "hidden", "scan"];
        format!("\"{}\"", r.choose(&presets))
    };
    const PHY: Maker = |r| format!("\"{}\"", r.choose(&["n", "ac", "ax"]));
    // These have no aggregates.
    const OLD_PHY: Maker = |r| format!("\"{}\", packets = 1", r.choose(&["b", "a", "g"]));
    const PACKETS: Maker = |r| r.between(1, 64).to_string();
    const ATTEMPTS: Maker = |r| r.magnitude(1, 100).to_string();
    const FALLBACK: Maker = |r| r.between(1, 8).to_string();
    const SCAN: Maker = |r| {
        let length = r.magnitude(1_000, 1_000_000_000);
        let every = length + r.magnitude(1_000_000, 10_000_000_000);
        format!("{{ every = \"{every} ns\", length = \"{length} ns\" }}")
    };
    let mut keys: Vec<Key> = vec![
        ("preset", PRESET),
        ("access", access),
        ("airtime", airtime),
        ("attempts", ATTEMPTS),
        ("fallback", FALLBACK),
        ("neighbours", neighbours),
        ("scan", SCAN),
    ];
    keys.extend_from_slice(match random.percent(30) {
        true => &[("phy", OLD_PHY)],
        false => &[("phy", PHY), ("packets", PACKETS)],
    });
    table(random, "wifi", &keys)
}

/// None, as scenarios say that change another one.
pub(super) fn none(_: &mut Random) -> String {
    "{ model = \"none\" }".to_owned()
}

/// A criterion on a link of a path.
pub(super) fn criterion(random: &mut Random, contends: bool) -> String {
    let of_any = [
        "link-utilisation",
        "link-dropped",
        "link-lost",
        "link-policed",
    ];
    let of_contention = [
        "link-airtime",
        "link-airtime-of-neighbours",
        "link-airtime-of-several",
        "link-airtime-idle",
        "link-failed-attempts",
    ];
    let metric = if contends && random.percent(80) {
        random.choose(&of_contention)
    } else {
        random.choose(&of_any)
    };
    let (link, bound) = (
        random.choose(&["down", "up"]),
        random.choose(&["at_most", "at_least"]),
    );
    let share = random.between(1, 100);
    format!(
        "[[pass]]\nflow = \"f0\"\nlink = \"{link}\"\nmetric = \"{metric}\"\n{bound} = \"{share} %\"\n"
    )
}

/// A rate in the air.
pub(super) fn rate(random: &mut Random) -> String {
    format!("{} bps", random.magnitude(1_000_000, 40_000_000_000))
}

fn access(random: &mut Random) -> String {
    let all = ["dcf", "background", "best-effort", "video", "voice"];
    format!("\"{}\"", random.choose(&all))
}

fn airtime(random: &mut Random) -> String {
    format!("\"{}\"", time_from(random, 50_000, 10_000_000))
}

fn neighbours(random: &mut Random) -> String {
    let kinds = (0..random.between(0, 3)).map(|_| {
        let places = ["both", "access-point", "client", "neither"];
        let (heard, count) = (*random.choose(&places), random.magnitude(1, 20));
        let (airtime, access) = (airtime(random), access(random));
        let mut kind = format!(
            "{{ count = {count}, heard = \"{heard}\", airtime = {airtime}, access = {access}"
        );
        if random.percent(70) {
            let [on, off] = [(); 2].map(|()| time_from(random, 1_000_000, 1_000_000_000));
            kind += &format!(", on = \"{on}\", off = \"{off}\"");
        }
        kind + " }"
    });
    format!("[{}]", kinds.collect::<Vec<_>>().join(", "))
}
