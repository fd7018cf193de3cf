//! `[[flow]]`: its name, its controller, its stack, and ends that are not honest.

use super::Checker;
use crate::quic;
use crate::scenario::error::ScenarioError;
use crate::scenario::library::FlowStack;
use crate::scenario::limits::{REAL_STREAMS, STREAMS};
use crate::scenario::schema::{self, Flow, ReceiverConduct, ScenarioFile, SenderConduct, Stack};
use crate::scenario::{Clock, FlowController, FlowSpec};
use thalweg_transport::AckConduct;

impl Checker<'_> {
    pub(super) fn flow(
        &self,
        index: usize,
        flow: &schema::Flow,
        file: &ScenarioFile,
    ) -> Result<FlowSpec, ScenarioError> {
        let key = |name: &str| format!("flow.{index}.{name}");
        let stack = self.stack(index, flow)?;
        let controller = self.controller(index, flow, file, &stack)?;
        let most = match stack {
            FlowStack::Model => STREAMS,
            FlowStack::Quic | FlowStack::Library(_) => REAL_STREAMS,
        };
        if flow.streams == 0 || flow.streams > most {
            return self.fail(
                &key("streams"),
                format!("{} is out of range; accepted: 1 to {most}", flow.streams),
            );
        }
        let command = self.command(index, flow)?;
        let workload = self.workload(index, flow)?;
        self.check_limits(index, flow, &workload)?;
        let transport = self.transport(index, flow, file)?;
        let reports = self.reports(index, flow, &controller)?;
        if flow.stack == schema::Stack::Quic
            && let Some(why) = quic::unavailable()
        {
            let problem = format!("\"quic\" {why}; accepted: \"model\"");
            return self.fail(&key("stack"), problem);
        }
        if flow.stack == schema::Stack::Quic && flow.zero_rtt {
            let problem = "true requires stack = \"model\"";
            return self.fail(&key("zero_rtt"), problem);
        }
        if let FlowStack::Library(of) = &stack {
            self.check_carried_by_library(index, flow, of, &workload)?;
        }
        let ack_conduct = self.conduct(index, flow)?;
        let breaker = self.breaker(index, flow, &workload)?;
        let probe = self.probe(index, flow, &workload)?;
        let spec = FlowSpec {
            name: flow.name.to_string(),
            controller,
            stack,
            start: flow.start,
            background: flow.background,
            tunnel: flow.tunnel.as_deref().map(str::to_owned),
            route: self.route(index, flow, file)?,
            workload,
            transport,
            ack_conduct,
            ignores_loss: flow.sender == schema::SenderConduct::IgnoresLoss,
            reports,
            breaker,
            probe,
            command,
        };
        self.check_carried(index, &spec)?;
        Ok(spec)
    }

    /// How the receiver of a flow reports what arrives.
    fn conduct(&self, index: usize, flow: &Flow) -> Result<AckConduct, ScenarioError> {
        let key = |name: &str| format!("flow.{index}.{name}");
        let conduct = match flow.receiver {
            ReceiverConduct::Honest | ReceiverConduct::Greedy => AckConduct::Honest,
            ReceiverConduct::OptimisticAcks => AckConduct::Optimistic,
            ReceiverConduct::AckDivision => AckConduct::Divided,
            ReceiverConduct::HidesCe => AckConduct::HidesCe,
        };
        for (name, is_honest) in [
            ("receiver", flow.receiver == ReceiverConduct::Honest),
            ("sender", flow.sender == SenderConduct::Honest),
        ] {
            if !is_honest && flow.stack != Stack::Model {
                let problem = format!("a {name} that is not \"honest\" requires stack = \"model\"");
                return self.fail(&key(name), problem);
            }
        }
        if flow.receiver.has_no_limit() && flow.receive_window.is_some() {
            let problem = "receive_window cannot be combined with a receiver whose flow control has no limit, \"greedy\" or \"optimistic-acks\"";
            return self.fail(&key("receive_window"), problem);
        }
        Ok(conduct)
    }

    /// The controller of flow `index`, if its stack supports it under this clock.
    fn controller(
        &self,
        index: usize,
        flow: &schema::Flow,
        file: &ScenarioFile,
        stack: &FlowStack,
    ) -> Result<FlowController, ScenarioError> {
        let read = match stack {
            FlowStack::Library(of) => self.controller_of_library(of, flow),
            _ if matches!(flow.stack, schema::Stack::Library(_)) => {
                // Only the path is used.
                Ok(FlowController::OfLibrary(flow.controller.clone()))
            }
            _ => self.clock.controller(&flow.controller, self.registry),
        };
        let problem = match read {
            Err(problem) => problem,
            Ok(FlowController::OfStack(controller)) if flow.stack == schema::Stack::Model => {
                format!(
                    "\"{controller}\" belongs to the QUIC stack and requires stack = \"quic\" (--stack quic)"
                )
            }
            Ok(FlowController::OfStack(controller))
                if !controller.is_seeded() && !file.allow_unseeded =>
            {
                format!(
                    "\"{controller}\" requires allow_unseeded = true (--allow-unseeded): it draws random numbers that no seed determines, so its trials do not repeat"
                )
            }
            Ok(controller) => return Ok(controller),
        };
        self.fail_controller(index, flow, problem)
    }

    /// Refuses the controller of flow `index`.
    pub(super) fn fail_controller<T>(
        &self,
        index: usize,
        flow: &schema::Flow,
        problem: String,
    ) -> Result<T, ScenarioError> {
        let is_bound = self.controllers.iter().any(|(name, _)| *name == *flow.name);
        let refused = self.fail(&format!("flow.{index}.controller"), problem);
        refused.map_err(|error| ScenarioError {
            // The line of the file has another controller.
            line: error.line.filter(|_| !is_bound),
            ..error
        })
    }

    /// Whether the transport of a flow in real time supports it.
    fn check_carried(&self, index: usize, flow: &FlowSpec) -> Result<(), ScenarioError> {
        let Clock::Real(host) = self.clock else {
            return Ok(());
        };
        if flow.command.is_some() {
            return Ok(());
        }
        let is_kernel = matches!(flow.controller, FlowController::Kernel(_));
        if is_kernel && !flow.is_plain() {
            let problem = format!(
                "\"{}\" cannot be combined with the kernel's TCP, which supports a download or an \
                 upload over one stream, and requests; QUIC (a controller of Thalweg) supports all workloads",
                flow.workload()
            );
            return self.fail(&format!("flow.{index}"), problem);
        }
        if is_kernel && flow.transport.receive_window.is_some() {
            let problem = "receive_window cannot be combined with the kernel's TCP";
            return self.fail(&format!("flow.{index}.receive_window"), problem);
        }
        if !is_kernel && flow.initial_mtu() > host.most_payload {
            let problem = format!(
                "\"{}\" exceeds the MTU of a host; accepted in real time: at most {}",
                flow.initial_mtu(),
                host.most_payload
            );
            return self.fail("transport.initial_mtu", problem);
        }
        Ok(())
    }
}
