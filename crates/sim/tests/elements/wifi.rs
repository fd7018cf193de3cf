//! A medium for which access point, client and neighbours contend, under the auditor.

use super::medium::{NONE, assert_shifts, flood, flow, outcome, refusal};

fn wifi(keys: &str) -> String {
    format!("medium = {{ model = \"wifi\"{keys} }}")
}

#[test]
fn every_preset_makes_a_trial_and_one_that_repeats() {
    for preset in ["home", "apartment", "office", "hidden", "scan"] {
        let lines = wifi(&format!(", preset = \"{preset}\""));
        let both = flow("down", "download") + &flow("up", "upload");
        let [first, second] = [(); 2].map(|()| outcome(&lines, &both));
        assert_eq!(first.trace_hash, second.trace_hash);
        assert!(
            first.links.iter().all(|link| link.delivered_packets > 500),
            "{preset}: {:?}",
            first.links
        );
    }
}

#[test]
fn a_trial_without_neighbours_that_starts_later_is_the_same_trial_later() {
    assert_shifts(&wifi(", attempts = 3"));
}

#[test]
fn a_download_gets_what_acknowledgements_and_neighbours_leave() {
    let download = |keys: &str| {
        let outcome = outcome(&wifi(keys), &flow("main", "download"));
        outcome.links[0].delivered_bytes.as_u64() as f64
    };
    let neighbours =
        |count: u32| format!(", neighbours = [{{ count = {count}, airtime = \"4 ms\" }}]");
    let (alone, one, three) = (
        download(""),
        download(&neighbours(1)),
        download(&neighbours(3)),
    );
    // 10 s at 20 Mbps, whose frames take up to 4 ms: the acknowledgements of QUIC contend for accesses of their own.
    assert!((17e6..24e6).contains(&alone), "{alone}");
    // Equal chances, and as many accesses of the client: a third of all or less with one neighbour.
    assert!(
        one < 0.6 * alone && three < 0.5 * one,
        "{alone} {one} {three}"
    );
    assert!(three > 0.1 * alone, "{alone} {one} {three}");
}

#[test]
fn a_hidden_neighbour_costs_packets_and_drivers_that_repeat_win_them_back() {
    let lost = |attempts: u32| {
        let keys = format!(
            ", packets = 1, attempts = {attempts}, neighbours = [{{ heard = \"access-point\", airtime = \"2 ms\", on = \"20 ms\", off = \"180 ms\" }}]"
        );
        let traffic = NONE.to_owned() + &flood("up", "client", 200).replace("40 Mbps", "80 kbps");
        let outcome = outcome(&wifi(&keys), &traffic);
        let link = &outcome.links[1];
        link.lost_packets as f64 / (link.lost_packets + link.delivered_packets) as f64
    };
    let (standard, repeated) = (lost(7), lost(60));
    assert!(standard > 0.01, "{standard}");
    assert!(repeated < 0.1 * standard, "{standard} {repeated}");
}

