//! The clock that a scenario is read for: it decides what may carry a flow.

use crate::scenario::FlowSpec;
use crate::scenario::check::Checker;
use crate::scenario::error::ScenarioError;
use crate::scenario::schema::{Flow, ScenarioFile, Stack};
use crate::trial::stack::{FlowController, KERNEL};
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
            match self {
                Clock::Real(_) if !flow.controller.starts_with(KERNEL) => {}
                Clock::Any if is_of_stack(flow) => {}
                _ => continue,
            }
            if matches!(self, Clock::Real(_)) {
                if given.get("stack").and_then(toml::Value::as_str) == Some("model") {
                    let problem = "\"model\" runs in virtual time only; accepted in real time: \"quic\", or no such key";
                    return Err(refuse(&format!("flow.{index}.stack"), problem));
                }
                if flow.zero_rtt {
                    let problem =
                        "true does not run over the QUIC stack; accepted in real time: false";
                    return Err(refuse(&format!("flow.{index}.zero_rtt"), problem));
                }
            }
            flow.stack = Stack::Quic;
        }
        Ok(())
    }
}

impl Checker<'_> {
    /// The controller of flow `index`, if it can steer its stack under this clock.
    pub(crate) fn controller(
        &self,
        index: usize,
        flow: &Flow,
        file: &ScenarioFile,
    ) -> Result<FlowController, ScenarioError> {
        let problem = match self.clock.controller(&flow.controller) {
            Err(problem) => problem,
            Ok(FlowController::OfStack(controller)) if flow.stack == Stack::Model => format!(
                "\"{controller}\" belongs to the QUIC stack; accepted: stack = \"quic\" (--stack quic), or a controller of Thalweg"
            ),
            Ok(FlowController::OfStack(controller))
                if !controller.is_seeded() && !file.allow_unseeded =>
            {
                format!(
                    "\"{controller}\" draws random numbers that no seed determines, so that its trials do not repeat; accepted: allow_unseeded = true (--allow-unseeded), or another controller"
                )
            }
            Ok(controller) => return Ok(controller),
        };
        let is_bound = self.controllers.iter().any(|(name, _)| *name == flow.name);
        let refused = self.fail(&format!("flow.{index}.controller"), problem);
        refused.map_err(|error| ScenarioError {
            // The line of the file says another controller.
            line: error.line.filter(|_| !is_bound),
            ..error
        })
    }

    /// Whether what carries a flow in real time can carry this one.
    pub(crate) fn check_carried(&self, index: usize, flow: &FlowSpec) -> Result<(), ScenarioError> {
        let Clock::Real(host) = self.clock else {
            return Ok(());
        };
        let is_kernel = matches!(flow.controller, FlowController::Kernel(_));
        if is_kernel && !flow.is_plain() {
            let problem = format!(
                "\"{}\" cannot be moved by the kernel's TCP; accepted: download = \"10 MB\" or \
                 upload = \"10 MB\" over one stream, or requests; or a controller of Thalweg, for QUIC",
                flow.workload()
            );
            return self.fail(&format!("flow.{index}"), problem);
        }
        if !is_kernel && flow.initial_mtu() > host.most_payload {
            let problem = format!(
                "\"{}\" does not fit into a packet of a host; accepted in real time: at most {}",
                flow.initial_mtu(),
                host.most_payload
            );
            return self.fail("transport.initial_mtu", problem);
        }
        Ok(())
    }
}
