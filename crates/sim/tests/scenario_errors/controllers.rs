//! Criteria on states and variables of controllers, and changes that follow a state, that cannot be read.

use super::refusal;
use std::fmt::Write;

#[test]
fn a_criterion_on_a_controller_names_what_it_looks_at_and_nothing_else() {
    let metric = "metric = \"closed\"";
    let mut table = String::new();
    for to in [
        "metric = \"entered\"",
        "metric = \"stay\"\nafter = \"Startup\"",
        "metric = \"entered\"\nstate = \"Drian\"",
        "metric = \"variable\"\nstate = \"Drain\"",
        "metric = \"variable\"\nvariable = \"max_bw\"\nafter = \"Drain\"",
        "metric = \"closed\"\nstate = \"Drain\"",
        "metric = \"queue-delay\"\nfrom = \"2 s\"",
        "metric = \"entries\"\nstate = \"Drain\"",
        "metric = \"entries\"\nstate = 3",
        "metric = \"stay\"\nstate = \"Drain\"\nfrom = \"2 s\"\nuntil = \"2 s\"\n#",
    ] {
        writeln!(table, "{}", refusal(metric, to)).unwrap();
    }
    insta::assert_snapshot!(table, @r#"
    a.toml:19: pass.0.state: is missing for "entered"; accepted: state = "Drain"
    a.toml:22: pass.0.after: cannot be combined with metric "stay"
    a.toml:22: pass.0.state: no controller has a state "Drian" (did you mean "Drain"?); accepted: slow start, conservative slow start, rapid start, reconnaissance, unvalidated, validating, congestion avoidance, avoidance, recovery, congestion window reduced, slowdown, Startup, Startup_RESUME, Startup_LONG_RTT, Drain, ProbeBW, ProbeBW_DOWN, ProbeBW_CRUISE, ProbeBW_REFILL, ProbeBW_UP, ProbeRTT, Initial, Recovery, Cruising, Probing, Pushing, Resuming, Slowdown, Checking, open, disorder, window reduced, loss, accelerated ramp-up, gradual update, increase, hold, decrease, no congestion yet, after a loss, after a mark, after a delay
    a.toml:19: pass.0.variable: is missing for "variable"; accepted: variable = "max_bw"
    a.toml:23: pass.0.after: cannot be combined with metric "variable"
    a.toml:22: pass.0.state: cannot be combined with metric "closed"
    a.toml:22: pass.0.from: cannot be combined with metric "queue-delay"
    a.toml:23: pass.0.at_most: "5 s" is not a count; accepted: "0", "3"
    a.toml:22: `state = 3`: 3 is a number; accepted: a text in quotes
    a.toml:24: pass.0.until: "2 s" is not after from, "2 s"; accepted: a later time
    "#);
}

#[test]
fn a_change_that_follows_a_state_names_a_flow_and_a_state_that_exist() {
    let at = "at = \"2 s\"";
    let mut table = String::new();
    for to in [
        "rtt = \"20 ms\"",
        "when = \"Drain\"",
        "when = { flow = \"main\" }",
        "when = { flow = \"mian\", enters = \"Drain\" }",
        "when = { flow = \"main\", enters = \"Drian\" }",
        "when = { flow = \"main\", enters = \"Drain\", entry = 0 }",
        "when = { flow = \"main\", enters = \"Drain\", count = 2 }",
    ] {
        writeln!(table, "{}", refusal(at, to)).unwrap();
    }
    let drain = "when = { flow = \"main\", enters = \"Drain\" }";
    writeln!(
        table,
        "{}",
        refusal(at, &format!("{drain}\nbuffer = \"1 B\""))
    )
    .unwrap();
    insta::assert_snapshot!(table, @r#"
    a.toml:8: path.change.1.at: is missing; accepted: at = "2 s", or when = { flow = "main", enters = "Drain" }
    a.toml:9: `when = "Drain"`: "Drain" is a text; accepted: a table of keys
    a.toml:9: `when = { flow = "main" }`: the key "enters" is missing here; accepted: enters = "Drain"
    a.toml:9: path.change.1.when.flow: there is no flow "mian" (did you mean "main"?); accepted: main, other
    a.toml:9: path.change.1.when.enters: no controller has a state "Drian" (did you mean "Drain"?); accepted: slow start, conservative slow start, rapid start, reconnaissance, unvalidated, validating, congestion avoidance, avoidance, recovery, congestion window reduced, slowdown, Startup, Startup_RESUME, Startup_LONG_RTT, Drain, ProbeBW, ProbeBW_DOWN, ProbeBW_CRUISE, ProbeBW_REFILL, ProbeBW_UP, ProbeRTT, Initial, Recovery, Cruising, Probing, Pushing, Resuming, Slowdown, Checking, open, disorder, window reduced, loss, accelerated ramp-up, gradual update, increase, hold, decrease, no congestion yet, after a loss, after a mark, after a delay
    a.toml:9: path.change.1.when.entry: 0 is not an entry; the first one is 1
    a.toml:9: `when = { flow = "main", enters = "Drain", count = 2 }`: unknown key "count"; accepted: one of "flow", "enters", "entry"
    a.toml:10: path.change.1.buffer: "1 B" holds no packet; accepted: buffer = "1.28 kB" or more, the first packet of a connection with its headers
    "#);
}
