//! Scenarios in real time: flows are connections of the kernel's TCP (`controller = "kernel:cubic"`), or of the QUIC
//! stack under any other controller.
//!
//! A scenario in real time is read and checked as every other: path, workloads, criteria and floors do not
//! depend on who sends. For the check, each flow of the kernel has a controller of the registry in place of the
//! kernel's, which is never built. All other flows have `stack = "quic"`, also where the file does not say so: the
//! modelled endpoint has no packets that a host could send.

use crate::emulator::frame::MTU;
use crate::sys::tcp;
use std::str::FromStr;
use thalweg_sim::{Scenario, ScenarioError, StackController};
use thalweg_units::Bytes;

/// What marks a controller of the kernel.
const PREFIX: &str = "kernel:";
/// Takes the place of others while the rest is checked. Which one it is makes no difference.
const STAND_IN: &str = "reno";
/// Bytes of the headers of IPv4 and UDP, which are not part of a UDP payload.
const HEADERS: u64 = 28;

/// What carries a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// The kernel's TCP, with the congestion control of this name: "cubic".
    Kernel(String),
    /// The QUIC stack, under the controller of the flow.
    Quic,
}

/// A scenario and what carries its flows.
#[derive(Clone, Debug)]
pub struct LiveScenario {
    /// Path, workloads and criteria.
    pub scenario: Scenario,
    /// For each flow what carries it.
    pub carriers: Vec<Carrier>,
    toml: String,
}

impl LiveScenario {
    /// Reads and checks a scenario; the arguments are those of [`Scenario::from_toml`].
    ///
    /// # Errors
    /// As [`Scenario::from_toml`], and if a flow cannot be carried in real time: for example by a congestion control
    /// that this kernel does not have.
    pub fn from_toml(
        text: &[u8],
        origin: &str,
        sets: &[(String, String)],
        controllers: &[(String, String)],
    ) -> Result<LiveScenario, ScenarioError> {
        let (scenario, senders) = read_path(text, origin, sets, controllers)?;
        let asked = Asked {
            text: str::from_utf8(text).unwrap_or_default(),
            origin,
            sets,
            controllers,
        };
        let carriers: Vec<Carrier> = senders.iter().map(|name| carrier(name)).collect();
        for (index, (flow, carrier)) in scenario.flows.iter().zip(&carriers).enumerate() {
            let Carrier::Kernel(name) = carrier else {
                continue;
            };
            if name.is_empty() || !tcp::has_congestion(name).unwrap_or(true) {
                return Err(asked.refuse_controller(index, &flow.name, unknown(name)));
            }
            if !flow.is_plain() {
                let problem = format!(
                    "\"{}\" cannot be moved by the kernel's TCP; accepted: download = \"10 MB\" or \
                     upload = \"10 MB\" over one stream, or requests; or a controller of Thalweg, for QUIC",
                    flow.workload()
                );
                return Err(asked.refuse(&format!("flow.{index}"), problem));
            }
        }
        let table = read(scenario.toml()).unwrap_or_default();
        let quic = with_senders(table, &senders, &asked)?;
        // Its lines are not those of the file.
        let checked = Scenario::from_toml(quic.as_bytes(), origin, &[], &[]).map_err(|error| {
            ScenarioError {
                line: None,
                ..error
            }
        })?;
        let most = Bytes::new(MTU as u64 - HEADERS);
        for (flow, carrier) in checked.flows.iter().zip(&carriers) {
            if *carrier == Carrier::Quic && flow.initial_mtu() > most {
                let problem = format!(
                    "\"{}\" does not fit into a packet of a host; accepted in real time: at most {most}",
                    flow.initial_mtu()
                );
                return Err(asked.refuse("transport.initial_mtu", problem));
            }
        }
        Ok(LiveScenario {
            toml: with_kernel(&quic, &carriers),
            scenario: checked,
            carriers,
        })
    }

    /// The scenario as it runs, overrides included; [`LiveScenario::from_toml`] reads it back.
    pub fn toml(&self) -> &str {
        &self.toml
    }

    /// The controller of a flow as a scenario writes it: "kernel:cubic", "c4".
    pub fn controller(&self, flow: usize) -> String {
        match self.carriers.get(flow) {
            Some(Carrier::Kernel(name)) => format!("{PREFIX}{name}"),
            _ => self.scenario.flows[flow].controller.as_str().to_owned(),
        }
    }
}

/// Reads a scenario of which the path counts and not the flows, whoever is to carry them.
///
/// # Errors
/// As [`Scenario::from_toml`].
pub fn path_from_toml(
    text: &[u8],
    origin: &str,
    sets: &[(String, String)],
) -> Result<Scenario, ScenarioError> {
    read_path(text, origin, sets, &[]).map(|(scenario, _)| scenario)
}