#[test]
fn a_medium_that_makes_no_sense_is_refused_with_what_is_accepted() {
    let refusals = [
        ", preset = \"castle\"",
        ", phy = \"be\"",
        ", phy = \"a\", packets = 2",
        ", packets = 65",
        ", airtime = \"20 ms\"",
        ", attempts = 0",
        ", attempts = 100000000000000000000",
        ", fallback = 0",
        ", overhead = \"1 ms\"",
        ", neighbours = [{ count = 0, airtime = \"1 ms\" }]",
        ", neighbours = [{ heard = \"nobody\", airtime = \"1 ms\" }]",
        ", neighbours = [{ count = 2 }]",
        ", neighbours = { count = 2, airtime = \"1 ms\" }",
        ", neighbours = [{ airtime = \"1 ms\", on = \"1 s\" }]",
        ", neighbours = [{ airtime = \"1 us\" }]",
        ", neighbours = [{ count = 40, airtime = \"1 ms\" }, { count = 23, airtime = \"1 ms\" }]",
        ", scan = { every = \"1 s\", length = \"1 s\" }",
        ", scan = { every = \"2 h\", length = \"1 s\" }",
    ]
    .map(|keys| refusal(&format!("rate = \"10 Mbps\"\n{}", wifi(keys))));
    let slow = [
        "rate = \"10 kbps\"\nbuffer = \"1 s\"",
        "rate = \"10 Mbps\"\nchange = [{ at = \"1 s\", up_rate = \"999 kbps\" }]",
    ]
    .map(|lines| refusal(&format!("{lines}\n{}", wifi(""))));
    insta::assert_snapshot!(refusals.into_iter().chain(slow).collect::<Vec<_>>().join("\n"), @r#"
    a.toml:5: `medium = { model = "wifi", preset = "castle" }`: unknown value "castle"; accepted: one of "home", "apartment", "office", "hidden", "scan"
    a.toml:5: `medium = { model = "wifi", phy = "be" }`: unknown value "be"; accepted: one of "b", "a", "g", "n", "ac", "ax"
    a.toml:5: path.medium: packets 2 is out of range; accepted: 1, as this physical layer has no aggregates
    a.toml:5: path.medium: packets 65 is out of range; accepted: 1 to 64 packets an access
    a.toml:5: path.medium: airtime "20 ms" is out of range; accepted: "50 us" to "10 ms"
    a.toml:5: path.medium: attempts 0 is out of range; accepted: 1 to 1000
    a.toml:5: `medium = { model = "wifi", attempts = 100000000000000000000 }`: 100000000000000000000 has too many digits; accepted: a whole number of at most 18
    a.toml:5: path.medium: fallback 0 is out of range; accepted: 1 to 1000 failures
    a.toml:5: `medium = { model = "wifi", overhead = "1 ms" }`: unknown key "overhead"; accepted: one of "preset", "phy", "access", "packets", "airtime", "attempts", "fallback", "neighbours", "scan"
    a.toml:5: path.medium.neighbours.0: count 0 is out of range; accepted: 1 to 62 stations
    a.toml:5: `medium = { model = "wifi", neighbours = [{ heard = "nobody", airtime = "1 ms" }] }`: unknown value "nobody"; accepted: one of "both", "access-point", "client", "neither"
    a.toml:5: `medium = { model = "wifi", neighbours = [{ count = 2 }] }`: the key "airtime" is missing here; accepted: airtime = "4 ms"
    a.toml:5: `medium = { model = "wifi", neighbours = { count = 2, airtime = "1 ms" } }`: a table stands in the place of a list; accepted: a list of tables, [{ ... }]
    a.toml:5: path.medium.neighbours.0: on and off belong together; accepted: both, or neither for a station that always has a frame
    a.toml:5: path.medium.neighbours.0: airtime "1 us" is out of range; accepted: "50 us" to "10 ms"
    a.toml:5: path.medium: neighbours are 63 in all; accepted: at most 62
    a.toml:5: path.medium: scan.length "1 s" is out of range; accepted: above "0 s" and below scan.every, "1 s"
    a.toml:5: path.medium: scan.every "7200 s" is out of range; accepted: "1 us" to "3600 s"
    a.toml:4: path.rate: "10 kbps" is below the lowest rate of the medium "wifi"; accepted: at least "1 Mbps", or "0 bps"
    a.toml:5: path.change.0.up_rate: "999 kbps" is below the lowest rate of the medium "wifi"; accepted: at least "1 Mbps", or "0 bps"
    "#);
}

#[test]
fn shares_of_airtime_add_up_to_one_and_only_contention_has_them() {
    let both = flow("down", "download") + &flow("up", "upload");
    for medium in ["", "medium = \"half-duplex\""] {
        let outcome = outcome(medium, &both);
        assert!(outcome.links.iter().all(|link| link.medium.is_none()));
    }
    let wifi = "medium = { model = \"wifi\", preset = \"apartment\" }";
    let outcome = outcome(wifi, &both);
    let [down, up] = [0, 1].map(|link| outcome.links[link].medium.unwrap());
    let sum = down.airtime + up.airtime + down.neighbours + down.several + down.idle;
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    assert_eq!(
        (down.neighbours, down.several, down.idle),
        (up.neighbours, up.several, up.idle)
    );
    // Nine neighbours with frames of 3 ms that are on for 30 of 600 ms: half of them would be, if one were enough to fill it.
    for share in [down.airtime, down.neighbours, down.idle] {
        assert!((0.02..0.9).contains(&share), "{down:?} {up:?}");
    }
    for end in [&down, &up] {
        let failed = end.failed_attempts.unwrap();
        assert!((0.0005..0.3).contains(&failed), "{failed}");
    }
    // With acknowledgements it has more than its frames, and less than those that collide.
    let used = outcome.links[0].utilisation;
    assert!(
        (0.8 * used..1.5 * used).contains(&down.airtime),
        "{used} {down:?}"
    );
}
