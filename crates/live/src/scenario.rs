//! Scenarios in real time: flows are connections of the kernel's TCP (`controller = "kernel:cubic"`), or of the QUIC
//! stack with any other controller. They are read and checked like any scenario; the kernel's controllers are accepted.

use crate::emulator::frame::MTU;
use crate::sys::tcp;
use thalweg_control::Registry;
use thalweg_sim::{Clock, Host, Scenario, ScenarioError};
use thalweg_units::Bytes;

/// Bytes of the headers of IPv4 and UDP, which are not part of a UDP payload.
const HEADERS: u64 = 28;

/// This host.
const HERE: Host = Host {
    congestion,
    most_payload: Bytes::new(MTU as u64 - HEADERS),
};

/// Reads and checks a scenario whose flows run in real time; arguments as for [`Scenario::read`].
///
/// # Errors
/// As [`Scenario::from_toml`], and if a flow cannot run in real time: for example with a congestion control
/// that this kernel lacks.
pub fn flows_from_toml(
    text: &[u8],
    origin: &str,
    sets: &[(String, String)],
    controllers: &[(String, String)],
    registry: &Registry,
) -> Result<Scenario, ScenarioError> {
    Scenario::read(text, origin, sets, controllers, Clock::Real(HERE), registry)
}

/// Reads a scenario for its path; flows may have any controller.
///
/// # Errors
/// As [`Scenario::from_toml`].
pub fn path_from_toml(
    text: &[u8],
    origin: &str,
    sets: &[(String, String)],
    registry: &Registry,
) -> Result<Scenario, ScenarioError> {
    Scenario::read(text, origin, sets, &[], Clock::Any, registry)
}

