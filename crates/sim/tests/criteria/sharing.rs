//! Criteria over time and of links, in trials: what they say, and that asking changes nothing.

use thalweg_sim::{Outcome, Scenario, run_audited};

/// Two flows on 20 Mbps and 40 ms, the second five seconds later, for 40 s; `more` is put at the end.
fn two(first: &str, second: &str, top: &str, more: &str) -> String {
    format!(
        "title = \"t\"\ntime_limit = \"40 s\"\n{top}\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"1 bdp\"\n\
         [[flow]]\nname = \"a\"\ncontroller = \"{first}\"\ndownload = \"1 GB\"\n\
         [[flow]]\nname = \"b\"\ncontroller = \"{second}\"\ndownload = \"1 GB\"\nstart = \"5 s\"\n{more}"
    )
}

fn pass(flow: &str, metric: &str) -> String {
    format!("[[pass]]\nflow = \"{flow}\"\nmetric = \"{metric}\"\nat_most = \"30 s\"\n")
}

fn outcome_of(text: &str, seed: u64) -> Outcome {
    let scenario = Scenario::from_toml(text.as_bytes(), "t.toml", &[], &[]).unwrap();
    run_audited(&scenario, seed, false).unwrap().0
}

#[test]
fn a_flow_that_does_not_yield_starves_the_other_and_equal_ones_do_not() {
    let of = |rate: &str| {
        let text = two(
            "reno",
            &format!("cbr:rate={rate}"),
            "",
            &pass("a", "starvation"),
        );
        outcome_of(&text, 1).flows[0]
            .starvation
            .unwrap()
            .as_secs_f64()
    };
    // Against 19.8 of 20 Mbps less than a tenth of 10 Mbps is left, most of the 35 s; against 5 Mbps three quarters are.
    let (much, little) = (of("19.8Mbps"), of("5Mbps"));
    assert!((5.0..35.1).contains(&much), "{much} s");
    assert!(little < 0.5, "{little} s");
}

#[test]
fn equal_flows_converge_and_a_flow_beside_a_constant_rate_of_a_quarter_does_not() {
    let converges = |second: &str| {
        let text = two("reno", second, "", &pass("b", "convergence"));
        outcome_of(&text, 3).flows[1].convergence
    };
    let equal = converges("reno")
        .expect("two flows of Reno share")
        .as_secs_f64();
    assert!((0.0..30.0).contains(&equal), "{equal} s");
    // 15 and 5 Mbps: Jain's index is 400 / (2 * 250) = 0.8.
    assert_eq!(converges("cbr:rate=5Mbps"), None);
}

#[test]
fn a_constant_rate_oscillates_less_than_a_sawtooth_in_a_shallow_buffer() {
    let alone = |controller: &str| {
        let text = format!(
            "title = \"t\"\ntime_limit = \"120 s\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"100 ms\"\nbuffer = \"0.1 bdp\"\n\
             [[flow]]\nname = \"a\"\ncontroller = \"{controller}\"\ndownload = \"1 GB\"\n{}",
            pass("a", "oscillation").replace("30 s", "50 %")
        );
        outcome_of(&text, 1).flows[0].oscillation.unwrap()
    };
    let (reno, cbr) = (alone("reno"), alone("cbr:rate=5Mbps"));
    assert!(cbr < 0.01, "{cbr}");
    // Between w / 2 and w evenly: the deviation is w / 4 / sqrt(3), the mean 3 w / 4, their ratio 0.19.
    assert!((0.1..0.25).contains(&reno), "{reno}");
}

#[test]
fn what_is_measured_over_time_does_not_change_the_trial_nor_depend_on_the_sample() {
    let criterion = pass("a", "starvation");
    let plain = outcome_of(&two("cubic", "bbr", "", &pass("a", "rtt")), 5);
    assert_eq!(plain.flows[0].starvation, None);
    let asked = outcome_of(&two("cubic", "bbr", "", &criterion), 5);
    assert_eq!(plain.trace_hash, asked.trace_hash);
    assert_eq!(asked.series, None, "only the sample of a scenario is kept");
    for every in ["10 ms", "50 ms", "100 ms"] {
        let sampled = two("cubic", "bbr", &format!("sample = \"{every}\""), &criterion);
        let sampled = outcome_of(&sampled, 5);
        assert!(sampled.series.is_some());
        assert_eq!(sampled.flows, asked.flows, "{every}");
    }
}

