//! The server and the client, with their counters and summaries as Python has them.

use crate::controller::{self, Named, Speaking, result_of};
use crate::running::watched;
use crate::trace::Trace;
use crate::{QuicFailed, QuicRefused};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use thalweg_control::ControllerSpec;
use thalweg_quic_sockets::{
    Credentials, GetError, Limits, Order, RequestHandle, Served, Server, ServerConfig, Summary,
    Workload, get,
};
use thalweg_sim::SenderTrace;
use thalweg_units::{Bytes, Duration};

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(make_quic_identity, module)?)?;
    module.add_function(wrap_pyfunction!(quic_fingerprint, module)?)?;
    module.add_function(wrap_pyfunction!(quic_get, module)?)?;
    module.add_class::<QuicServer>()
}

fn refused(error: impl std::fmt::Display) -> PyErr {
    QuicRefused::new_err(error.to_string())
}

/// The controller of `flow`, which may be one in Python: `resolve` knows those.
fn controller(name: &str, flow: &str, resolve: Py<PyAny>) -> PyResult<ControllerSpec> {
    let named = Named::new(resolve);
    let spec = controller::registry(&named).read(name);
    let spec = spec.map_err(|error| named.reason(refused(error)))?;
    Ok(named.of_flow(spec.as_str(), flow).unwrap_or(spec))
}

/// A new certificate and its key, both in DER.
#[pyfunction]
fn make_quic_identity(py: Python<'_>) -> PyResult<(Py<PyBytes>, Py<PyBytes>)> {
    let made = Credentials::make().map_err(refused)?;
    let bytes = |der: &[u8]| PyBytes::new(py, der).unbind();
    Ok((bytes(made.certificate()), bytes(made.key())))
}

/// The fingerprint of a certificate with its key.
#[pyfunction]
fn quic_fingerprint(certificate: Vec<u8>, key: Vec<u8>) -> PyResult<String> {
    let credentials = Credentials::from_der(certificate, key).map_err(refused)?;
    Ok(credentials.fingerprint().to_string())
}

/// The requested transfer, as Python names it.
fn workload(kind: &str, amount: f64) -> PyResult<Workload> {
    match kind {
        "download" => Ok(Workload::Download(Bytes::new(amount as u64))),
        "upload" => Ok(Workload::Upload(Bytes::new(amount as u64))),
        "call" => Ok(Workload::Call(Duration::from_secs_f64(amount))),
        other => Err(refused(format!("unknown workload {other}"))),
    }
}

fn name_of(workload: Workload) -> (&'static str, f64) {
    match workload {
        Workload::Download(bytes) => ("download", bytes.as_u64() as f64),
        Workload::Upload(bytes) => ("upload", bytes.as_u64() as f64),
        Workload::Call(length) => ("call", length.as_secs_f64()),
    }
}

/// Bits per second of data, for bulk transfers.
fn goodput(moved: Bytes, elapsed: Duration) -> Option<f64> {
    let takes = elapsed.as_secs_f64();
    (takes > 0.0).then(|| moved.as_u64() as f64 * 8.0 / takes)
}

/// Makes a request and moves its data. Returns the summary as JSON, and the trace if it was asked for.
#[pyfunction]
#[pyo3(signature = (host, port, fingerprint, kind, amount, controller_name, server_controller, patience_s, idle_s, trace, on_progress, resolve))]
#[expect(
    clippy::too_many_arguments,
    reason = "one keyword argument each in Python"
)]
fn quic_get(
    py: Python<'_>,
    host: String,
    port: u16,
    fingerprint: &str,
    kind: &str,
    amount: f64,
    controller_name: &str,
    server_controller: Option<&str>,
    patience_s: f64,
    idle_s: f64,
    trace: bool,
    on_progress: Option<Py<PyAny>>,
    resolve: Py<PyAny>,
) -> PyResult<(String, Option<Trace>)> {
    let order = Order {
        host,
        port,
        fingerprint: fingerprint.parse().map_err(refused)?,
        workload: workload(kind, amount)?,
        controller: controller(controller_name, "client", resolve)?,
        // Only the server knows its own files.
        server_controller: (server_controller.map(str::parse).transpose()).map_err(refused)?,
        patience: Duration::from_secs_f64(patience_s),
        idle: Duration::from_secs_f64(idle_s),
        trace,
    };
    let progress = RequestHandle::default();
    let report = || match &on_progress {
        Some(report) => {
            let moved = progress.moved.load(Ordering::Relaxed);
            report.call1(py, (moved,)).map(|_| ())
        }
        None => Ok(()),
    };
    let work = || Speaking::during(|| result_of(|| get(&order, &progress)));
    let (result, interrupted) = watched(py, &progress.stop, work, report)?;
    let result = result?.map_err(|failure| failure.into_error(py, None))?;
    match result {
        Ok(mut summary) => {
            let trace = match summary.samples.take() {
                Some(samples) => Some(trace_of(py, "client", samples)?),
                None => None,
            };
            Ok((summary_of(&order, &summary).to_string(), trace))
        }
        Err(GetError::Interrupted(_)) if interrupted => {
            Err(pyo3::exceptions::PyKeyboardInterrupt::new_err(()))
        }
        Err(error) if error.is_refusal() => Err(refused(error)),
        Err(error) => Err(QuicFailed::new_err(error.to_string())),
    }
}