fn carrier(controller: &str) -> Carrier {
    match controller.strip_prefix(PREFIX) {
        Some(name) => Carrier::Kernel(name.to_owned()),
        None => Carrier::Quic,
    }
}

/// Reads a scenario with controllers in place of those that the simulator's check does not know, and returns with
/// it the controllers that its flows really have.
fn read_path(
    text: &[u8],
    origin: &str,
    sets: &[(String, String)],
    controllers: &[(String, String)],
) -> Result<(Scenario, Vec<String>), ScenarioError> {
    let flows = flows(&Scenario::table(text, origin, sets)?);
    let mut bindings: Vec<(String, String)> = Vec::new();
    let mut senders = Vec::new();
    for (name, in_table) in &flows {
        // A name that is no text binds nothing: the scenario is refused for it.
        let mut bound = controllers
            .iter()
            .rev()
            .filter(|(flow, _)| Some(flow) == name.as_ref());
        let chosen = bound.next().map(|(_, controller)| controller);
        let controller = chosen.unwrap_or(in_table);
        let is_foreign = controller.starts_with(PREFIX) || StackController::is_meant_by(controller);
        if let Some(name) = name {
            if is_foreign {
                bindings.push((name.clone(), STAND_IN.to_owned()));
            } else if chosen.is_some() {
                bindings.push((name.clone(), controller.clone()));
            }
        }
        senders.push(controller.clone());
    }
    // Flows that do not exist are refused there, with the names of those that do.
    let unknown = controllers
        .iter()
        .filter(|(flow, _)| !flows.iter().any(|(name, _)| name.as_ref() == Some(flow)));
    bindings.extend(unknown.cloned());
    let scenario = Scenario::from_toml(text, origin, sets, &bindings)?;
    Ok((scenario, senders))
}

fn read(text: &str) -> Option<toml::Table> {
    toml::Table::from_str(text).ok()
}

/// Why a controller of the kernel is refused.
fn unknown(name: &str) -> String {
    let known = tcp::congestion_controls();
    let known: Vec<String> = known.iter().map(|name| format!("{PREFIX}{name}")).collect();
    let problem = match name {
        "" => "names no controller",
        _ => "is not a congestion control of this kernel",
    };
    format!(
        "\"{PREFIX}{name}\" {problem}; accepted: {}, or a controller of Thalweg",
        known.join(", ")
    )
}

/// What a scenario was read from: refusals name its places.
struct Asked<'a> {
    text: &'a str,
    origin: &'a str,
    sets: &'a [(String, String)],
    controllers: &'a [(String, String)],
}

impl Asked<'_> {
    fn refuse(&self, key: &str, problem: impl Into<String>) -> ScenarioError {
        ScenarioError::at(self.text, self.origin, self.sets, key, problem)
    }

    /// Refuses the controller of a flow where it was chosen.
    fn refuse_controller(&self, flow: usize, name: &str, problem: String) -> ScenarioError {
        match self.controllers.iter().rev().find(|(flow, _)| flow == name) {
            Some((flow, controller)) => {
                let option = format!("--controller {flow}={controller}");
                ScenarioError::of_option(option, problem)
            }
            None => self.refuse(&format!("flow.{flow}.controller"), problem),
        }
    }
}

/// Names and controllers of the flows; what is not there is empty, and refused later.
fn flows(table: &toml::Table) -> Vec<(Option<String>, String)> {
    let list = table.get("flow").and_then(toml::Value::as_array);
    let text = |flow: &toml::Value, key: &str| {
        let value = flow.get(key).and_then(toml::Value::as_str);
        value.map(str::to_owned)
    };
    list.into_iter()
        .flatten()
        .map(|flow| {
            (
                text(flow, "name"),
                text(flow, "controller").unwrap_or_default(),
            )
        })
        .collect()
}

