//! Probes through a scenario's path, and jitter that is replayed from a trace.

use thalweg_sim::{Probe, Scenario, probe, run_trial};
use thalweg_units::{Bytes, Duration, Instant};

const FLOW: &str = "[[flow]]\nname = \"main\"\ncontroller = \"cubic\"\ndownload = \"300 kB\"\n";

fn read(text: &str, origin: &str) -> Result<Scenario, String> {
    let text = format!("title = \"t\"\n{text}\n{FLOW}");
    Scenario::from_toml(text.as_bytes(), origin, &[], &[]).map_err(|error| error.to_string())
}

fn scenario(text: &str) -> Scenario {
    read(text, "a.toml").unwrap()
}

fn probes(scenario: &Scenario, count: u32) -> Vec<Probe> {
    let interval = Duration::from_millis(20);
    probe(scenario, 1, interval, count, Bytes::new(72))
}

#[test]
fn a_probe_takes_the_transmission_and_the_delay_of_each_link_in_both_directions() {
    // 100 bytes with headers: 0.8 ms at 1 Mbps, 0.4 ms at 2 Mbps; half of 40 ms and of 10 ms each way.
    let path = "[[link]]\nname = \"a\"\nrate = \"1 Mbps\"\nrtt = \"40 ms\"\n[[link]]\nname = \"b\"\nrate = \"2 Mbps\"\nrtt = \"10 ms\"";
    let text = format!("title = \"t\"\n{path}\n{FLOW}route = [\"a\", \"b\"]\n");
    let scenario = Scenario::from_toml(text.as_bytes(), "a.toml", &[], &[]).unwrap();
    for (n, probe) in (0..).zip(probes(&scenario, 5)) {
        let sent = Instant::START + Duration::from_millis(20) * n;
        let one_way = Duration::from_micros(20_000 + 800 + 5_000 + 400);
        assert_eq!(probe.sent, sent);
        assert_eq!(probe.echoed, Some(sent + one_way));
        assert_eq!(probe.received, Some(sent + one_way * 2));
    }
}

#[test]
fn lost_probes_have_no_time_from_there_on() {
    let all = probes(
        &scenario(
            "[path]\nrate = \"1 Mbps\"\nrtt = \"4 ms\"\nbuffer = \"10 kB\"\nloss = { model = \"random\", rate = \"20 %\" }",
        ),
        4_000,
    );
    let there = all.iter().filter(|p| p.echoed.is_some()).count();
    let back = all.iter().filter(|p| p.received.is_some()).count();
    // 4000 * 0.8 = 3200 and 4000 * 0.64 = 2560, one deviation sqrt(4000 * 0.2 * 0.8) = 25 and 30.
    assert!((3_100..3_300).contains(&there), "{there}");
    assert!((2_440..2_680).contains(&back), "{back}");
    assert!(
        all.iter()
            .all(|p| p.received.is_none() || p.echoed.is_some())
    );
}

#[test]
fn probes_meet_what_a_flow_meets_and_the_seed_decides() {
    let wifi = scenario(
        "[path]\nrate = \"10 Mbps\"\nrtt = \"4 ms\"\njitter = { model = \"wifi\", mean = \"7 ms\" }",
    );
    assert_eq!(probes(&wifi, 500), probes(&wifi, 500));
    let other = probe(&wifi, 2, Duration::from_millis(20), 500, Bytes::new(72));
    assert_ne!(probes(&wifi, 500), other);
}

#[test]
fn a_trace_of_jitter_delays_what_leaves_at_its_times_and_travels_in_the_text() {
    let file = std::env::temp_dir().join(format!("thalweg-{}.jitter", std::process::id()));
    std::fs::write(&file, "0 1000\n20000 90000\n40000 70000\n80000 3000\n").unwrap();
    let name = file.file_name().unwrap().to_str().unwrap().to_owned();
    // 1 Gbps: a packet of 100 bytes takes 0.8 us, which the interpolation sees.
    let text = format!(
        "[path]\nrate = \"1 Gbps\"\nrtt = \"0 ms\"\nbuffer = \"100 kB\"\njitter = {{ model = \"trace\", file = \"{name}\" }}"
    );
    let origin = file.with_file_name("a.toml");
    let traced = read(&text, origin.to_str().unwrap()).unwrap();
    let up: Vec<u64> = probes(&traced, 6)
        .iter()
        .map(|p| (p.echoed.unwrap() - p.sent).as_micros())
        .collect();
    // 1, 90 and 70 ms. Half way from 70 to 3 ms the fourth would arrive at 96.5 ms, but it waits for those
    // before it, which arrive at 110 ms; so does the fifth, with which the trace begins again.
    assert!(up[0].abs_diff(1_001) <= 5, "{up:?}");
    assert!(up[1].abs_diff(90_001) <= 2, "{up:?}");
    assert!(up[2].abs_diff(70_001) <= 2, "{up:?}");
    assert!(up[3].abs_diff(50_001) <= 2, "{up:?}");
    assert!(up[4].abs_diff(30_001) <= 2, "{up:?}");
    // 80 + 20 ms is 20 ms into the second period.
    assert!(up[5].abs_diff(90_001) <= 2, "{up:?}");

    let again =
        Scenario::from_toml(traced.toml().as_bytes(), "elsewhere/b.toml", &[], &[]).unwrap();
    assert!(
        traced.toml().contains("us: 0 1000 20000 90000"),
        "{}",
        traced.toml()
    );
    std::fs::remove_file(&file).unwrap();
    let hash = |scenario: &Scenario| run_trial(scenario, 1, false).0.trace_hash;
    assert_eq!(hash(&traced), hash(&again));
    let gone = read(&text, origin.to_str().unwrap()).unwrap_err();
    assert!(
        gone.contains("a.toml:6: path.jitter: cannot read"),
        "{gone}"
    );
}

