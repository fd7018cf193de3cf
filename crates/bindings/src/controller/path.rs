//! What handlers may look at in addition to the event: `Context` and `PathState` of `thalweg-control` as one object.

use super::attributes::{InPython, attributes};
use pyo3::prelude::*;
use thalweg_control::foreign::Draws;
use thalweg_control::{Context, PathState, Rng, fields};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// What a controller gets when it is created.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Init(pub(super) thalweg_control::Init);

#[pymethods]
impl Init {
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs_f64()
    }
    #[getter]
    fn mtu(&self) -> u64 {
        self.0.mtu.as_u64()
    }
    #[getter]
    fn initial_window(&self) -> u64 {
        self.0.initial_window.as_u64()
    }
}

/// The random source of one controller: it outlives the states of the path that lend it.
#[pyclass(module = "thalweg._native")]
pub(crate) struct Random(Draws);

impl Random {
    /// A source that what the transport lends determines.
    pub(super) fn new(lent: &mut Rng) -> Self {
        Random(Draws::new(lent))
    }
}

/// What the transport has measured, the present event included.
#[pyclass(module = "thalweg._native")]
pub(crate) struct Path {
    pub(crate) path: PathState,
    pub(super) now: Instant,
    random: Py<Random>,
}

impl Path {
    pub(super) fn new(cx: &Context<'_>, random: Py<Random>) -> Self {
        Path {
            path: cx.path.clone(),
            now: cx.now,
            random,
        }
    }

    pub(super) fn update(&mut self, cx: &Context<'_>) {
        self.path.clone_from(cx.path);
        self.now = cx.now;
    }
}

fields!(Path => attributes!(Path (self: Path = self) {
    /// A real number from 0 up to, not including, 1, that the seed of the trial determines.
    fn random(&self, py: Python<'_>) -> f64 {
        self.random.borrow_mut(py).0.draw()
    }
}));
