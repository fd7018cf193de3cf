//! Criteria on states and variables of controllers, and changes of a path that follow a state.

use thalweg_sim::{FlowOutcome, Outcome, Scenario, run_audited, run_trial};

/// One flow on 20 Mbps and 40 ms for 15 s, with `path` below the keys of the path and `more` at the end.
fn one(controller: &str, path: &str, more: &str) -> String {
    format!(
        "title = \"t\"\ntime_limit = \"15 s\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"2 bdp\"\n{path}\n\
         [[flow]]\nname = \"a\"\ncontroller = \"{controller}\"\ndownload = \"1 GB\"\n{more}"
    )
}

fn pass(metric: &str, keys: &str) -> String {
    format!("[[pass]]\nflow = \"a\"\nmetric = \"{metric}\"\n{keys}\n")
}

fn scenario(text: &str) -> Scenario {
    Scenario::from_toml(text.as_bytes(), "t.toml", &[], &[]).unwrap()
}

fn outcome_of(text: &str, seed: u64) -> Outcome {
    run_audited(&scenario(text), seed, false).unwrap().0
}

/// The only number that is watched.
fn value(flow: &FlowOutcome) -> Option<f64> {
    let [(_, value)] = flow.watched.as_slice() else {
        panic!("{:?}", flow.watched)
    };
    *value
}

fn of(controller: &str, metric: &str, keys: &str) -> Option<f64> {
    value(&outcome_of(&one(controller, "", &pass(metric, keys)), 1).flows[0])
}

#[test]
fn bbr_goes_from_startup_through_drain_once_and_never_back() {
    let drain = "state = \"Drain\"\nat_most = \"2 s\"";
    let entered = of("bbr", "entered", drain).expect("BBR enters Drain");
    // Startup doubles the rate each round trip: from 10 packets to 67 is three of them, then three without growth.
    assert!((0.2..1.0).contains(&entered), "{entered} s");
    let count = |keys: &str| of("bbr", "entries", &format!("{keys}\nat_most = \"0\""));
    assert_eq!(count("state = \"Drain\""), Some(1.0));
    assert_eq!(count("state = \"Drain\"\nafter = \"Startup\""), Some(1.0));
    assert_eq!(count("state = \"Drain\"\nafter = \"ProbeRTT\""), Some(0.0));
    assert_eq!(count("state = \"Drain\"\nfrom = \"5 s\""), Some(0.0));
    assert_eq!(count("state = \"Drain\"\nuntil = \"100 ms\""), Some(0.0));
    assert_eq!(count("state = \"Drain\"\nuntil = \"5 s\""), Some(1.0));
}

#[test]
fn what_never_happens_has_no_value_but_a_count_of_zero() {
    let keys = "state = \"ProbeRTT\"\nat_most = ";
    assert_eq!(of("cubic", "entered", &format!("{keys}\"2 s\"")), None);
    assert_eq!(of("cubic", "stay", &format!("{keys}\"2 s\"")), None);
    assert_eq!(of("cubic", "entries", &format!("{keys}\"0\"")), Some(0.0));
    let keys = "variable = \"no_such\"\nat_most = \"1\"";
    assert_eq!(of("cubic", "variable", keys), None);
}

#[test]
fn bbr_stays_200_ms_and_about_a_round_trip_in_probe_rtt() {
    let keys = "state = \"ProbeRTT\"\nat_most = \"1 s\"";
    let stay = of("bbr", "stay", keys).expect("BBR probes the RTT within 15 s");
    // 200 ms from when inflight has fallen, and at least one round trip (draft-ietf-ccwg-bbr-06 section 5.3.4.3).
    assert!((0.2..0.4).contains(&stay), "{stay} s");
}

#[test]
fn the_bound_of_a_variable_chooses_its_largest_or_smallest_value() {
    let most = of(
        "bbr",
        "variable",
        "variable = \"max_bw\"\nat_most = \"21 Mbps\"",
    );
    let least = "variable = \"max_bw\"\nstate = \"Drain\"\nat_least = \"18 Mbps\"";
    let (most, least) = (most.unwrap(), of("bbr", "variable", least).unwrap());
    // Within 2 % of the link once Startup has ended.
    assert!((19.6e6..20.4e6).contains(&most), "{most} bps");
    assert!((19.6e6..=most).contains(&least), "{least} bps");
    // The gain of Drain (draft-ietf-ccwg-bbr-06 section 5.6.1).
    for bound in ["at_most", "at_least"] {
        let keys = format!("variable = \"pacing_gain\"\nstate = \"Drain\"\n{bound} = \"0.5\"");
        assert_eq!(of("bbr", "variable", &keys), Some(0.5));
    }
}

