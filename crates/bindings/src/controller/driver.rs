//! A controller in Python behind the seam of every controller.
//!
//! # Model
//! Which handlers a class defines is known before a trial: the others cost a test of a pointer. A handler that is
//! defined is called with the event and the path, attached to the interpreter; then the decision is read from the
//! attributes of the instance and checked, and kept until the next call. Event and path are objects that are filled
//! anew for each call, unless the controller has kept them.

use super::definition::Definition;
use super::events::{Ack, EcnCounts, Lost, RttSample, Sent, SpuriousLoss, Timeout};
use super::failure::Failure;
use super::path::{Init, Path, Random};
use super::report::Report;
use super::{decision, observed};
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::False;
use pyo3::{PyClass, PyClassInitializer};
use std::sync::Arc;
use thalweg_control::foreign::Handler;
use thalweg_control::report::Reporter;
use thalweg_control::{Context, Control, Controller, Observer, event};
use thalweg_units::{Bytes, Ecn, Instant};

/// One controller of one end of a connection.
pub(super) struct Driver {
    definition: Arc<Definition>,
    flow: Arc<str>,
    instance: Py<PyAny>,
    /// The bound methods of the handlers that the class defines.
    methods: [Option<Py<PyAny>>; Handler::COUNT],
    control: Control,
    ecn: Ecn,
    initial_window: Bytes,
    reporter: Option<Reporter>,
    objects: Objects,
    now: Instant,
}

/// What is lent to handlers, from the first call of each kind on.
#[derive(Default)]
struct Objects {
    path: Option<Py<Path>>,
    random: Option<Py<Random>>,
    ack: Option<Py<Ack>>,
    lost: Option<Py<Lost>>,
    sent: Option<Py<Sent>>,
    rtt: Option<Py<RttSample>>,
}

impl Driver {
    /// Makes an instance, and reads its first decision.
    pub(super) fn new(
        definition: &Arc<Definition>,
        flow: &Arc<str>,
        init: &thalweg_control::Init,
    ) -> PyResult<Driver> {
        Python::attach(|py| {
            let made = definition.make.call1(py, (Init(*init),))?;
            let instance = made.bind(py);
            let control = decision::read(instance, init.initial_window)?;
            let mut methods = [const { None }; Handler::COUNT];
            for (handler, method) in Handler::ALL.into_iter().zip(&mut methods) {
                if definition.defines(handler) {
                    *method = Some(instance.getattr(handler.name())?.unbind());
                }
            }
            let every = definition.report_every;
            let hears_marks =
                definition.defines(Handler::Ecn) || definition.defines(Handler::Report);
            Ok(Driver {
                definition: Arc::clone(definition),
                flow: Arc::clone(flow),
                methods,
                control,
                ecn: decision::ecn(instance, hears_marks)?,
                initial_window: init.initial_window,
                reporter: every.map(Reporter::new),
                objects: Objects::default(),
                now: init.now,
                instance: made,
            })
        })
    }

    /// Calls a handler, if it is defined, and takes the decision; `event` makes its first argument, if it has one.
    fn call(
        &mut self,
        handler: Handler,
        cx: &mut Context<'_>,
        event: impl FnOnce(Python<'_>, &mut Objects) -> PyResult<Option<Py<PyAny>>>,
    ) {
        if self.methods[handler as usize].is_none() {
            return;
        }
        self.now = cx.now;
        let called = Python::attach(|py| self.call_attached(py, handler, cx, event));
        match called {
            Ok(control) => self.control = control,
            Err(error) => self.fail(handler, error),
        }
    }

    fn call_attached(
        &mut self,
        py: Python<'_>,
        handler: Handler,
        cx: &mut Context<'_>,
        event: impl FnOnce(Python<'_>, &mut Objects) -> PyResult<Option<Py<PyAny>>>,
    ) -> PyResult<Control> {
        let path = self.objects.path(py, cx)?;
        let event = event(py, &mut self.objects)?;
        if let Some(method) = &self.methods[handler as usize] {
            match event {
                Some(event) => method.call1(py, (event, path))?,
                None => method.call1(py, (path,))?,
            };
        }
        decision::read(self.instance.bind(py), self.initial_window)
    }

    /// Hands out a report if one is due.
    fn report(&mut self, cx: &mut Context<'_>) {
        let due = self.reporter.as_mut().and_then(|reporter| reporter.due(cx));
        if let Some(report) = due {
            self.call(Handler::Report, cx, |py, _| {
                Ok(Some(Py::new(py, Report(report))?.into_any()))
            });
        }
    }

    fn fail(&self, handler: Handler, error: PyErr) -> ! {
        let failure = Failure {
            controller: self.definition.text.clone(),
            handler: handler.name(),
            flow: self.flow.to_string(),
            now: self.now,
            error,
        };
        failure.unwind()
    }
}

impl Objects {
    fn path(&mut self, py: Python<'_>, cx: &mut Context<'_>) -> PyResult<Py<Path>> {
        let random = match &self.random {
            Some(random) => random,
            None => self.random.insert(Py::new(py, Random::new(cx.rng))?),
        };
        if let Some(path) = &self.path
            && let Some(mut path) = unshared(py, path)
        {
            path.update(cx);
        } else {
            self.path = Some(Py::new(py, Path::new(cx, random.clone_ref(py)))?);
        }
        Ok(self
            .path
            .as_ref()
            .map(|path| path.clone_ref(py))
            .expect("made above"))
    }
}

/// The object, if the controller has not kept it.
fn unshared<'py, T: PyClass<Frozen = False>>(
    py: Python<'py>,
    object: &Py<T>,
) -> Option<PyRefMut<'py, T>> {
    let object = object.bind(py);
    // SAFETY: the interpreter is attached, and the object lives as long as `object`.
    let references = unsafe { pyo3::ffi::Py_REFCNT(object.as_ptr()) };
    (references == 1)
        .then(|| object.try_borrow_mut().ok())
        .flatten()
}