/// The text of a scenario as it is checked for real time: flows that are not the kernel's are of the QUIC stack.
fn with_senders(
    mut table: toml::Table,
    senders: &[String],
    asked: &Asked<'_>,
) -> Result<String, ScenarioError> {
    let flows = table.get_mut("flow").and_then(toml::Value::as_array_mut);
    let flows = flows.into_iter().flatten().zip(senders).enumerate();
    for (index, (flow, sender)) in flows.filter(|(_, (_, name))| !name.starts_with(PREFIX)) {
        let Some(flow) = flow.as_table_mut() else {
            continue;
        };
        let refuse =
            |key: &str, problem| Err(asked.refuse(&format!("flow.{index}.{key}"), problem));
        if flow.get("stack").and_then(toml::Value::as_str) == Some("model") {
            let problem = "\"model\" runs in virtual time only; accepted in real time: \"quic\", or no such key";
            return refuse("stack", problem);
        }
        if flow.get("zero_rtt").and_then(toml::Value::as_bool) == Some(true) {
            let problem = "true does not run over the QUIC stack; accepted in real time: false";
            return refuse("zero_rtt", problem);
        }
        flow.insert("controller".into(), toml::Value::String(sender.clone()));
        flow.insert("stack".into(), toml::Value::String("quic".into()));
    }
    // No trial in real time repeats.
    if senders
        .iter()
        .any(|name| StackController::is_meant_by(name))
    {
        table.insert("allow_unseeded".into(), toml::Value::Boolean(true));
    }
    Ok(toml::to_string(&table).unwrap_or_default())
}

/// The text of a scenario with the kernel's controllers in it.
fn with_kernel(text: &str, carriers: &[Carrier]) -> String {
    let Some(mut table) = read(text) else {
        return text.to_owned();
    };
    let flows = table.get_mut("flow").and_then(toml::Value::as_array_mut);
    for (flow, carrier) in flows.into_iter().flatten().zip(carriers) {
        if let (Some(flow), Carrier::Kernel(name)) = (flow.as_table_mut(), carrier) {
            let controller = toml::Value::String(format!("{PREFIX}{name}"));
            flow.insert("controller".into(), controller);
        }
    }
    toml::to_string(&table).unwrap_or_default()
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
    ) -> Result<LiveScenario, String> {
        let (sets, controllers) = (owned(sets), owned(controllers));
        LiveScenario::from_toml(text.as_bytes(), "two.toml", &sets, &controllers)
            .map_err(|error| error.to_string())
    }

    fn load(controllers: &[(&str, &str)]) -> Result<LiveScenario, String> {
        read_with(TEXT, &[], controllers)
    }

    fn kernel(name: &str) -> Carrier {
        Carrier::Kernel(name.to_owned())
    }

    #[test]
    fn controllers_come_from_the_file_and_from_bindings_and_are_written_back() {
        for (bound, carrier) in [
            ("kernel:reno", kernel("reno")),
            ("cubic", Carrier::Quic),
            ("noq:cubic", Carrier::Quic),
        ] {
            let live = load(&[("other", bound)]).expect("a scenario");
            assert_eq!(live.carriers, [kernel("cubic"), carrier]);
            assert_eq!(live.controller(0), "kernel:cubic");
            assert_eq!(live.controller(1), bound);
            let again = LiveScenario::from_toml(live.toml().as_bytes(), "again", &[], &[]);
            let again = again.expect("a scenario");
            assert_eq!(
                (again.controller(1), again.toml()),
                (bound.to_owned(), live.toml())
            );
        }
        assert_eq!(load(&[]).expect("a scenario").controller(1), "c4");
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
                    assert_eq!(live.controller(1), set, "{in_file}, {key}");
                    let first = if key.contains('*') {
                        set
                    } else {
                        "kernel:cubic"
                    };
                    assert_eq!(live.controller(0), first, "{in_file}, {key}");
                }
                // As in virtual time, --controller has the last word.
                let key = [("flow.other.controller", set)];
                let live = read_with(&text, &key, &[("other", "c4:variant=v1")]);
                assert_eq!(live.expect("a scenario").controller(1), "c4:variant=v1");
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
        assert_eq!(live.carriers, [Carrier::Quic, Carrier::Quic]);
        let error = read_with(TEXT, &sets, &[("main", "c4")]).expect_err("a refusal");
        assert!(error.contains("--controller main=c4"), "{error}");
        assert!(error.contains("accepted: first, other"), "{error}");
    }

    #[test]
    fn what_cannot_be_carried_is_refused_by_name() {
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
                "virtual time",
            ),
            (
                "controller = \"c4\"",
                "controller = \"c4\"\nzero_rtt = true",
                "two.toml:13: flow.1.zero_rtt: true ",
                "QUIC stack",
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
    fn a_path_can_be_read_whoever_carries_its_flows() {
        let text = TEXT.replace("\"c4\"", "\"noq:cubic\"");
        let scenario = path_from_toml(text.as_bytes(), "two.toml", &[]).expect("a path");
        assert!(scenario.path().is_some());
        let again = Scenario::from_toml(scenario.toml().as_bytes(), "again", &[], &[]);
        assert!(again.is_ok(), "what stands in can be read by everyone");
    }
}
