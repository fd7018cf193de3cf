//! A medium that both directions share: airtime, turns, and the same trial where there is nothing to share.

use super::audited::run_trial;
use thalweg_sim::{Outcome, Scenario};
use thalweg_units::Duration;

/// On 20 Mbps and 40 ms for 10 s, with these lines of the path and this rest.
pub(super) fn outcome(lines: &str, rest: &str) -> Outcome {
    let text = format!(
        "title = \"medium\"\ntime_limit = \"10 s\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"100 ms\"\n{lines}\n{rest}"
    );
    let scenario = Scenario::from_toml(text.as_bytes(), "medium.toml", &[], &[]);
    run_trial(
        &scenario.unwrap_or_else(|error| panic!("{error}\n{text}")),
        1,
        false,
    )
    .0
}

pub(super) fn flow(name: &str, what: &str) -> String {
    format!(
        "[[flow]]\nname = \"{name}\"\ncontroller = \"cubic\"\n{what} = \"1 GB\"\nbackground = true\n"
    )
}

/// A source that fills a direction by itself.
pub(super) fn flood(name: &str, from: &str, packet: u64) -> String {
    format!(
        "[[traffic]]\nname = \"{name}\"\nrate = \"40 Mbps\"\nfrom = \"{from}\"\npacket = \"{packet} B\"\non = [[\"0 s\", \"10 s\"]]\n"
    )
}

/// A flow that never begins: there must be one.
pub(super) const NONE: &str = "[[flow]]\nname = \"none\"\ncontroller = \"cubic\"\ndownload = \"1 B\"\nstart = \"20 s\"\nbackground = true\n";

#[test]
fn the_acknowledgements_of_a_download_take_their_airtime_from_it() {
    let plain = outcome("", &flow("main", "download"));
    let shared = outcome("medium = \"half-duplex\"", &flow("main", "download"));
    let busy = |outcome: &Outcome| outcome.links[0].utilisation + outcome.links[1].utilisation;
    // Each direction of the plain path is busy for itself: data all of the time, and also acknowledgements.
    assert!(plain.links[0].utilisation > 0.97 && busy(&plain) > 1.0);
    // The medium is never busy with two, and once the flow has filled it, always with one.
    assert!((0.97..=1.0).contains(&busy(&shared)), "{}", busy(&shared));
    assert!(shared.links[1].utilisation > 0.01);
    let lost = plain.links[0].utilisation - shared.links[0].utilisation;
    let taken = shared.links[1].utilisation;
    assert!((lost - taken).abs() < 0.005, "{lost} {taken}");
}

#[test]
fn no_medium_is_the_same_trial_as_no_key_and_can_be_where_no_medium_can() {
    let both = flow("down", "download") + &flow("up", "upload");
    for lines in ["", "noise = { rate_sd = \"2 Mbps\", every = \"1 ms\" }\n"] {
        for none in ["\"none\"", "{ model = \"none\" }"] {
            let own = outcome(lines, &both);
            assert_eq!(own, outcome(&format!("{lines}medium = {none}"), &both));
        }
    }
    let extra = refusal("rate = \"10 Mbps\"\nmedium = { model = \"none\", packets = 2 }");
    assert!(extra.contains("unknown key \"packets\""), "{extra}");
}

#[test]
fn the_overhead_of_an_access_limits_a_download_by_the_arithmetic_of_airtime() {
    for (packets, overhead_us) in [(1u64, 500.0), (1, 170.0), (16, 500.0)] {
        let lines = format!(
            "medium = {{ model = \"half-duplex\", overhead = \"{overhead_us} us\", packets = {packets} }}"
        );
        let traffic = flood("down", "server", 1250).replace("40 Mbps", "60 Mbps");
        let shared = outcome(&lines, &(NONE.to_owned() + &traffic));
        // 1250 bytes take 500 us at 20 Mbps: an access takes `packets` times that, and its overhead.
        let expected = 500.0 * packets as f64 / (500.0 * packets as f64 + overhead_us);
        let share = shared.links[0].utilisation;
        assert!((share - expected).abs() < 0.002, "{share} {expected}");
    }
}

#[test]
fn two_loaded_directions_get_equal_numbers_of_accesses_and_not_equal_times() {
    let traffic = NONE.to_owned() + &flood("down", "server", 1500) + &flood("up", "client", 500);
    let shared = outcome("medium = \"half-duplex\"", &traffic);
    let [down, up] = [&shared.links[0], &shared.links[1]];
    // A cycle has 600 us down and 200 us up: 12 500 of each in 10 s, less 25 that propagate at the end. Up has two or three more, as a
    // packet of the source up comes first.
    assert!(down.delivered_packets.abs_diff(12_475) <= 30, "{down:?}");
    assert!(
        up.delivered_packets.abs_diff(down.delivered_packets) <= 4,
        "{up:?} {down:?}"
    );
    assert!((down.utilisation - 0.75).abs() < 0.001, "{down:?}");
    assert!((up.utilisation - 0.25).abs() < 0.001, "{up:?}");
}

#[test]
fn an_upload_and_a_download_share_what_each_had_for_itself() {
    let both = flow("down", "download") + &flow("up", "upload");
    let plain = outcome("", &both);
    let shared = outcome("medium = \"half-duplex\"", &both);
    let busy = |outcome: &Outcome| outcome.links[0].utilisation + outcome.links[1].utilisation;
    let carried = |outcome: &Outcome| -> f64 {
        let bytes = outcome
            .links
            .iter()
            .map(|link| link.delivered_bytes.as_u64());
        bytes.sum::<u64>() as f64
    };
    assert!((1.8..2.0).contains(&busy(&plain)), "{}", busy(&plain));
    assert!((0.97..=1.0).contains(&busy(&shared)), "{}", busy(&shared));
    let (bytes, time) = (
        carried(&shared) / carried(&plain),
        busy(&shared) / busy(&plain),
    );
    assert!((bytes - time).abs() < 0.005, "{bytes} {time}");
}

