//! The clock of a scenario, which determines the transports of flows.

use super::command::COMMAND;
use super::error::ScenarioError;
use super::flow::{FlowController, KERNEL};
use super::schema::{Flow, ScenarioFile, Stack, names_library};
use crate::quic::StackController;
use thalweg_control::Registry;
use thalweg_units::Bytes;

/// The clock of a scenario.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// Virtual time: flows use the modelled endpoint or the QUIC stack, and trials repeat.
    Virtual,
    /// Real time: flows use the kernel's TCP or, by default, the QUIC stack. The modelled
    /// endpoint has no packets that a host could send.
    Real(Host),
    /// Any: only the path is used, whatever the transports of the flows.
    Any,
}

/// The capabilities of a host.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Whether its kernel has a congestion control; if not, the problem with the name and what is accepted.
    pub congestion: fn(&str) -> Result<(), String>,
    /// The largest UDP payload of its packets.
    pub most_payload: Bytes,
}

impl Clock {
    /// Parses the controller of a flow; the error says what is accepted.
    pub(crate) fn controller(
        self,
        text: &str,
        registry: &Registry,
    ) -> Result<FlowController, String> {
        if text.starts_with(COMMAND) {
            return match self {
                Clock::Virtual => Err(format!(
                    "\"{text}\" is a program and requires real time (thalweg run --live)"
                )),
                Clock::Real(_) | Clock::Any => Ok(FlowController::Command(text.to_owned())),
            };
        }
        let Some(congestion) = text.strip_prefix(KERNEL) else {
            return FlowController::read(text, registry);
        };
        match self {
            Clock::Virtual => {
                return Err(format!(
                    "\"{text}\" belongs to the kernel and requires real time (thalweg run --live)"
                ));
            }
            Clock::Real(host) => {
                (host.congestion)(congestion).map_err(|problem| format!("\"{text}\" {problem}"))?
            }
            Clock::Any => {}
        }
        Ok(FlowController::Kernel(text.to_owned()))
    }

    /// Sets the stack of each flow under this clock. `table` is the source of `file`, and `refuse`
    /// reports a key of it.
    pub(crate) fn choose_stacks(
        self,
        file: &mut ScenarioFile,
        table: &toml::Table,
        refuse: impl Fn(&str, &str) -> ScenarioError,
    ) -> Result<(), ScenarioError> {
        let is_of_stack = |flow: &Flow| StackController::is_meant_by(&flow.controller);
        if !matches!(self, Clock::Virtual) {
            // Trials in real time never repeat.
            file.allow_unseeded |= file.flow.iter().any(is_of_stack);
        }
        let given = table.get("flow").and_then(toml::Value::as_array);
        let given = given.into_iter().flatten();
        for (index, (flow, given)) in file.flow.iter_mut().zip(given).enumerate() {
            let is_kernel = flow.controller.starts_with(KERNEL);
            let is_program = flow.controller.starts_with(COMMAND);
            match self {
                Clock::Real(_) => {}
                Clock::Any if is_of_stack(flow) => {}
                _ => continue,
            }
            if matches!(self, Clock::Real(_)) {
                let problem = match given.get("stack").and_then(toml::Value::as_str) {
                    Some(_) if is_program => "a stack cannot be combined with a program",
                    Some("model") => {
                        "\"model\" cannot be combined with real time; use \"quic\", or no such key"
                    }
                    Some(file) if names_library(file) => {
                        "a library cannot be combined with real time; use \"quic\", or no such key"
                    }
                    Some(_) if is_kernel => {
                        "\"quic\" cannot be combined with a controller of the kernel"
                    }
                    _ => "",
                };
                if !problem.is_empty() {
                    return Err(refuse(&format!("flow.{index}.stack"), problem));
                }
                if flow.zero_rtt {
                    let problem = "true cannot be combined with real time";
                    return Err(refuse(&format!("flow.{index}.zero_rtt"), problem));
                }
                if let Some(tunnel) = &flow.tunnel {
                    let problem = format!("\"{tunnel}\" cannot be combined with real time");
                    return Err(refuse(&format!("flow.{index}.tunnel"), &problem));
                }
            }
            if is_kernel || is_program {
                continue;
            }
            flow.stack = Stack::Quic;
        }
        Ok(())
    }
}
