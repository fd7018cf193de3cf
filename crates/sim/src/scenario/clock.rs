//! The clock that a scenario is read for: it decides what may carry a flow.

use super::error::ScenarioError;
use super::flow::{FlowController, KERNEL};
use super::schema::{Flow, ScenarioFile, Stack};
use thalweg_quic::StackController;
use thalweg_units::Bytes;

/// The clock that a scenario is read for.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// Virtual time: the modelled endpoint or the QUIC stack carries flows, and trials repeat.
    Virtual,
    /// Real time: the kernel's TCP or the QUIC stack carries flows, also where the file does not say so. The modelled
    /// endpoint has no packets that a host could send.
    Real(Host),
    /// Any: only the path counts, whatever is to carry the flows.
    Any,
}

/// What a host offers to a scenario.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Whether its kernel has a congestion control; if not, what is wrong with the name and what is accepted.
    pub congestion: fn(&str) -> Result<(), String>,
    /// The largest UDP payload of its packets.
    pub most_payload: Bytes,
}

impl Clock {
    /// Reads the controller of a flow; the error says what is accepted.
    pub(crate) fn controller(self, text: &str) -> Result<FlowController, String> {
        let Some(congestion) = text.strip_prefix(KERNEL) else {
            return text.parse();
        };
        match self {
            Clock::Virtual => {
                return Err(format!(
                    "\"{text}\" belongs to the kernel and runs in real time only; accepted: thalweg run --live, or a controller of Thalweg"
                ));
            }
            Clock::Real(host) => {
                (host.congestion)(congestion).map_err(|problem| format!("\"{text}\" {problem}"))?
            }
            Clock::Any => {}
        }
        Ok(FlowController::Kernel(text.to_owned()))
    }

    /// Gives each flow the stack that it has under this clock. `table` is what `file` was read from, and `refuse`
    /// speaks against a key of it.
    pub(crate) fn choose_stacks(
        self,
        file: &mut ScenarioFile,
        table: &toml::Table,
        refuse: impl Fn(&str, &str) -> ScenarioError,
    ) -> Result<(), ScenarioError> {
        let is_of_stack = |flow: &Flow| StackController::is_meant_by(&flow.controller);
        if !matches!(self, Clock::Virtual) {
            // No trial in real time repeats.
            file.allow_unseeded |= file.flow.iter().any(is_of_stack);
        }
        let given = table.get("flow").and_then(toml::Value::as_array);
        let given = given.into_iter().flatten();
        for (index, (flow, given)) in file.flow.iter_mut().zip(given).enumerate() {
            let is_kernel = flow.controller.starts_with(KERNEL);
            match self {
                Clock::Real(_) => {}
                Clock::Any if is_of_stack(flow) => {}
                _ => continue,
            }
            if matches!(self, Clock::Real(_)) {
                let problem = match given.get("stack").and_then(toml::Value::as_str) {
                    Some("model") => {
                        "\"model\" runs in virtual time only; accepted in real time: \"quic\", or no such key"
                    }
                    Some(_) if is_kernel => {
                        "\"quic\" does not carry a controller of the kernel; accepted: no such key, or another controller"
                    }
                    _ => "",
                };
                if !problem.is_empty() {
                    return Err(refuse(&format!("flow.{index}.stack"), problem));
                }
                if flow.zero_rtt {
                    let problem = "true does not run in real time; accepted in real time: false";
                    return Err(refuse(&format!("flow.{index}.zero_rtt"), problem));
                }
            }
            if is_kernel {
                continue;
            }
            flow.stack = Stack::Quic;
        }
        Ok(())
    }
}