fn summary_of(order: &Order, summary: &Summary) -> Value {
    let (kind, amount) = name_of(order.workload);
    let is_call = summary.calls.is_some();
    json!({
        "server": summary.server.to_string(),
        "workload": kind,
        "amount": amount,
        "handshake_s": summary.handshake.as_secs_f64(),
        "first_byte_s": summary.first_byte.map(Duration::as_secs_f64),
        "elapsed_s": summary.elapsed.as_secs_f64(),
        "bytes": (!is_call).then_some(summary.moved.as_u64()),
        "goodput_bps": (!is_call).then(|| goodput(summary.moved, summary.elapsed)).flatten(),
        "client": summary.client,
        "server_sender": summary.sender,
        "heard_by_client": summary.calls.as_ref().map(|calls| &calls.0),
        "heard_by_server": summary.calls.as_ref().map(|calls| &calls.1),
    })
}

fn served_of(served: &Served) -> Value {
    let (kind, amount) = name_of(served.workload);
    let is_call = matches!(served.workload, Workload::Call(_));
    json!({
        "client": served.address.to_string(),
        "workload": kind,
        "amount": amount,
        "elapsed_s": served.elapsed.as_secs_f64(),
        "bytes": (!is_call).then_some(served.moved.as_u64()),
        "goodput_bps": (!is_call).then(|| goodput(served.moved, served.elapsed)).flatten(),
        "error": served.error,
        "sender": served.sender,
    })
}

/// The series of a connection as the trace of a trial with one flow and no links.
fn trace_of(py: Python<'_>, name: &str, senders: SenderTrace) -> PyResult<Trace> {
    let trace = thalweg_sim::Trace {
        senders,
        flow_names: vec![name.to_owned()],
        ..thalweg_sim::Trace::default()
    };
    Trace::new(py, trace)
}

/// A server that listens.
#[pyclass(frozen, module = "thalweg._native")]
struct QuicServer {
    server: Mutex<Server>,
    progress: Arc<RequestHandle>,
    address: SocketAddr,
    fingerprint: String,
}

#[pymethods]
impl QuicServer {
    #[new]
    #[pyo3(signature = (address, port, certificate, key, controller_name, clients_choose, connections, half_open, idle_s, trace, resolve))]
    #[expect(
        clippy::too_many_arguments,
        reason = "one keyword argument each in Python"
    )]
    fn new(
        address: &str,
        port: u16,
        certificate: Vec<u8>,
        key: Vec<u8>,
        controller_name: &str,
        clients_choose: bool,
        connections: usize,
        half_open: usize,
        idle_s: f64,
        trace: bool,
        resolve: Py<PyAny>,
    ) -> PyResult<QuicServer> {
        let no_address = |_| {
            refused(format!(
                "\"{address}\" is not an address; accepted: an IPv4 or IPv6 address"
            ))
        };
        let credentials = Credentials::from_der(certificate, key).map_err(refused)?;
        let fingerprint = credentials.fingerprint().to_string();
        let server = Server::bind(ServerConfig {
            address: SocketAddr::new(address.parse().map_err(no_address)?, port),
            credentials,
            controller: controller(controller_name, "server", resolve)?,
            offered: clients_choose.then(crate::registry::all),
            limits: Limits {
                connections,
                half_open,
                retry_above: half_open / 4,
                idle: Duration::from_secs_f64(idle_s),
                ..Limits::default()
            },
            trace,
        })
        .map_err(refused)?;
        Ok(QuicServer {
            address: server.address(),
            server: Mutex::new(server),
            progress: Arc::default(),
            fingerprint,
        })
    }

    /// Address and port.
    #[getter]
    fn address(&self) -> (String, u16) {
        (self.address.ip().to_string(), self.address.port())
    }

    /// The fingerprint of its certificate.
    #[getter]
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Ends `serve`, from another thread.
    fn stop(&self) {
        self.progress.stop.store(true, Ordering::Relaxed);
    }

    /// Serves until stopped. Returns its counters, and whether Ctrl-C ended it.
    fn serve(
        &self,
        py: Python<'_>,
        duration_s: Option<f64>,
        once: bool,
        on_served: Py<PyAny>,
    ) -> PyResult<(Py<PyDict>, bool)> {
        let over: Mutex<Vec<Served>> = Mutex::default();
        let lock = || over.lock().unwrap_or_else(PoisonError::into_inner);
        let report = || {
            for mut served in std::mem::take(&mut *lock()) {
                let trace = match served.samples.take() {
                    Some(samples) => Some(trace_of(py, "server", samples)?),
                    None => None,
                };
                on_served.call1(py, (served_of(&served).to_string(), trace))?;
            }
            Ok(())
        };
        let work = || {
            let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
            let duration = duration_s.map(Duration::from_secs_f64);
            result_of(|| {
                server.serve(&self.progress.stop, duration, once, &mut |served| {
                    lock().push(served)
                })
            })
        };
        let work = || Speaking::during(work);
        let (totals, interrupted) = watched(py, &self.progress.stop, work, report)?;
        report()?;
        let totals = totals?.map_err(|failure| failure.into_error(py, None))?;
        let totals = totals.map_err(|error| QuicFailed::new_err(error.to_string()))?;
        let counts = PyDict::new(py);
        for (name, count) in [
            ("accepted", totals.accepted),
            ("completed", totals.completed),
            ("failed", totals.failed),
            ("abandoned", totals.abandoned),
            ("retried", totals.retried),
            ("refused", totals.refused),
        ] {
            counts.set_item(name, count)?;
        }
        Ok((counts.unbind(), interrupted))
    }
}
