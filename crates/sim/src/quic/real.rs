//! An endpoint that is not modelled: of the QUIC stack, or of a library.
//!
//! Both lie behind one variant of the endpoints of the event loop, so that the modelled one pays for neither.

#![cfg_attr(
    not(feature = "quic"),
    allow(unreachable_code, reason = "there are no values of what stands in")
)]

use super::stack::{Datagram, QuicEndpoint, Steering};
use super::{Description, LibraryEndpoint};
use crate::trial::seed;
use thalweg_control::{Control, Observer, PathState, Rng};
use thalweg_transport::{AppEvent, Counters, PacketEvent, Role, StreamId, TransportConfig};
use thalweg_units::{Bytes, Instant, Rate};

/// The endpoint.
#[allow(
    clippy::large_enum_variant,
    reason = "each lies in a box of its own, and there are few"
)]
pub(crate) enum RealEndpoint {
    Quic(QuicEndpoint),
    Library(LibraryEndpoint),
}

/// Calls the method of whichever endpoint it is.
macro_rules! each {
    ($end:expr, $endpoint:ident => $call:expr) => {
        match $end {
            RealEndpoint::Quic($endpoint) => $call,
            RealEndpoint::Library($endpoint) => $call,
        }
    };
}

impl RealEndpoint {
    /// The endpoint of the QUIC stack.
    pub(crate) fn of_quic(
        role: Role,
        config: TransportConfig,
        start: Instant,
        steering: Steering,
        (rng, noise): (Rng, Rng),
    ) -> Self {
        RealEndpoint::Quic(QuicEndpoint::new(role, config, start, steering, rng, noise))
    }

    /// The endpoint of a library. `name` is the name of its random numbers: `flow/main/client`.
    pub(crate) fn of_library(
        description: &Description,
        role: Role,
        config: &TransportConfig,
        start: Instant,
        controller: &str,
        (trial, name): (u64, &str),
    ) -> Self {
        let connection = name.rsplit_once('/').map_or(name, |(name, _)| name);
        let flow = connection.strip_prefix("flow/").unwrap_or(connection);
        let label = match role {
            Role::Client => format!("client of flow {flow}"),
            Role::Server => format!("server of flow {flow}"),
        };
        let noise = seed::rng(trial, &format!("{name}/wakeup"));
        let shared = seed::rng(trial, &format!("{connection}/connection"));
        let names = (controller, label.as_str());
        let random = (noise, shared);
        RealEndpoint::Library(LibraryEndpoint::new(
            description,
            role,
            config,
            start,
            names,
            random,
        ))
    }

    /// The other end of the connection: a library is judged by what both do.
    pub(crate) fn pair(&self, peer: &mut RealEndpoint) {
        if let (RealEndpoint::Library(one), RealEndpoint::Library(other)) = (self, peer) {
            one.pair(other);
        }
    }

    pub(crate) fn is_of_library(&self) -> bool {
        matches!(self, RealEndpoint::Library(_))
    }

    /// Ends the trial if this is the endpoint of a library, which has done what physics forbids.
    pub(crate) fn blame(&self, now: Instant, problem: &str) {
        if let RealEndpoint::Library(endpoint) = self {
            endpoint.blame(now, problem.to_owned());
        }
    }

    /// The streams of random numbers are others from now on.
    pub(crate) fn reseed(&mut self, rng: Rng, noise: Rng) {
        match self {
            RealEndpoint::Quic(endpoint) => endpoint.reseed(rng, noise),
            RealEndpoint::Library(endpoint) => endpoint.reseed(noise),
        }
    }