#[test]
fn window_and_rtt_of_any_controller_are_variables() {
    let window = of(
        "reno",
        "variable",
        "variable = \"window\"\nat_least = \"3 kB\"",
    )
    .unwrap();
    // Reno halves at least once and never falls to its minimum of two datagrams of 1440 bytes.
    assert!((10_000.0..150_000.0).contains(&window), "{window} B");
    let rtt = of(
        "cubic",
        "variable",
        "variable = \"smoothed_rtt\"\nat_most = \"1 s\"",
    )
    .unwrap();
    // 40 ms, and at most a queue of two BDP.
    assert!((0.04..0.13).contains(&rtt), "{rtt} s");
}

#[test]
fn to_look_at_a_controller_changes_nothing() {
    for controller in ["bbr", "c4", "cubic"] {
        let plain = outcome_of(&one(controller, "", &pass("rtt", "at_most = \"1 s\"")), 7);
        let keys = "state = \"Drain\"\nat_most = \"2 s\"";
        let watched = scenario(&one(controller, "", &pass("entered", keys)));
        let (outcome, trace) = run_trial(&watched, 7, false);
        assert_eq!(plain.trace_hash, outcome.trace_hash);
        assert!(trace.is_none());
        let (traced, trace) = run_trial(&watched, 7, true);
        assert_eq!(traced, outcome);
        assert!(trace.is_some_and(|trace| !trace.senders.samples.is_empty()));
    }
}

#[test]
fn a_change_follows_the_entry_of_a_controller_into_a_state() {
    let entered = pass("entered", "state = \"Drain\"\nat_most = \"2 s\"");
    let change = "rate = \"5 Mbps\"\nrtt = \"90 ms\"\nbuffer = \"20 kB\"\nflush = true";
    for (seed, later) in (0..20).flat_map(|seed| [0, 1, 100_000_000].map(|later| (seed, later))) {
        let at = value(&outcome_of(&one("bbr", "", &entered), seed).flows[0]).unwrap();
        let when = format!(
            "[[path.change]]\nwhen = {{ flow = \"a\", enters = \"Drain\" }}\nat = \"{later} ns\"\n{change}"
        );
        let tied = outcome_of(&one("bbr", &when, &entered), seed);
        // The entry is the same one, since what comes at that time or later cannot reach it.
        assert_eq!(value(&tied.flows[0]), Some(at));
        // It is the trial with that change at that time, to the nanosecond.
        let nanos = (at * 1e9).round() as u64 + later;
        let fixed = format!("[[path.change]]\nat = \"{nanos} ns\"\n{change}");
        let fixed = outcome_of(&one("bbr", &fixed, &entered), seed);
        assert_eq!(tied, fixed, "seed {seed}, {later} ns later");
    }
}

#[test]
fn changes_may_follow_later_entries_and_each_other_and_some_never_come() {
    let change = |state: &str, entry: u32, rate: &str| {
        format!(
            "[[path.change]]\nwhen = {{ flow = \"a\", enters = \"{state}\", entry = {entry} }}\nrate = \"{rate}\"\n"
        )
    };
    let never = change("ProbeRTT", 9, "1 Mbps");
    let count = |entries: &str| {
        pass(
            "entries",
            &format!("state = \"{entries}\"\nat_most = \"0\""),
        )
    };
    let plain = outcome_of(&one("bbr", "", &count("ProbeBW_UP")), 3);
    assert_eq!(
        outcome_of(&one("bbr", &never, &count("ProbeBW_UP")), 3),
        plain
    );
    assert!(value(&plain.flows[0]).unwrap() >= 2.0);
    // The second entry comes after the first change, which has slowed the link by then.
    let (down, back) = (
        change("ProbeBW_UP", 1, "10 Mbps"),
        change("ProbeBW_UP", 2, "20 Mbps"),
    );
    let both = outcome_of(
        &one("bbr", &format!("{down}{back}"), &count("ProbeBW_UP")),
        3,
    );
    let first = outcome_of(&one("bbr", &down, &count("ProbeBW_UP")), 3);
    let rate = |outcome: &Outcome| outcome.flows[0].mean_rate.as_bits_per_sec() as f64;
    assert!(rate(&first) < 0.75 * rate(&plain), "{}", rate(&first));
    assert!(rate(&both) > 1.1 * rate(&first), "{}", rate(&both));
    // In any order in the file.
    assert_eq!(
        outcome_of(
            &one("bbr", &format!("{back}{down}"), &count("ProbeBW_UP")),
            3
        ),
        both
    );
}

