//! Controllers that a page brings along: JavaScript and WebAssembly behind the seam of every controller.
//!
//! # Model
//! The page is asked for them ([`host`]) by texts such as `./mine.js:beta=0.8`. What a handler gets are
//! records of numbers ([`records`]), and what it decides are four numbers: so the same seam carries a class in
//! JavaScript and a module that has no objects. Values of JavaScript stay with the host; here they are handles.
//!
//! What a handler throws passes through the engine to whoever has called it, as a JavaScript exception. The engine is
//! then in the middle of a trial and must not be asked again: the page ends its worker.

mod driver;
mod host;
pub(crate) mod records;

use driver::Driver;
use host::Resolved;
use std::sync::Arc;
use thalweg_control::foreign::Handler;
use thalweg_control::report::Every;
use thalweg_control::{
    Controller, ControllerSpec, Factory, Fixed, Init, Registry, Resolver, SpecError,
};
use thalweg_sim::{FlowController, FlowSpec};

pub(crate) use host::{draw, forget_draws};

/// The controllers of Thalweg, and the controllers of the host.
pub(crate) fn registry() -> Registry {
    Registry::standard().with_resolver(Arc::new(OfHost))
}

/// Tells controllers of the host which flow is theirs, for their messages.
pub(crate) fn bind(flows: &mut [FlowSpec]) {
    for flow in flows {
        let text = flow.controller.as_str().to_owned();
        if let Some(Ok(spec)) = resolved(&text, &flow.name) {
            flow.controller = FlowController::Registry(spec);
        }
    }
}

/// What is known of a controller before a trial.
struct Definition {
    text: String,
    flow: String,
    /// Which handlers it defines.
    defined: [bool; Handler::COUNT],
    report_every: Option<Every>,
    /// Whether it decides only at ends that send data of the application.
    senders_only: bool,
}

struct OfHost;

impl Resolver for OfHost {
    fn resolve(&self, text: &str) -> Option<Result<ControllerSpec, SpecError>> {
        resolved(text, "")
    }
}

/// The controller of the host that a text names, for a flow.
fn resolved(text: &str, flow: &str) -> Option<Result<ControllerSpec, SpecError>> {
    let text = text.trim();
    let definition = host::resolve(text)?.definition(text, flow);
    let spec = definition.map(|found| ControllerSpec::new(text, Arc::new(found)));
    Some(spec.map_err(SpecError::Unresolved))
}

impl Resolved {
    fn definition(self, text: &str, flow: &str) -> Result<Definition, String> {
        let (names, every, senders_only) = match self {
            Resolved::Found {
                defined,
                report_every,
                senders_only,
            } => (defined, report_every, senders_only),
            Resolved::Thrown(message) => return Err(message),
        };
        let every = every.map(|every| Every::read(&every)).transpose();
        Ok(Definition {
            text: text.to_owned(),
            flow: flow.to_owned(),
            defined: Handler::ALL.map(|handler| names.iter().any(|name| name == handler.name())),
            report_every: every
                .map_err(|problem| format!("\"{text}\": report_every = {problem}"))?,
            senders_only,
        })
    }
}

impl Factory for Definition {
    fn build(&self, init: &Init) -> Box<dyn Controller> {
        Box::new(Driver::new(self, init))
    }

    fn build_for_receiver(&self, init: &Init) -> Box<dyn Controller> {
        match self.senders_only {
            true => Box::new(Fixed::new(init)),
            false => self.build(init),
        }
    }
}
