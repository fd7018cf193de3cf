//! How a text that names a class of controllers is resolved, and what makes its controllers.

use super::definition::Definition;
use super::driver::Driver;
use super::failure::Failure;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thalweg_control::{Controller, ControllerSpec, Factory, Fixed, Init, Resolver, SpecError};
use thalweg_sim::{FlowController, FlowSpec};

/// Makes the controllers of one flow.
struct OfFlow {
    definition: Arc<Definition>,
    flow: Arc<str>,
}

impl Factory for OfFlow {
    fn build(&self, init: &Init) -> Box<dyn Controller> {
        match Driver::new(&self.definition, &self.flow, init) {
            Ok(driver) => Box::new(driver),
            Err(error) => Failure {
                controller: self.definition.text.clone(),
                handler: "__init__",
                flow: self.flow.to_string(),
                now: init.now,
                error,
            }
            .unwind(),
        }
    }

    fn build_for_receiver(&self, init: &Init) -> Box<dyn Controller> {
        match self.definition.senders_only {
            true => Box::new(Fixed::new(init)),
            false => self.build(init),
        }
    }
}

/// Asks Python which texts name controllers there.
pub(crate) struct Named {
    /// Takes a text; returns a definition, None for a text that is not meant for it, or raises what is wrong.
    resolve: Py<PyAny>,
    known: Mutex<HashMap<String, Arc<Definition>>>,
    /// What ended a resolution that refused nothing: Ctrl-C while the file of a controller ran.
    ended: Mutex<Option<PyErr>>,
}

impl Named {
    pub(crate) fn new(resolve: Py<PyAny>) -> Arc<Named> {
        Arc::new(Named {
            resolve,
            known: Mutex::default(),
            ended: Mutex::default(),
        })
    }

    /// Why nothing could be read: `refusal`, unless a resolution was ended.
    pub(crate) fn reason(&self, refusal: PyErr) -> PyErr {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.take().unwrap_or(refusal)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Arc<Definition>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The controller that a text named when it was resolved, for flow `flow`.
    pub(crate) fn of_flow(&self, text: &str, flow: &str) -> Option<ControllerSpec> {
        let definition = Arc::clone(self.known().get(text)?);
        let flow = Arc::from(flow);
        let factory = Arc::new(OfFlow { definition, flow });
        Some(ControllerSpec::new(text, factory))
    }

    /// Tells controllers in Python which flow is theirs, for their messages; whether there are any.
    pub(crate) fn bind(&self, flows: &mut [FlowSpec]) -> bool {
        let mut any = false;
        for flow in flows {
            if let Some(spec) = self.of_flow(flow.controller.as_str(), &flow.name) {
                flow.controller = FlowController::Registry(spec);
                any = true;
            }
        }
        any
    }
}

impl Resolver for Named {
    fn resolve(&self, text: &str) -> Option<Result<ControllerSpec, SpecError>> {
        let text = text.trim();
        if let Some(spec) = self.of_flow(text, "") {
            return Some(Ok(spec));
        }
        let resolved = Python::attach(|py| {
            let resolved = self.resolve.bind(py).call1((text,))?;
            match resolved.is_none() {
                true => Ok(None),
                false => Definition::new(text, &resolved).map(Some),
            }
        });
        match resolved {
            Ok(None) => None,
            Ok(Some(definition)) => {
                self.known().insert(text.to_owned(), Arc::new(definition));
                self.of_flow(text, "").map(Ok)
            }
            Err(error) => Python::attach(|py| {
                let said = error.value(py).to_string();
                if !error.is_instance_of::<PyException>(py) {
                    *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                }
                Some(Err(SpecError::Unresolved(said)))
            }),
        }
    }
}
