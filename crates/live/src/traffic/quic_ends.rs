//! Both endpoints of a connection of the QUIC stack, each over a UDP socket of its host.
//!
//! Endpoints and applications come from the simulator ([`RealConnection`]); here their
//! datagrams cross sockets, and their clock is the clock of the emulator.

use super::connection_result::ConnectionResult;
use super::flow_trace::FlowRecorder;
use super::ports::port_of;
use super::udp::Udp;
use crate::host::Host;
use crate::sys::events::Interest;
use std::io;
use std::net::SocketAddrV4;
use thalweg_sim::{Counters, MediaOutcome, RealConnection, Role, Scenario, Train};
use thalweg_units::{Duration, Instant};

/// Least time between two samples of a trace.
const SPACING: Duration = Duration::from_millis(1);

/// One endpoint: its socket, and what the socket did not accept.
#[derive(Debug)]
pub(crate) struct End {
    role: Role,
    pub(crate) udp: Udp,
    waiting: Option<Train>,
    /// The events to wait for.
    pub(crate) waits_for: Interest,
}

/// The ends of one connection.
pub(crate) struct QuicEnds {
    number: usize,
    connection: RealConnection,
    pub(crate) ends: [End; 2],
    next_sample: Instant,
}

impl QuicEnds {
    /// Creates the sockets of connection `number`, at the same port of both hosts. Leaves the process in the
    /// network of the client.
    pub(crate) fn new(
        number: usize,
        mut connection: RealConnection,
        [left, right]: [&Host; 2],
        is_traced: bool,
    ) -> io::Result<QuicEnds> {
        let port = port_of(number);
        let [client, server] = [left, right].map(|host| SocketAddrV4::new(host.v4, port));
        right.enter()?;
        let server_socket = Udp::connect(server, client, right.burst);
        left.enter()?;
        let end = |role, udp| End {
            role,
            udp,
            waiting: None,
            waits_for: Interest::Read,
        };
        let ends = [
            end(Role::Client, Udp::connect(client, server, left.burst)?),
            end(Role::Server, server_socket?),
        ];
        if is_traced {
            connection.record_packets();
        }
        Ok(QuicEnds {
            number,
            connection,
            ends,
            next_sample: Instant::START,
        })
    }

    /// Starts to connect.
    pub(crate) fn begin(&mut self) {
        self.connection.begin();
    }

    /// Its next timer.
    pub(crate) fn next(&self) -> Instant {
        self.connection.next()
    }

    /// Receives, handles timers, and sends; returns whether the connection has ended.
    ///
    /// # Errors
    /// If the connection fails.
    pub(crate) fn advance(
        &mut self,
        now: Instant,
        room: &mut Vec<u8>,
        result: &mut ConnectionResult,
        trace: Option<&mut FlowRecorder>,
    ) -> io::Result<bool> {
        let connection = &mut self.connection;
        let mut events = ["timer"; 2]; // of both ends: those that send data are sampled
        // Receive first: an acknowledgement in the socket may stop a timer that is due.
        for end in &mut self.ends {
            end.udp.receive(room, &mut |datagram| {
                events[end.role.index()] = "received";
                connection.receive(now, end.role, datagram);
            });
        }
        connection.expire(now);
        connection.settle(now);
        loop {
            for end in &mut self.ends {
                while end.is_free()
                    && let Some(train) = connection.transmit(now, end.role, end.udp.most())
                {
                    let event = &mut events[end.role.index()];
                    if *event == "timer" {
                        *event = "sent";
                    }
                    end.send(train);
                }
            }
            if !connection.settle(now) {
                break;
            }
        }
        if let Some(trace) = trace
            && now >= self.next_sample
        {
            self.next_sample = now + SPACING;
            trace.take_quic(now, self.number, events, connection);
        }
        let since_start = |at: Option<Instant>| at.map(|at| at - Instant::START);
        result.bytes_delivered = connection.delivered();
        result.completion = since_start(connection.completion());
        result.closed = since_start(connection.closed());
        match connection.failure() {
            Some(reason) => Err(io::Error::other(reason)),
            None => Ok(result.closed.is_some()),
        }
    }

    /// Records the state of the senders.
    pub(crate) fn observe(
        &mut self,
        now: Instant,
        result: &mut ConnectionResult,
        trace: Option<&mut FlowRecorder>,
    ) {
        let senders: Vec<_> = self.connection.counters().collect();
        let sum = |count: fn(&Counters) -> u64| senders.iter().map(count).sum();
        result.packets_sent = sum(|of| of.packets_sent);
        result.packets_lost = sum(|of| of.packets_lost);
        result.spurious = sum(|of| of.spurious_losses);
        result.timeouts = sum(|of| of.timeouts);
        result.rtt_samples = sum(|of| of.rtt_samples);
        result.rtt_sum = senders.iter().map(|of| of.rtt_sum).sum();
        let measured = || senders.iter().filter(|of| of.rtt_samples > 0);
        result.rtt_max = measured().map(|of| of.rtt_max).max().unwrap_or_default();
        result.rtt_min = measured().map(|of| of.rtt_min).min();
        if let Some(trace) = trace {
            trace.take_quic(now, self.number, ["timer"; 2], &mut self.connection);
        }
    }

    /// The results of the streams of a call.
    pub(crate) fn media(&self, scenario: &Scenario, now: Instant) -> Vec<MediaOutcome> {
        self.connection.media(scenario, now)
    }

    /// Datagrams dropped at the client and at the server because the receive buffer was full.
    pub(crate) fn dropped(&self) -> [u64; 2] {
        [0, 1].map(|end: usize| self.ends[end].udp.dropped())
    }
}

impl End {
    fn send(&mut self, train: Train) {
        if !self.udp.send(&train) {
            self.waiting = Some(train);
        }
    }

    /// Sends what has waited; returns whether the socket may accept more.
    fn is_free(&mut self) -> bool {
        if let Some(train) = self.waiting.take() {
            self.send(train);
        }
        self.waiting.is_none()
    }

    /// The events to wait for.
    pub(crate) fn wanted(&self) -> Interest {
        match self.waiting {
            Some(_) => Interest::ReadWrite,
            None => Interest::Read,
        }
    }
}
