//! `[[flow]]`: its name, its controller, its stack.

use super::Checker;
use crate::scenario::error::ScenarioError;
use crate::scenario::limits::{REAL_STREAMS, STREAMS};
use crate::scenario::schema::{self, ScenarioFile};
use crate::scenario::{FlowController, FlowSpec};

impl Checker<'_> {
    pub(super) fn flow(
        &self,
        index: usize,
        flow: &schema::Flow,
        file: &ScenarioFile,
    ) -> Result<FlowSpec, ScenarioError> {
        let key = |name: &str| format!("flow.{index}.{name}");
        if flow.name.is_empty() {
            return self.fail(
                &key("name"),
                "\"\" is not a name; accepted: a text such as \"main\"",
            );
        }
        if flow.controller.starts_with("kernel:") {
            let problem = format!(
                "\"{}\" belongs to the kernel and runs in real time only; accepted: thalweg run --live, or a controller of Thalweg",
                flow.controller
            );
            return self.fail(&key("controller"), problem);
        }
        let controller: FlowController = match flow.controller.parse() {
            Ok(controller) => controller,
            Err(problem) => return self.fail(&key("controller"), problem),
        };
        if let FlowController::OfStack(controller) = &controller
            && flow.stack == schema::Stack::Model
        {
            let problem = format!(
                "\"{controller}\" belongs to the QUIC stack; accepted: stack = \"quic\" (--stack quic), or a controller of Thalweg"
            );
            return self.fail(&key("controller"), problem);
        }
        if let FlowController::OfStack(controller) = &controller
            && !controller.is_seeded()
            && !file.allow_unseeded
        {
            let problem = format!(
                "\"{controller}\" draws random numbers that no seed determines, so that its trials do not repeat; accepted: allow_unseeded = true (--allow-unseeded), or another controller"
            );
            return self.fail(&key("controller"), problem);
        }
        let most = match flow.stack {
            schema::Stack::Model => STREAMS,
            schema::Stack::Quic => REAL_STREAMS,
        };
        if flow.streams == 0 || flow.streams > most {
            return self.fail(
                &key("streams"),
                format!("{} is out of range; accepted: 1 to {most}", flow.streams),
            );
        }
        let workload = self.workload(index, flow)?;
        let transport = self.transport(flow, file)?;
        if flow.stack == schema::Stack::Quic && !thalweg_quic::is_available() {
            let problem = "\"quic\" cannot make a key, since the system gives no random numbers; accepted: \"model\"";
            return self.fail(&key("stack"), problem);
        }
        if flow.stack == schema::Stack::Quic && flow.zero_rtt {
            let problem = "true needs the modelled endpoint; accepted: stack = \"model\", or false";
            return self.fail(&key("zero_rtt"), problem);
        }
        Ok(FlowSpec {
            name: flow.name.clone(),
            controller,
            stack: flow.stack,
            start: flow.start,
            background: flow.background,
            route: self.route(index, flow, file)?,
            workload,
            transport,
        })
    }
}
