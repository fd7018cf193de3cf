//! Scenarios whose flows are connections of the kernel's TCP: `controller = "kernel:cubic"`.
//!
//! A scenario in real time is read and checked as every other: path, workloads, criteria and floors do not
//! depend on who sends. For the check, each flow has a controller of the registry in place of the
//! kernel's; it is never built.

use std::str::FromStr;
use thalweg_sim::{Scenario, ScenarioError};

/// What marks a controller of the kernel.
const PREFIX: &str = "kernel:";
/// Takes the kernel's place while the rest is checked. Which one it is makes no difference.
const STAND_IN: &str = "reno";

/// A scenario and the kernel controllers of its flows.
#[derive(Clone, Debug)]
pub struct LiveScenario {
    /// Path, workloads and criteria.
    pub scenario: Scenario,
    /// For each flow the name by which the kernel knows its controller: "cubic".
    pub controllers: Vec<String>,
    toml: String,
}

impl LiveScenario {
    /// Reads and checks a scenario; the arguments are those of [`Scenario::from_toml`].
    ///
    /// # Errors
    /// As [`Scenario::from_toml`], and if a flow has a controller that is not the kernel's.
    pub fn from_toml(
        text: &[u8],
        origin: &str,
        sets: &[(String, String)],
        controllers: &[(String, String)],
    ) -> Result<LiveScenario, ScenarioError> {
        let table = std::str::from_utf8(text).ok().and_then(read);
        let flows = table.as_ref().map(flows).unwrap_or_default();
        let mut bindings: Vec<(String, String)> = Vec::new();
        let mut kernel = Vec::new();
        for (name, in_file) in &flows {
            let mut bound = controllers.iter().rev().filter(|(flow, _)| flow == name);
            let controller = bound.next().map_or(in_file, |(_, controller)| controller);
            kernel.push(controller.clone());
            bindings.push((name.clone(), STAND_IN.to_owned()));
        }
        // Flows that do not exist are refused there, with the names of those that do.
        let unknown = controllers
            .iter()
            .filter(|(flow, _)| !flows.iter().any(|(name, _)| name == flow));
        bindings.extend(unknown.map(|(flow, _)| (flow.clone(), STAND_IN.to_owned())));
        let scenario = Scenario::from_toml(text, origin, sets, &bindings)?;
        let controllers = scenario
            .flows
            .iter()
            .zip(&kernel)
            .map(|(flow, controller)| {
                let known = controller.strip_prefix(PREFIX).filter(|name| !name.is_empty());
                known.map(str::to_owned).ok_or_else(|| {
                    let name = &flow.name;
                    let problem = format!(
                        "in real time the kernel sends, and \"{controller}\" is not one of its controllers; \
                         accepted: \"kernel:cubic\" or another of net.ipv4.tcp_available_congestion_control \
                         (--controller {name}=kernel:cubic)"
                    );
                    refuse(origin, &format!("flow.{name}.controller"), problem)
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        for flow in &scenario.flows {
            if flow.transfers(1).is_none() {
                let problem = format!(
                    "\"{}\" cannot be moved by the kernel's TCP; accepted: download = \"10 MB\" or \
                     upload = \"10 MB\" over one stream, or requests",
                    flow.workload()
                );
                return Err(refuse(origin, &format!("flow.{}", flow.name), problem));
            }
        }
        let toml = with_controllers(scenario.toml(), &controllers);
        Ok(LiveScenario {
            scenario,
            controllers,
            toml,
        })
    }

    /// The scenario as it runs, overrides included; [`LiveScenario::from_toml`] reads it back.
    pub fn toml(&self) -> &str {
        &self.toml
    }

    /// The controller of a flow as a scenario writes it: "kernel:cubic".
    pub fn controller(&self, flow: usize) -> String {
        let name = self.controllers.get(flow);
        format!("{PREFIX}{}", name.map_or("", String::as_str))
    }
}

fn read(text: &str) -> Option<toml::Table> {
    toml::Table::from_str(text).ok()
}

fn refuse(origin: &str, key: &str, problem: String) -> ScenarioError {
    ScenarioError {
        origin: origin.to_owned(),
        line: None,
        key: Some(key.to_owned()),
        problem,
    }
}

/// Names and controllers of the flows of a file; what is not there is empty, and refused later.
fn flows(table: &toml::Table) -> Vec<(String, String)> {
    let list = table.get("flow").and_then(toml::Value::as_array);
    let text = |flow: &toml::Value, key: &str| {
        let value = flow.get(key).and_then(toml::Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    list.into_iter()
        .flatten()
        .map(|flow| (text(flow, "name"), text(flow, "controller")))
        .collect()
}

/// The text of a scenario with the kernel's controllers in it.
fn with_controllers(text: &str, controllers: &[String]) -> String {
    let Some(mut table) = read(text) else {
        return text.to_owned();
    };
    let flows = table.get_mut("flow").and_then(toml::Value::as_array_mut);
    for (flow, name) in flows.into_iter().flatten().zip(controllers) {
        if let Some(flow) = flow.as_table_mut() {
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

    fn load(controllers: &[(&str, &str)]) -> Result<LiveScenario, String> {
        let controllers: Vec<_> = controllers
            .iter()
            .map(|(flow, name)| ((*flow).to_owned(), (*name).to_owned()))
            .collect();
        LiveScenario::from_toml(TEXT.as_bytes(), "two.toml", &[], &controllers)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn kernel_controllers_come_from_the_file_and_from_bindings_and_are_written_back() {
        let live = load(&[("other", "kernel:bbr")]).expect("a scenario");
        assert_eq!(live.controllers, ["cubic", "bbr"]);
        assert_eq!(live.controller(1), "kernel:bbr");
        let again = LiveScenario::from_toml(live.toml().as_bytes(), "again", &[], &[]);
        assert_eq!(again.expect("a scenario").controllers, ["cubic", "bbr"]);
    }

    #[test]
    fn a_controller_that_is_not_the_kernels_is_refused_by_name() {
        let error = load(&[]).expect_err("c4 is not in the kernel");
        assert!(
            error.contains("\"c4\"") && error.contains("other=kernel:cubic"),
            "{error}"
        );
        let error = load(&[("other", "kernel:")]).expect_err("a name is missing");
        assert!(error.contains("\"kernel:\""), "{error}");
        let error = load(&[("third", "kernel:bbr")]).expect_err("there is no such flow");
        assert!(
            error.contains("third") && error.contains("main, other"),
            "{error}"
        );
    }
}