    pub(crate) fn connect(&mut self, now: Instant) {
        match self {
            RealEndpoint::Quic(endpoint) => endpoint.connect(now),
            // A client of a library has its first datagram ready.
            RealEndpoint::Library(_) => {}
        }
    }
    /// Only libraries are given the time of a write.
    pub(crate) fn advance(&mut self, now: Instant) {
        if let RealEndpoint::Library(endpoint) = self {
            endpoint.advance(now);
        }
    }
    pub(crate) fn write(
        &mut self,
        id: StreamId,
        bytes: u64,
        fin: bool,
        priority: u8,
        incremental: bool,
    ) {
        match self {
            RealEndpoint::Quic(endpoint) => endpoint.write(id, bytes, fin, priority, incremental),
            RealEndpoint::Library(endpoint) => endpoint.write(id, bytes, fin),
        }
    }
    /// The check of a scenario refuses media for a library.
    pub(crate) fn send_datagram(&mut self, len: u32, tag: u64) {
        if let RealEndpoint::Quic(endpoint) = self {
            endpoint.send_datagram(len, tag);
        }
    }
    /// As for [`send_datagram`](RealEndpoint::send_datagram).
    pub(crate) fn stop_receiving(&mut self, id: StreamId) {
        if let RealEndpoint::Quic(endpoint) = self {
            endpoint.stop_receiving(id);
        }
    }
    pub(crate) fn close(&mut self, now: Instant) {
        each!(self, endpoint => endpoint.close(now))
    }
    pub(crate) fn receive(&mut self, now: Instant, datagram: Datagram) {
        match self {
            RealEndpoint::Quic(endpoint) => endpoint.receive(now, datagram),
            RealEndpoint::Library(endpoint) => endpoint.receive(now, datagram.ecn, &datagram.data),
        }
    }
    /// The next datagram, with the number by which its sender records it, if it does.
    pub(crate) fn transmit(&mut self, now: Instant) -> Option<(Datagram, Option<u64>)> {
        match self {
            RealEndpoint::Quic(endpoint) => {
                let datagram = endpoint.transmit(now)?;
                Some((datagram, endpoint.last_number()))
            }
            RealEndpoint::Library(endpoint) => {
                let sent = endpoint.transmit(now).map(super::datagram_of);
                sent.map(|datagram| {
                    let number = datagram.number;
                    (datagram, Some(number))
                })
            }
        }
    }
    pub(crate) fn next(&self) -> Instant {
        each!(self, endpoint => endpoint.next())
    }
    pub(crate) fn expire(&mut self, now: Instant) {
        each!(self, endpoint => endpoint.expire(now))
    }
    pub(crate) fn poll_event(&mut self) -> Option<AppEvent> {
        each!(self, endpoint => endpoint.poll_event())
    }
    pub(crate) fn has_events(&self) -> bool {
        each!(self, endpoint => endpoint.has_events())
    }
    /// Why the connection failed, for real time, which has no libraries.
    #[cfg(feature = "quic")]
    pub(crate) fn failure(&self) -> Option<String> {
        match self {
            RealEndpoint::Quic(endpoint) => endpoint.failure(),
            RealEndpoint::Library(_) => None,
        }
    }
    pub(crate) fn path(&self) -> &PathState {
        each!(self, endpoint => endpoint.path())
    }
    /// The bytes in flight, which not every library tells.
    pub(crate) fn in_flight(&self) -> Option<Bytes> {
        match self {
            RealEndpoint::Quic(endpoint) => Some(endpoint.path().bytes_in_flight),
            RealEndpoint::Library(endpoint) => endpoint.in_flight(),
        }
    }
    pub(crate) fn control(&self) -> &Control {
        each!(self, endpoint => endpoint.control())
    }
    pub(crate) fn reports(&self) -> u64 {
        each!(self, endpoint => endpoint.reports())
    }
    pub(crate) fn counters(&self) -> &Counters {
        each!(self, endpoint => endpoint.counters())
    }
    pub(crate) fn record_packets(&mut self) {
        each!(self, endpoint => endpoint.record_packets())
    }
    /// The fates of packets; of a library, their departures.
    pub(crate) fn take_packets(&mut self, take: &mut dyn FnMut(PacketEvent)) {
        each!(self, endpoint => endpoint.take_packets(take));
    }
    pub(crate) fn observe(&self, out: &mut dyn Observer) {
        each!(self, endpoint => endpoint.observe(out))
    }
    /// The rate at which media should be encoded, which a library does not carry.
    pub(crate) fn media_rate(&self) -> Option<Rate> {
        match self {
            RealEndpoint::Quic(endpoint) => endpoint.media_rate(),
            RealEndpoint::Library(_) => None,
        }
    }
    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        each!(self, endpoint => endpoint.pacing_rate())
    }
}