#[test]
fn flows_in_another_order_are_measured_alike() {
    let one = outcome_of(&two("cubic", "reno", "", &pass("a", "starvation")), 1);
    let text = two("cubic", "reno", "", &pass("a", "starvation"));
    let (head, flows) = text.split_once("[[flow]]\nname = \"a\"").unwrap();
    let (a, rest) = flows.split_once("[[flow]]\nname = \"b\"").unwrap();
    let (b, pass) = rest.split_once("[[pass]]").unwrap();
    let turned = format!("{head}[[flow]]\nname = \"b\"{b}[[flow]]\nname = \"a\"{a}[[pass]]{pass}");
    let other = outcome_of(&turned, 1);
    for (flow, again) in [(0, 1), (1, 0)] {
        let (flow, again) = (&one.flows[flow], &other.flows[again]);
        // Another order draws other noise, so not the same trial: both are fair by the same measure.
        assert!(flow.starvation.unwrap().as_secs_f64() < 3.0);
        assert!(again.starvation.unwrap().as_secs_f64() < 3.0);
    }
}

#[test]
fn a_link_that_is_always_busy_is_used_in_full_and_one_with_a_quarter_by_a_quarter() {
    let alone = |controller: &str| {
        let text = format!(
            "title = \"t\"\ntime_limit = \"20 s\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"2 bdp\"\n\
             [[flow]]\nname = \"a\"\ncontroller = \"{controller}\"\ndownload = \"1 GB\"\n"
        );
        outcome_of(&text, 1).flows[0].utilisation.unwrap()
    };
    let (full, quarter) = (alone("reno"), alone("cbr:rate=5Mbps"));
    assert!((0.97..=1.0).contains(&full), "{full}");
    // Headers come on top of what the controller paces: 5 of 20 Mbps and at most a tenth more.
    assert!((0.22..0.28).contains(&quarter), "{quarter}");
}

#[test]
fn what_a_link_carried_before_the_first_flow_is_not_the_use_of_the_flow() {
    // 19 Mbps for ten seconds, and then 5 Mbps for ten.
    let text = "title = \"t\"\ntime_limit = \"20 s\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\n\
        [[traffic]]\nname = \"before\"\nrate = \"19 Mbps\"\non = [[\"0 s\", \"9.9 s\"]]\n\
        [[flow]]\nname = \"a\"\ncontroller = \"cbr:rate=5Mbps\"\ndownload = \"1 GB\"\nstart = \"10 s\"\n";
    let outcome = outcome_of(text, 1);
    let (flow, link) = (
        outcome.flows[0].utilisation.unwrap(),
        outcome.links[0].utilisation,
    );
    assert!((0.22..0.28).contains(&flow), "{flow}");
    assert!((0.55..0.65).contains(&link), "{link}");
}

#[test]
fn a_trial_that_begins_later_is_judged_alike() {
    let outcome = |first: &str, second: &str, limit: &str| {
        let text = two("cubic", "bbr", "", &pass("a", "starvation"))
            .replace("start = \"5 s\"", &format!("start = \"{second}\""))
            .replace(
                "name = \"a\"",
                &format!("name = \"a\"\nstart = \"{first}\""),
            )
            .replace(
                "time_limit = \"40 s\"",
                &format!("time_limit = \"{limit}\""),
            );
        outcome_of(&text, 2)
    };
    let (one, later) = (
        outcome("0 s", "5 s", "40 s"),
        outcome("7 s", "12 s", "47 s"),
    );
    for (flow, again) in one.flows.iter().zip(&later.flows) {
        assert_eq!(flow.starvation, again.starvation);
        assert_eq!(flow.convergence, again.convergence);
        assert_eq!(flow.oscillation, again.oscillation);
        let (flow, again) = (flow.utilisation.unwrap(), again.utilisation.unwrap());
        assert!((flow - again).abs() < 1e-9, "{flow} {again}");
    }
}

#[test]
fn percentiles_of_waits_are_there_unasked_and_bound_the_mean() {
    for controller in ["cubic", "bbr", "c4"] {
        let outcome = outcome_of(&two(controller, "reno", "", &pass("a", "rtt")), 4);
        for flow in &outcome.flows {
            let [mean, p95, p99] = [
                flow.mean_queue_delay,
                flow.p95_queue_delay,
                flow.p99_queue_delay,
            ]
            .map(|wait| wait.unwrap().as_secs_f64());
            // The buffer of one BDP holds 40 ms.
            assert!(
                mean < p95 && p95 <= p99 && p99 < 0.0404,
                "{mean} {p95} {p99}"
            );
        }
    }
}