/// Whether the kernel has a congestion control.
fn congestion(name: &str) -> Result<(), String> {
    let problem = match name {
        "" => "names no controller",
        _ if tcp::has_congestion(name).unwrap_or(true) => return Ok(()),
        _ => "is not a congestion control of this kernel",
    };
    let known = tcp::congestion_controls();
    let known: Vec<String> = known.iter().map(|name| format!("kernel:{name}")).collect();
    Err(format!(
        "{problem}; accepted: {}, or a controller of Thalweg",
        known.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
title = "Two"
[path]
rate = "10 Mbps"
rtt = "20 ms"
[[flow]]
name = "main"
controller = "kernel:cubic"
download = "1 MB"
[[flow]]
name = "other"
controller = "c4"
upload = "2 MB"
"#;

    fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    }

    fn read_with(
        text: &str,
        sets: &[(&str, &str)],
        controllers: &[(&str, &str)],
    ) -> Result<Scenario, String> {
        let (sets, controllers) = (owned(sets), owned(controllers));
        flows_from_toml(
            text.as_bytes(),
            "two.toml",
            &sets,
            &controllers,
            &thalweg_reference::registry(),
        )
        .map_err(|error| error.to_string())
    }

    fn load(controllers: &[(&str, &str)]) -> Result<Scenario, String> {
        read_with(TEXT, &[], controllers)
    }

    /// The controllers of the flows.
    fn controllers(scenario: &Scenario) -> Vec<&str> {
        let flows = scenario.flows.iter();
        flows.map(|flow| flow.controller.as_str()).collect()
    }

    #[test]
    fn controllers_come_from_the_file_and_from_bindings_and_are_written_back() {
        for bound in ["kernel:reno", "cubic", "noq:cubic"] {
            let read = load(&[("other", bound)]).expect("a scenario");
            assert_eq!(controllers(&read), ["kernel:cubic", bound]);
            let again = flows_from_toml(
                read.toml().as_bytes(),
                "again",
                &[],
                &[],
                &thalweg_reference::registry(),
            );
            let again = again.expect("a scenario");
            assert_eq!(controllers(&again), controllers(&read));
            assert_eq!(again.toml(), read.toml());
        }
        let read = load(&[]).expect("a scenario");
        assert_eq!(controllers(&read), ["kernel:cubic", "c4"]);
        assert_eq!(read.toml(), TEXT, "it is not rewritten");
    }

    #[test]
    fn a_set_controller_takes_the_place_of_the_one_in_the_file_whoever_knows_either() {
        let foreign_or_not = ["kernel:cubic", "noq:cubic", "c4"];
        for in_file in foreign_or_not {
            let text = TEXT.replace("\"c4\"", &format!("\"{in_file}\""));
            for set in ["kernel:reno", "noq:newreno", "cubic"] {
                for key in [
                    "flow.other.controller",
                    "flow.1.controller",
                    "flow.*.controller",
                ] {
                    let live = read_with(&text, &[(key, set)], &[]).expect("a scenario");
                    assert_eq!(controllers(&live)[1], set, "{in_file}, {key}");
                    let first = if key.contains('*') {
                        set
                    } else {
                        "kernel:cubic"
                    };
                    assert_eq!(controllers(&live)[0], first, "{in_file}, {key}");
                }
                // As in virtual time, --controller has the last word.
                let key = [("flow.other.controller", set)];
                let live = read_with(&text, &key, &[("other", "bbr:variant=picoquic")]);
                assert_eq!(
                    controllers(&live.expect("a scenario"))[1],
                    "bbr:variant=picoquic"
                );
            }
            let error = read_with(&text, &[("flow.other.controller", "c44")], &[]);
            let error = error.expect_err("a refusal");
            assert!(error.contains("--set flow.other.controller=c44"), "{error}");
        }
    }

    #[test]
    fn a_flow_that_was_given_another_name_is_bound_by_that_name() {
        let sets = [("flow.main.name", "first")];
        let live = read_with(TEXT, &sets, &[("first", "c4")]).expect("a scenario");
        assert_eq!(controllers(&live), ["c4", "c4"]);
        let error = read_with(TEXT, &sets, &[("main", "c4")]).expect_err("a refusal");
        assert!(error.contains("--controller main=c4"), "{error}");
        assert!(error.contains("accepted: first, other"), "{error}");
    }

    #[test]
    fn unsupported_flows_are_refused_by_name() {
        for (bindings, parts) in [
            (
                ("other", "kernel:"),
                ["--controller other=kernel:", "names no controller"],
            ),
            (
                ("other", "kernel:none-such"),
                ["--controller other=kernel:none-such", "accepted: kernel:"],
            ),
            (("other", "c44"), ["c44", "c4"]),
            (("other", "noq:none"), ["noq:none", "noq:newreno"]),
            (
                ("third", "kernel:reno"),
                ["third=kernel:reno", "main, other"],
            ),
        ] {
            let error = load(&[bindings]).expect_err("a refusal");
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
    }

    #[test]
    fn a_refusal_names_the_line_of_the_file_or_what_was_set() {
        for (from, to, start, part) in [
            (
                "\"kernel:cubic\"",
                "\"kernel:none-such\"",
                "two.toml:8: flow.0.controller: \"kernel:none-such\" ",
                "; accepted: kernel:",
            ),
            (
                "controller = \"c4\"",
                "controller = \"c4\"\nstack = \"model\"",
                "two.toml:13: flow.1.stack: \"model\" ",
                "cannot be combined with real time",
            ),
            (
                "controller = \"c4\"",
                "controller = \"c4\"\ntunnel = \"vpn\"",
                "two.toml:13: flow.1.tunnel: \"vpn\" ",
                "cannot be combined with real time",
            ),
            (
                "controller = \"c4\"",
                "controller = \"c4\"\ncircuit_breaker = { model = \"transport\", loss = \"10 %\", interval = \"1 s\" }",
                "two.toml:13: flow.1.circuit_breaker: ",
                "cannot be combined with real time",
            ),
            (
                "[path]",
                "[path]\nmedium = \"half-duplex\"",
                "two.toml:4: path.medium: ",
                "cannot be combined with real time",
            ),
            (
                "controller = \"c4\"",
                "controller = \"c4\"\nzero_rtt = true",
                "two.toml:13: flow.1.zero_rtt: true ",
                "cannot be combined with real time",
            ),
            (
                "\"kernel:cubic\"",
                "\"kernel:cubic\"\nstack = \"quic\"",
                "two.toml:9: flow.0.stack: \"quic\" ",
                "of the kernel",
            ),
            (
                "\"kernel:cubic\"",
                "\"kernel:cubic\"\nzero_rtt = true",
                "two.toml:9: flow.0.zero_rtt: true ",
                "cannot be combined with real time",
            ),
            (
                "download = \"1 MB\"",
                "call = \"5 s\"",
                "two.toml:6: flow.0: \"call: audio, video, video-high\" ",
                "kernel's TCP",
            ),
            (
                "[path]",
                "transport.initial_mtu = \"1473 B\"\n[path]",
                "two.toml:3: transport.initial_mtu: \"1.473 kB\" ",
                "at most 1.472 kB",
            ),
        ] {
            let error = read_with(&TEXT.replace(from, to), &[], &[]).expect_err("a refusal");
            assert!(error.starts_with(start), "{error}");
            assert!(error.contains(part), "{error}");
        }
        let set = [("flow.other.controller", "kernel:none-such")];
        let error = read_with(TEXT, &set, &[]).expect_err("a refusal");
        let start = "two.toml --set flow.other.controller=kernel:none-such: flow.1.controller: ";
        assert!(error.starts_with(start), "{error}");
    }

    #[test]
    fn what_is_refused_under_every_clock_keeps_its_line_beside_a_flow_of_the_kernel() {
        let text = TEXT.replace("\"2 MB\"", "\"2 MB\"\nstreams = 0");
        for bound in [
            &[][..],
            &[("main", "kernel:reno")],
            &[("other", "noq:cubic")],
        ] {
            let error = read_with(&text, &[], bound).expect_err("a refusal");
            assert!(
                error.starts_with("two.toml:14: flow.1.streams: 0 "),
                "{error}"
            );
        }
    }

    #[test]
    fn a_path_can_be_read_whatever_the_controllers_of_its_flows() {
        let text = TEXT.replace("\"c4\"", "\"noq:cubic\"");
        let scenario = path_from_toml(
            text.as_bytes(),
            "two.toml",
            &[],
            &thalweg_reference::registry(),
        )
        .expect("a path");
        assert!(scenario.path().is_some());
        let again = path_from_toml(
            scenario.toml().as_bytes(),
            "again",
            &[],
            &thalweg_reference::registry(),
        );
        assert!(again.is_ok());
    }
}
