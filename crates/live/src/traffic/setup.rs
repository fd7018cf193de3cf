//! Setup before the clock starts: settings of the hosts, servers, and the first connection of each flow
//! of the QUIC stack.

use super::connection::{Connection, Ends};
use super::event_loop::{Flow, TcpServer, Traffic, Transport, is_first_of_flow};
use super::flow_trace::FlowRecorder;
use super::plan::{AllHosts, Drive};
use super::ports::SERVER_PORT;
use super::program_ends::ProgramEnds;
use super::quic_ends::QuicEnds;
use crate::host::Host;
use crate::outcome::sender_names;
use crate::sys::clock::Clock;
use crate::sys::events::Epoll;
use crate::sys::tcp;
use std::cmp::Reverse;
use std::fs;
use std::io;
use std::net::{SocketAddrV4, TcpListener};
use thalweg_units::Instant;

/// The largest socket buffers of the kernel, large enough not to limit a flow.
const LARGEST_BUFFER: &str = "67108864";

pub(super) fn refused(error: io::Error) -> String {
    format!("the kernel refuses: {error}")
}

/// Everything ready to start. `started` gets the clock.
pub(super) fn traffic<'a>(
    asked: &Drive<'a>,
    all: &AllHosts<'a>,
    started: impl FnOnce(Clock) -> io::Result<()>,
) -> Result<Traffic<'a>, String> {
    let hosts = all.shared;
    for host in all.of_programs.iter().flatten().chain(&hosts) {
        enter(host)?;
    }
    let [left, right] = hosts;
    let mut flows = Vec::new();
    let mut connections = Vec::new();
    for ((index, plan), port) in asked.plans.iter().enumerate().zip(SERVER_PORT..) {
        let transport = transport(asked, index, SocketAddrV4::new(right.v4, port))?;
        let own = plan.transfers.iter();
        connections.extend(own.map(|&(start, transfer)| Connection::new(index, start, transfer)));
        flows.push(Flow {
            transport,
            awaited: plan.awaited,
            unfinished: plan.transfers.len(),
            incomplete: plan.transfers.len(),
        });
    }
    prepare_programs(asked, all, &mut connections)?;
    left.enter().map_err(refused)?;
    // The first connection of each flow is created before the clock starts: flows may start together.
    for index in 0..connections.len() {
        if is_first_of_flow(&connections, index)
            && let Transport::Quic(following) = &mut flows[connections[index].flow].transport
            && let Some(first) = following.next()
        {
            let ends = QuicEnds::new(index, first, hosts, asked.record).map_err(refused)?;
            connections[index].ends = Ends::Quic(Box::new(ends));
        }
    }
    let mut upcoming: Vec<usize> = (0..connections.len()).collect();
    // What starts at the same time as programs starts before them: they take the cores.
    upcoming.sort_by_key(|index| {
        let connection = &connections[*index];
        let is_program = matches!(connection.ends, Ends::Program(_));
        Reverse((connection.begins, is_program, *index))
    });
    let epoll = Epoll::new().map_err(refused)?;
    let clock = Clock::start();
    started(clock).map_err(refused)?;
    Ok(Traffic {
        scenario: asked.scenario,
        epoll,
        clock,
        hosts,
        unstarted: flows.len(),
        flows,
        connections,
        upcoming,
        active: Vec::new(),
        to_stop: Vec::new(),
        next_sample: Instant::START,
        trace: asked
            .record
            .then(|| FlowRecorder::new(sender_names(asked.scenario, asked.plans).1)),
        host_dropped: [0; 2],
        overlap: [None, None],
    })
}

/// Starts the servers of flows with programs, and prepares the clients.
fn prepare_programs(
    asked: &Drive<'_>,
    all: &AllHosts<'_>,
    connections: &mut [Connection],
) -> Result<(), String> {
    let mut hosts = all.of_programs.iter();
    for connection in connections {
        let flow = &asked.scenario.flows[connection.flow];
        if let Some(command) = &flow.command
            && let Some(own) = hosts.next()
        {
            let bytes = connection.transfer.bytes();
            let ends = ProgramEnds::prepare(flow, command, *own, bytes, asked.logs)?;
            connection.ends = Ends::Program(Box::new(ends));
        }
    }
    Ok(())
}

/// Enters a host, and disables its metrics cache and raises its buffers.
fn enter(host: &Host) -> Result<(), String> {
    host.enter().map_err(refused)?;
    // Best effort: without them, the buffers of the host limit paths with a large BDP, and connections
    // inherit metrics from earlier ones.
    for (key, value) in [
        ("rmem", format!("4096 131072 {LARGEST_BUFFER}")),
        ("wmem", format!("4096 16384 {LARGEST_BUFFER}")),
        ("no_metrics_save", "1".to_owned()),
    ] {
        let _ = fs::write(format!("/proc/sys/net/ipv4/tcp_{key}"), value);
    }
    Ok(())
}

/// The transport of flow `index`; the kernel's TCP serves it at `address`.
fn transport(asked: &Drive<'_>, index: usize, address: SocketAddrV4) -> Result<Transport, String> {
    let flow = &asked.scenario.flows[index];
    if flow.command.is_some() {
        return Ok(Transport::Program);
    }
    let Some(congestion) = flow.controller.kernel() else {
        let connections = flow.real_connections(index, asked.seed);
        return Ok(Transport::Quic(Box::new(connections)));
    };
    let listener = TcpListener::bind(address).map_err(refused)?;
    listener.set_nonblocking(true).map_err(refused)?;
    tcp::set_congestion(&listener, congestion).map_err(|error| {
        format!("the kernel refuses the congestion control \"{congestion}\": {error}")
    })?;
    Ok(Transport::Kernel(TcpServer {
        listener,
        address,
        congestion: congestion.to_owned(),
    }))
}