#[test]
fn a_bound_may_be_a_multiple_of_the_path_at_the_start() {
    let bound = |metric: &str, keys: &str| {
        let scenario = scenario(&one("bbr", "", &pass(metric, keys)));
        let [criterion] = scenario.criteria.as_slice() else {
            panic!("one criterion")
        };
        criterion.bound.amount().as_f64()
    };
    assert_eq!(bound("rtt", "at_most = \"3 rtt\""), 0.12);
    assert_eq!(bound("rate", "at_least = \"0.98 rate\""), 19.6e6);
    let window = |value: &str| {
        bound(
            "variable",
            &format!("variable = \"window\"\nat_most = \"{value}\""),
        )
    };
    // 20 Mbps for 40 ms are 100 kB.
    assert_eq!(window("2.5 bdp"), 250_000.0);
    assert_eq!(window("2 rtt"), 0.08);
    let wrong = one("bbr", "", &pass("rtt", "at_most = \"3 bdp\""));
    let error = Scenario::from_toml(wrong.as_bytes(), "t.toml", &[], &[]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("pass.0.at_most: \"3 bdp\" has an unknown unit"),
        "{error}"
    );
}

#[test]
fn a_state_of_a_controller_that_the_command_line_replaces_is_not_checked() {
    let text = one(
        "cubic",
        "",
        &pass("entries", "state = \"Odd one\"\nat_most = \"0\""),
    );
    let read = |controllers: &[(String, String)]| {
        Scenario::from_toml(text.as_bytes(), "t.toml", &[], controllers)
    };
    assert!(
        read(&[])
            .unwrap_err()
            .to_string()
            .contains("no controller has a state \"Odd one\"")
    );
    assert!(read(&[("a".to_owned(), "reno".to_owned())]).is_ok());
}

#[test]
fn bounds_hold_whenever_a_change_comes_that_follows_a_state() {
    let read = |path: &str, limit: &str| {
        let text = one("bbr", path, &pass("completion", "at_most = \"9 s\""))
            .replace("1 GB", "10 MB")
            .replace("15 s", limit);
        Scenario::from_toml(text.as_bytes(), "t.toml", &[], &[])
    };
    let faster = "[[path.change]]\nwhen = { flow = \"a\", enters = \"Drain\" }\nrate = \"2 Gbps\"";
    // 10 MB take 4 s on 20 Mbps: too long without the change, and far from it with 2 Gbps.
    assert!(
        read("", "3 s")
            .unwrap_err()
            .to_string()
            .contains("time_limit: \"3 s\" is too short")
    );
    let at_best = |path: &str| read(path, "30 s").unwrap().floor().unwrap().as_secs_f64();
    assert!((4.0..4.3).contains(&at_best("")), "{}", at_best(""));
    assert!((0.1..0.2).contains(&at_best(faster)), "{}", at_best(faster));
    // Its queue could hold what memory cannot.
    let endless = "[[path.change]]\nwhen = { flow = \"a\", enters = \"Drain\" }\nrate = \"1 Tbps\"\nrtt = \"10 s\"\nbuffer = \"unlimited\"";
    let text =
        one("bbr", endless, &pass("completion", "at_most = \"9 s\"")).replace("1 GB", "100000 GB");
    let error = Scenario::from_toml(text.as_bytes(), "t.toml", &[], &[]).unwrap_err();
    assert!(
        error.to_string().contains("packets of these flows can"),
        "{error}"
    );
}

#[test]
fn looking_for_criteria_adds_nothing_to_a_trace() {
    let trace_of = |metric: &str| {
        let text = one("cubic", "", &pass(metric, "at_most = \"1 s\"")).replace("1 GB", "2 MB");
        run_trial(&scenario(&text), 3, true).1.unwrap()
    };
    assert_eq!(trace_of("rtt"), trace_of("p95-queue-delay"));
}
