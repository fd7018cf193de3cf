//! What a stack from a shared library can carry, and with which controllers.

use super::{FlowStack, read, shown};
use crate::quic::Description;
use crate::scenario::check::Checker;
use crate::scenario::error::ScenarioError;
use crate::scenario::schema::{Flow, Stack};
use crate::scenario::{Clock, FlowController, Workload};
use thalweg_units::did_you_mean;

impl Checker<'_> {
    /// The stack of a flow. With any clock, only its path matters.
    pub(crate) fn stack(&self, index: usize, flow: &Flow) -> Result<FlowStack, ScenarioError> {
        match &flow.stack {
            Stack::Model => Ok(FlowStack::Model),
            Stack::Quic => Ok(FlowStack::Quic),
            Stack::Library(_) if matches!(self.clock, Clock::Any) => Ok(FlowStack::Quic),
            Stack::Library(path) => read(path).or_else(|why| {
                let problem = format!(
                    "\"{}\" {why}; accepted: \"model\", \"quic\" or a library with the functions of thalweg_stack.h",
                    shown(path)
                );
                self.fail(&format!("flow.{index}.stack"), problem)
            }),
        }
    }

    /// The controller of a flow on the stack of a library, which has its own. Any, if the library was not asked.
    pub(crate) fn controller_of_library(
        &self,
        of: &Description,
        flow: &Flow,
    ) -> Result<FlowController, String> {
        let (known, text) = (&of.inspected.controllers, flow.controller.as_str());
        let name = text.split(':').next().unwrap_or(text).trim();
        if known.is_empty() || known.iter().any(|one| one == name) {
            return Ok(FlowController::OfLibrary(text.trim().to_owned()));
        }
        let hint = did_you_mean(name, known.iter().map(String::as_str));
        Err(format!(
            "\"{text}\" is not a controller of the stack {} ({} {}){hint}; accepted: {}; or, with --set flow.{}.stack=model, one of Thalweg",
            of.named,
            of.inspected.name,
            of.inspected.version,
            known.join(", "),
            flow.name
        ))
    }

    /// Refuses what the stack of a library cannot carry.
    pub(crate) fn check_carried_by_library(
        &self,
        index: usize,
        flow: &Flow,
        of: &Description,
        workload: &Workload,
    ) -> Result<(), ScenarioError> {
        let key = |name: &str| format!("flow.{index}.{name}");
        let fail = |name: &str, what: &str| {
            let problem = format!("{what} cannot be combined with the stack of a library");
            self.fail(&key(name), problem)
        };
        if flow.zero_rtt {
            return fail("zero_rtt", "zero_rtt");
        }
        if flow.seed.is_some() {
            return fail("seed", "the state of an earlier connection");
        }
        if flow.call.is_some() {
            return fail("call", "a call");
        }
        let (name, streams) = match workload {
            Workload::Call(_) => return fail("media", "media"),
            Workload::Upload { streams, .. } => ("streams", u64::from(*streams)),
            Workload::Requests(arrivals) => ("requests.objects", u64::from(arrivals.objects)),
            Workload::Download {
                supply: Some(supply),
                ..
            } => ("chunk", supply.chunks.len() as u64),
            Workload::Download { streams, .. } => ("streams", u64::from(*streams)),
        };
        let most = of.inspected.max_streams;
        if most > 0 && streams > u64::from(most) {
            let problem = format!(
                "{streams} streams of a connection are too many for the stack {} ({}); accepted: at most {most}",
                of.named, of.inspected.name
            );
            return self.fail(&key(name), problem);
        }
        Ok(())
    }
}
