//! What a client is asked to do, and what came of it.

use crate::net::media::CallReport;
use crate::net::report::SenderReport;
use crate::net::request::Workload;
use crate::pinned::Fingerprint;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64};
use thalweg_control::ControllerSpec;
use thalweg_transport::SenderTrace;
use thalweg_units::{Bytes, Duration};

/// What to ask of whom.
#[derive(Clone, Debug)]
pub struct Order {
    /// Name or address of the server.
    pub host: String,
    /// Its UDP port.
    pub port: u16,
    /// Which certificate it must have.
    pub fingerprint: Fingerprint,
    /// What is to be moved.
    pub workload: Workload,
    /// The controller of our own sender.
    pub controller: ControllerSpec,
    /// The controller that the server should use, if it lets us choose.
    pub server_controller: Option<ControllerSpec>,
    /// How long to wait for the handshake.
    pub patience: Duration,
    /// Silence after which the server counts as gone.
    pub idle: Duration,
    /// Whether to record the time series of our sender.
    pub trace: bool,
}

/// How far a request is; shared with whoever shows it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes of data moved.
    pub moved: AtomicU64,
    /// Set to stop.
    pub stop: AtomicBool,
}

/// What came of a request.
#[derive(Debug)]
pub struct Summary {
    /// Address of the server.
    pub server: SocketAddr,
    /// Length of the handshake.
    pub handshake: Duration,
    /// From the request to the first byte of data, of a download.
    pub first_byte: Option<Duration>,
    /// From the request until the last byte is here (download), acknowledged (upload), or the call is over.
    pub elapsed: Duration,
    /// Bytes of data moved.
    pub moved: Bytes,
    /// What our own sender measured.
    pub client: SenderReport,
    /// What the sender of the server measured.
    pub sender: SenderReport,
    /// What we heard of a call, and what the server heard.
    pub calls: Option<(CallReport, CallReport)>,
    /// The time series of our sender, if they were asked for.
    pub samples: Option<SenderTrace>,
}
