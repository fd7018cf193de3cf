//! What handlers may look at besides the event: `Context` and `PathState` of `thalweg-control` as one object.

use super::events::EcnCounts;
use pyo3::prelude::*;
use thalweg_control::foreign::Draws;
use thalweg_control::{Context, PathState, Rng};
use thalweg_units::Instant;

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
    pub(crate) state: PathState,
    pub(super) now: Instant,
    random: Py<Random>,
}

impl Path {
    pub(super) fn new(cx: &Context<'_>, random: Py<Random>) -> Self {
        Path {
            state: cx.path.clone(),
            now: cx.now,
            random,
        }
    }

    pub(super) fn update(&mut self, cx: &Context<'_>) {
        self.state.clone_from(cx.path);
        self.now = cx.now;
    }
}

#[pymethods]
impl Path {
    #[getter]
    fn now(&self) -> f64 {
        self.now.as_secs_f64()
    }
    /// A real number from 0 up to, not including, 1, that the seed of the trial determines.
    fn random(&self, py: Python<'_>) -> f64 {
        self.random.borrow_mut(py).0.draw()
    }
    #[getter]
    fn mtu(&self) -> u64 {
        self.state.mtu.as_u64()
    }
    #[getter]
    fn smoothed_rtt(&self) -> f64 {
        self.state.smoothed_rtt.as_secs_f64()
    }
    #[getter]
    fn rtt_var(&self) -> f64 {
        self.state.rtt_var.as_secs_f64()
    }
    #[getter]
    fn min_rtt(&self) -> f64 {
        self.state.min_rtt.as_secs_f64()
    }
    #[getter]
    fn latest_rtt(&self) -> f64 {
        self.state.latest_rtt.as_secs_f64()
    }
    #[getter]
    fn bytes_in_flight(&self) -> u64 {
        self.state.bytes_in_flight.as_u64()
    }
    #[getter]
    fn delivered(&self) -> u64 {
        self.state.delivered.as_u64()
    }
    #[getter]
    fn lost(&self) -> u64 {
        self.state.lost.as_u64()
    }
    #[getter]
    fn delivery_rate(&self) -> f64 {
        self.state.delivery_rate.as_bits_per_sec() as f64
    }
    #[getter]
    fn peak_rate(&self) -> f64 {
        self.state.peak_rate.as_bits_per_sec() as f64
    }
    #[getter]
    fn next_packet(&self) -> u64 {
        self.state.next_packet
    }
    #[getter]
    fn largest_acked(&self) -> Option<u64> {
        self.state.largest_acked
    }
    #[getter]
    fn lowest_unacked(&self) -> u64 {
        self.state.lowest_unacked
    }
    #[getter]
    fn ecn(&self) -> EcnCounts {
        EcnCounts(self.state.ecn)
    }
    #[getter]
    fn established(&self) -> bool {
        self.state.established
    }
    #[getter]
    fn window_limited(&self) -> bool {
        self.state.window_limited
    }
    #[getter]
    fn app_limited(&self) -> bool {
        self.state.app_limited
    }
    #[getter]
    fn last_idle(&self) -> f64 {
        self.state.last_idle.as_secs_f64()
    }
    #[getter]
    fn newest_acked_data_sent(&self) -> f64 {
        self.state.newest_acked_data_sent.as_secs_f64()
    }
}
