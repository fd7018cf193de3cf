//! The order of a client, and its result.

use crate::media::CallReport;
use crate::report::SenderReport;
use crate::request::Workload;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64};
use thalweg_control::ControllerSpec;
use thalweg_quic::Fingerprint;
use thalweg_transport::SenderTrace;
use thalweg_units::{Bytes, Duration};

/// The server and the request.
#[derive(Clone, Debug)]
pub struct Order {
    /// Name or address of the server.
    pub host: String,
    /// Its UDP port.
    pub port: u16,
    /// Fingerprint of its certificate.
    pub fingerprint: Fingerprint,
    /// The workload.
    pub workload: Workload,
    /// The controller of our own sender.
    pub controller: ControllerSpec,
    /// The controller requested of the server.
    pub server_controller: Option<ControllerSpec>,
    /// How long to wait for the handshake.
    pub patience: Duration,
    /// Idle timeout.
    pub idle: Duration,
    /// Whether to record the time series of our sender.
    pub trace: bool,
}

/// A request under way, shared with the display, which may stop it.
#[derive(Debug, Default)]
pub struct RequestHandle {
    /// Bytes of data transferred.
    pub moved: AtomicU64,
    /// Flag that stops the client.
    pub stop: AtomicBool,
}

/// The result of a request.
#[derive(Debug)]
pub struct Summary {
    /// Address of the server.
    pub server: SocketAddr,
    /// Length of the handshake.
    pub handshake: Duration,
    /// From the request to the first byte of data, of a download.
    pub first_byte: Option<Duration>,
    /// From the request until the last byte has arrived (download), is acknowledged (upload), or the call has ended.
    pub elapsed: Duration,
    /// Bytes of data transferred.
    pub moved: Bytes,
    /// What our own sender measured.
    pub client: SenderReport,
    /// Statistics of the server's sender.
    pub sender: SenderReport,
    /// Reception of a call here, and at the server.
    pub calls: Option<(CallReport, CallReport)>,
    /// The time series of our sender, if requested.
    pub samples: Option<SenderTrace>,
}