/// Fills the object of a kind of event with another one.
fn filled<T: PyClass<Frozen = False> + Into<PyClassInitializer<T>>>(
    py: Python<'_>,
    slot: &mut Option<Py<T>>,
    event: T,
) -> PyResult<Option<Py<PyAny>>> {
    if let Some(object) = slot
        && let Some(mut object) = unshared(py, object)
    {
        *object = event;
    } else {
        *slot = Some(Py::new(py, event)?);
    }
    Ok(slot.as_ref().map(|object| object.clone_ref(py).into_any()))
}

impl Controller for Driver {
    fn on_handshake_rtt(&mut self, cx: &mut Context<'_>) {
        self.call(Handler::HandshakeRtt, cx, |_, _| Ok(None));
    }

    fn on_sent(&mut self, event: &event::Sent, cx: &mut Context<'_>) {
        if let Some(reporter) = &mut self.reporter {
            reporter.on_sent(event, cx.now);
        }
        self.call(Handler::Sent, cx, |py, objects| {
            filled(py, &mut objects.sent, Sent(event.clone()))
        });
    }

    fn on_ack(&mut self, event: &event::Ack, cx: &mut Context<'_>) {
        if let Some(reporter) = &mut self.reporter {
            reporter.on_ack(event, cx.now);
        }
        self.call(Handler::Ack, cx, |py, objects| {
            filled(py, &mut objects.ack, Ack(event.clone()))
        });
        self.report(cx);
    }

    fn on_lost(&mut self, event: &event::Lost, cx: &mut Context<'_>) {
        if let Some(reporter) = &mut self.reporter {
            reporter.on_lost(event);
        }
        self.call(Handler::Lost, cx, |py, objects| {
            filled(py, &mut objects.lost, Lost(event.clone()))
        });
    }

    fn on_timeout(&mut self, event: &event::Timeout, cx: &mut Context<'_>) {
        if let Some(reporter) = &mut self.reporter {
            reporter.on_timeout();
        }
        self.call(Handler::Timeout, cx, |py, _| {
            Ok(Some(Py::new(py, Timeout(event.clone()))?.into_any()))
        });
        self.report(cx);
    }

    fn on_spurious_loss(&mut self, event: &event::SpuriousLoss, cx: &mut Context<'_>) {
        self.call(Handler::SpuriousLoss, cx, |py, _| {
            Ok(Some(Py::new(py, SpuriousLoss(event.clone()))?.into_any()))
        });
    }

    fn on_ecn(&mut self, event: &event::EcnCounts, cx: &mut Context<'_>) {
        self.call(Handler::Ecn, cx, |py, _| {
            Ok(Some(Py::new(py, EcnCounts(*event))?.into_any()))
        });
    }

    fn on_rtt(&mut self, event: &event::RttSample, cx: &mut Context<'_>) {
        if let Some(reporter) = &mut self.reporter {
            reporter.on_rtt(event);
        }
        self.call(Handler::Rtt, cx, |py, objects| {
            filled(py, &mut objects.rtt, RttSample(event.clone()))
        });
    }

    fn on_app_limited(&mut self, cx: &mut Context<'_>) {
        self.call(Handler::AppLimited, cx, |_, _| Ok(None));
    }

    fn on_idle_restart(&mut self, cx: &mut Context<'_>) {
        self.call(Handler::IdleRestart, cx, |_, _| Ok(None));
    }

    fn on_seed(&mut self, window: Bytes, cx: &mut Context<'_>) {
        self.call(Handler::Seed, cx, |py, _| {
            let window = window.as_u64().into_pyobject(py)?;
            Ok(Some(window.into_any().unbind()))
        });
    }

    fn control(&self) -> Control {
        self.control
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn observe(&self, out: &mut dyn Observer) {
        let Some(method) = &self.methods[Handler::Observe as usize] else {
            return;
        };
        let shown = Python::attach(|py| observed::show(method.bind(py), out));
        if let Err(error) = shown {
            self.fail(Handler::Observe, error);
        }
    }
}