#[test]
fn a_medium_with_traffic_in_one_direction_makes_the_same_trial_as_links_of_their_own() {
    for from in ["server", "client"] {
        for rest in [
            flood("one", from, 777),
            flood("one", from, 333).replace("40 Mbps", "7 Mbps"),
        ] {
            for lines in [
                "queue = \"codel\"",
                "queue = \"fq-codel\"\nloss = \"1 %\"",
                "jitter = \"5 ms\"\nqueue = \"pie\"",
                "change = [{ at = \"2 s\", rate = \"0 bps\" }, { at = \"3 s\", rate = \"5 Mbps\", rtt = \"20 ms\" }]",
            ] {
                let rest = NONE.to_owned() + &rest;
                let own = outcome(lines, &rest);
                let shared = outcome(&format!("{lines}\nmedium = \"half-duplex\""), &rest);
                assert!(own.links.iter().any(|link| link.delivered_packets > 4_000));
                assert_eq!(
                    (own.trace_hash, own.links),
                    (shared.trace_hash, shared.links),
                    "{lines}"
                );
            }
        }
    }
}

#[test]
fn a_trial_that_starts_later_is_the_same_trial_later() {
    assert_shifts("medium = { model = \"half-duplex\", overhead = \"170 us\", packets = 8 }");
}

/// Both flows of a trial on a link with these lines end later by as much as they start later.
pub(crate) fn assert_shifts(lines: &str) {
    let at = |start: &str| {
        let flows = ["download", "upload"].map(|what| {
            flow(what, what).replace("1 GB", "2 MB") + &format!("start = \"{start}\"\n")
        });
        let flows = outcome(lines, &flows.concat()).flows;
        flows.iter().map(|flow| flow.completion).collect::<Vec<_>>()
    };
    let (now, later) = (at("0 s"), at("1234567 ns"));
    assert!(now.iter().all(Option::is_some), "{now:?}");
    let shift = Duration::from_nanos(1_234_567);
    let shifted = now.iter().map(|time| time.map(|time| time + shift));
    assert_eq!(later, shifted.collect::<Vec<_>>());
}

#[test]
fn a_medium_that_makes_no_sense_is_refused_with_what_is_accepted() {
    let refusals = [
        "medium = \"wimax\"",
        "medium = true",
        "medium = {}",
        "medium = { model = \"none\", packets = 2 }",
        "medium = { model = \"half-duplex\", access = \"1 ms\" }",
        "medium = { model = \"half-duplex\", overhead = 100 }",
        "medium = { model = \"half-duplex\", overhead = \"2 s\" }",
        "medium = { model = \"half-duplex\", packets = 0 }",
        "medium = { model = \"half-duplex\", packets = 10001 }",
        "medium = \"half-duplex\"\nnoise = { rate_sd = \"1 Mbps\" }",
        "up = { medium = \"half-duplex\" }",
        "change = [{ at = \"1 s\", medium = \"half-duplex\" }]",
    ]
    .map(|lines| refusal(&format!("rate = \"1 Mbps\"\n{lines}")));
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    a.toml:5: `medium = "wimax"`: unknown value "wimax"; accepted: one of "none", "half-duplex", "wifi"
    a.toml:5: `medium = true`: true is neither a text nor a number; accepted: "none", "half-duplex", "wifi", or a table with one of these as its model
    a.toml:5: `medium = {}`: the key "model" is missing here; accepted: "none", "half-duplex", "wifi", or a table with one of these as its model
    a.toml:5: `medium = { model = "none", packets = 2 }`: unknown key "packets"; accepted: no other key, as this choice has none
    a.toml:5: `medium = { model = "half-duplex", access = "1 ms" }`: unknown key "access"; accepted: "overhead" or "packets"
    a.toml:5: `medium = { model = "half-duplex", overhead = 100 }`: 100 has no unit; accepted: a text with a unit, such as "80 ms"
    a.toml:5: path.medium: overhead "2 s" is too long; accepted: at most "1 s"
    a.toml:5: path.medium: packets 0 is out of range; accepted: 1 to 10000 packets an access
    a.toml:5: path.medium: packets 10001 is out of range; accepted: 1 to 10000 packets an access
    a.toml:5: path.medium: cannot be combined with noise: what is sent is not known before its end
    a.toml:5: `up = { medium = "half-duplex" }`: unknown key "medium"; accepted: one of "rate", "trace", "delay", "buffer", "queue", "policer", "jitter", "loss", "ecn"
    a.toml:5: `change = [{ at = "1 s", medium = "half-duplex" }]`: unknown key "medium"; accepted: one of "at", "when", "rate", "up_rate", "rtt", "up_delay", "buffer", "jitter", "loss", "up_loss", "queue", "up_queue", "flush", "up_flush"
    "#);
}

pub(super) fn refusal(lines: &str) -> String {
    let text = format!(
        "title = \"t\"\n[path]\nrtt = \"40 ms\"\n{lines}\n[[flow]]\nname = \"main\"\ncontroller = \"c4\"\ndownload = \"1 MB\"\n"
    );
    let read = Scenario::from_toml(text.as_bytes(), "a.toml", &[], &[]);
    read.expect_err("refused").to_string()
}
