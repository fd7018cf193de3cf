//! Reports as Python sees them, in seconds, bytes and bits per second.

use pyo3::prelude::*;
use thalweg_control::report;
use thalweg_units::Duration;

/// What happened since the last report.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Report(pub(crate) report::Report);

#[pymethods]
impl Report {
    #[getter]
    fn elapsed(&self) -> f64 {
        self.0.elapsed.as_secs_f64()
    }
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered.as_u64()
    }
    #[getter]
    fn sent(&self) -> u64 {
        self.0.sent.as_u64()
    }
    #[getter]
    fn lost(&self) -> u64 {
        self.0.lost.as_u64()
    }
    #[getter]
    fn marked(&self) -> u64 {
        self.0.marked
    }
    #[getter]
    fn timeouts(&self) -> u32 {
        self.0.timeouts
    }
    #[getter]
    fn min_rtt(&self) -> Option<f64> {
        self.0.min_rtt.map(Duration::as_secs_f64)
    }
    #[getter]
    fn mean_rtt(&self) -> Option<f64> {
        self.0.mean_rtt()
    }
    #[getter]
    fn max_rtt(&self) -> Option<f64> {
        self.0.max_rtt.map(Duration::as_secs_f64)
    }
    #[getter]
    fn delivery_rate(&self) -> f64 {
        self.0.delivery_rate().as_bits_per_sec() as f64
    }
    #[getter]
    fn send_rate(&self) -> f64 {
        self.0.send_rate().as_bits_per_sec() as f64
    }
    #[getter]
    fn max_delivery_rate(&self) -> f64 {
        self.0.max_rate.as_bits_per_sec() as f64
    }
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited
    }
}