#[test]
fn jitter_traces_that_make_no_sense_are_refused_at_their_key() {
    let refusal = |jitter: &str| {
        let text = format!("[path]\nrate = \"1 Mbps\"\nrtt = \"20 ms\"\n{jitter}");
        read(&text, "a.toml").unwrap_err()
    };
    let jitter = |file: &str| format!("jitter = {{ model = \"trace\", file = \"{file}\" }}");
    let list = [
        refusal(&jitter("nowhere")),
        refusal(&jitter("us: 3 1 2 1")),
        refusal(&jitter("us: 3 1")),
        refusal(&format!("[path.up]\n{}", jitter("us: 0 1 7"))),
        refusal(&format!(
            "[[path.change]]\nat = \"1 s\"\n{}",
            jitter("us: 0 x 7 1")
        )),
    ];
    insta::assert_snapshot!(list.join("\n"), @r#"
    a.toml:5: path.jitter: cannot read "nowhere": No such file or directory (os error 2); accepted: the name of a file with a time and a delay in whole microseconds on each line
    a.toml:5: path.jitter.file: pair 2: 2 us is not after 3 us; accepted: rising times
    a.toml:5: path.jitter.file: pair 1: a trace has at least two lines; accepted: two whole numbers of microseconds, a time and a delay, such as 20000 1350
    a.toml:6: path.up.jitter.file: pair 2: "7" is not a time and a delay; accepted: two whole numbers of microseconds, a time and a delay, such as 20000 1350
    a.toml:7: path.change.0.jitter.file: pair 1: "0 x" is not a time and a delay; accepted: two whole numbers of microseconds, a time and a delay, such as 20000 1350
    "#);
}

#[test]
fn components_of_wifi_have_their_own_scales() {
    // Nothing is long: 0.684 * 10 ms each way; everything is: 6.84 + 11.5 * 2 ms.
    for (fraction, want) in [("0 %", 6.84), ("100 %", 29.84)] {
        let text = format!(
            "[path]\nrate = \"1 Gbps\"\nrtt = \"0 ms\"\nbuffer = \"100 kB\"\nreorder = true\njitter = {{ model = \"two-components\", fraction = \"{fraction}\", short = \"10 ms\", long = \"2 ms\" }}"
        );
        let all = probes(&scenario(&text), 4_000);
        let ms = |p: &Probe| (p.echoed.unwrap() - p.sent).as_secs_f64() * 1e3;
        let mean = all.iter().map(ms).sum::<f64>() / 4_000.0;
        // One deviation of a draw is 8.6 to 11 ms, of the mean 0.17 ms.
        assert!((mean - want).abs() < 0.6, "{fraction}: {mean}");
    }
}

#[test]
fn probes_contend_on_a_medium_of_wifi_and_take_turns_on_one_of_half_duplex() {
    let plain = scenario("[path]\nrate = \"65 Mbps\"\nrtt = \"4 ms\"\nbuffer = \"100 kB\"");
    let on = |medium: &str| {
        let path = "rate = \"65 Mbps\"\nrtt = \"4 ms\"\nbuffer = \"100 kB\"";
        probes(
            &scenario(&format!("[path]\n{path}\nmedium = {medium}")),
            500,
        )
    };
    let round_trip = |probe: &Probe| (probe.received.unwrap() - probe.sent).as_micros();
    // Nobody else sends at the same time, and the overhead of an access comes after its packets: nothing waits.
    let turns = on("{ model = \"half-duplex\", overhead = \"200 us\" }");
    assert_eq!(turns, probes(&plain, 500));
    // Alone in the cell a round trip is always the same: 4 ms and two frames of less than 0.1 ms.
    let alone = on("\"wifi\"");
    let first = round_trip(&alone[0]);
    assert!((4_000..4_200).contains(&first), "{first}");
    assert!(alone.iter().all(|one| round_trip(one) == first));
    // With nine neighbours of 3 ms, who are on for a twentieth of the time each, some wait and none is lost.
    let apartment = on("{ model = \"wifi\", preset = \"apartment\" }");
    let waited = apartment
        .iter()
        .filter(|one| round_trip(one) > first + 1_000)
        .count();
    assert!((50..250).contains(&waited), "{waited}");
    assert!(apartment.iter().all(|one| one.received.is_some()));
}
