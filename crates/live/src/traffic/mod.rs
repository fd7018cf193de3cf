//! Flows between the first left host (clients) and the first right host (servers): over the kernel's TCP, or over
//! the QUIC stack and UDP.
//!
//! # Model
//! One process drives all connections; it enters a host to create a socket there. A flow has one connection,
//! or one per request: each starts on schedule, whatever happens to earlier ones (an open
//! loop). The endpoints of a connection are in `tcp_ends.rs` and `quic_ends.rs`. Applications read and write as
//! fast as the sockets allow.
//!
//! The clock starts when everything is set up (`setup.rs`). A connection is created when it is due,
//! so that thousands of them do not delay the start; the result has the lateness of each.
//!
//! TCP: the congestion control is set on the socket that sends the data (`TCP_CONGESTION`), and its state is
//! read there (`TCP_INFO`) every 5 ms. Connections inherit no metrics from earlier ones
//! (`net.ipv4.tcp_no_metrics_save`), as in the simulator. The servers of a flow listen on one port.
//!
//! QUIC: each endpoint has its own socket, which sends as much at once as the host hands to its device, and the
//! sender is sampled as it acts, at most once per millisecond.
//!
//! Each client has its own port, which identifies it for its server and the emulator.
//!
//! # Limits
//! `TCP_INFO` has the smoothed RTT and no single samples: means and maxima of the RTT are of the smoothed
//! RTT. Losses are retransmissions, spurious losses the duplicates that the receiver reported. The QUIC stack
//! counts RTT samples and losses as in the simulator.

mod connect;
mod connection;
mod connection_result;
mod event_loop;
mod flow_trace;
mod plan;
mod ports;
mod program_ends;
mod quic_ends;
mod result;
mod setup;
mod socket;
mod tcp_ends;
mod udp;

pub(crate) use connection_result::ConnectionResult;
pub(crate) use flow_trace::FlowTrace;
pub(crate) use plan::{AllHosts, Drive, FlowPlan};
pub(crate) use ports::{FIRST_PORT, MOST_CONNECTIONS, MOST_FLOWS};
pub(crate) use result::TrafficResult;

use crate::sys::clock::Clock;
use std::io;
use thalweg_units::Instant;

/// Drives all flows until those that are awaited have closed, or until the time limit. The clock starts when all
/// is ready; `started` gets it.
///
/// # Errors
/// If the kernel refuses, for example a congestion control that this user may not choose.
pub(crate) fn drive(
    asked: &Drive<'_>,
    hosts: &AllHosts<'_>,
    started: impl FnOnce(Clock) -> io::Result<()>,
) -> Result<TrafficResult, String> {
    let mut traffic = setup::traffic(asked, hosts, started)?;
    let limit = Instant::START + asked.limit;
    traffic.run(limit).map_err(setup::refused)?;
    Ok(traffic.finish())
}
