//! The endpoint of a connection: the modelled endpoint, or a real stack (`quic/real.rs`).
//!
//! Both have the same calls, and flows of both may share a link. The choice is an enumeration and not a trait
//! object: the branch is the same for the whole life of a connection, and the modelled path stays free of
//! indirect calls and of allocations.

use super::hosts::Bundle;
use crate::quic::{Datagram, RealEndpoint, Steering};
use crate::trial::ignores_loss::IgnoresLoss;
use crate::trial::reported::Reported;
use thalweg_control::report::Every;
use thalweg_control::{Control, Controller, Init, MediaRates, Observer, PathState};
use thalweg_transport::packet::Kind;
use thalweg_transport::{
    AppEvent, Counters, LimitedBy, Packet, PacketEvent, Role, StreamId, TransportConfig,
};
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

use crate::scenario::FlowController;
use crate::scenario::library::FlowStack;
use crate::trial::seed;

/// What the controller of a sender hears of its events: all, unless it is told otherwise.
#[derive(Clone, Copy)]
pub(crate) struct Hears {
    pub(crate) ignores_loss: bool,
    pub(crate) reports: Option<Every>,
}

impl Hears {
    fn behind(self, controller: Box<dyn Controller>, init: &Init) -> Box<dyn Controller> {
        let controller = match self.reports {
            None => controller,
            Some(every) => Box::new(Reported::new(controller, every, init)),
        };
        match self.ignores_loss {
            false => controller,
            true => Box::new(IgnoresLoss(controller)),
        }
    }
}

/// One end of a connection.
#[expect(
    clippy::large_enum_variant,
    reason = "modelled endpoints, which the event loop goes through, lie side by side"
)]
pub(crate) enum Endpoint {
    Modelled(thalweg_transport::Endpoint),
    Real(Box<RealEndpoint>),
}

/// A packet of an endpoint.
pub(crate) enum Payload {
    Modelled(Packet),
    Real(Datagram),
    Bundle(Box<Bundle>),
}

/// The outlet of packets of an endpoint of either stack.
pub(crate) trait Outlet {
    /// A packet is sent, with its number if it has one in the application space.
    fn send(&mut self, payload: Payload, number: Option<u64>);
}

/// The outlet of a modelled endpoint.
pub(crate) struct Modelled<'a, O>(pub(crate) &'a mut O);

impl<O: Outlet> thalweg_transport::Outlet for Modelled<'_, O> {
    #[inline(always)] // see `FirstLink`
    fn send(&mut self, packet: Packet) {
        let number = (packet.kind == Kind::Data).then_some(packet.number);
        self.0.send(Payload::Modelled(packet), number);
    }
}

impl Payload {
    /// UDP payload in bytes.
    #[inline]
    pub(crate) fn size(&self) -> u32 {
        match self {
            Payload::Modelled(packet) => packet.size,
            Payload::Real(datagram) => datagram.data.len() as u32,
            Payload::Bundle(bundle) => bundle.size(),
        }
    }
    /// Its number at the sender; of a bundle the number of the first packet.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        match self {
            Payload::Modelled(packet) => packet.number,
            Payload::Real(datagram) => datagram.number,
            Payload::Bundle(bundle) => bundle.first().map_or(0, Payload::number),
        }
    }
    /// Whether it shows to be only an acknowledgement; packets of a real stack are encrypted.
    pub(crate) fn is_ack(&self) -> bool {
        matches!(self, Payload::Modelled(packet) if packet.kind == Kind::AckOnly)
    }
    #[inline]
    pub(crate) fn ecn(&self) -> Ecn {
        match self {
            Payload::Modelled(packet) => packet.ecn,
            Payload::Real(datagram) => datagram.ecn,
            Payload::Bundle(bundle) => bundle.first().map_or(Ecn::NotEct, Payload::ecn),
        }
    }
    #[inline]
    pub(crate) fn set_ecn(&mut self, ecn: Ecn) {
        match self {
            Payload::Modelled(packet) => packet.ecn = ecn,
            Payload::Real(datagram) => datagram.ecn = ecn,
            // A mark goes to each packet that is cut from a bundle.
            Payload::Bundle(bundle) => {
                for part in &mut bundle.parts {
                    part.payload.set_ecn(ecn);
                }
            }
        }
    }
}

/// One end of a connection.
pub(crate) struct End {
    pub(crate) role: Role,
    /// Whether it sends data of the application.
    pub(crate) sends: bool,
    /// What of the events its controller hears.
    pub(crate) hears: Hears,
    /// The rates of its encoders.
    pub(crate) media: Option<MediaRates>,
}

/// Calls the method of whichever endpoint it is.
macro_rules! each {
    ($end:expr, $endpoint:ident => $call:expr) => {
        match $end {
            Endpoint::Modelled($endpoint) => $call,
            Endpoint::Real($endpoint) => $call,
        }
    };
}

impl Endpoint {
    /// The endpoint `flow/side` of a trial, of a connection that starts at `start`. The names of the random streams are
    /// the names of the flow.
    pub(crate) fn new(
        stack: &FlowStack,
        end: End,
        config: TransportConfig,
        start: Instant,
        controller: &FlowController,
        trial: u64,
        name: &str,
    ) -> Self {
        let role = end.role;
        let init = Init {
            now: start,
            mtu: config.initial_mtu,
            initial_window: config.initial_window,
            media: end.media,
        };
        if let (FlowStack::Library(of), FlowController::OfLibrary(controller)) = (stack, controller)
        {
            let names = (trial, name);
            let endpoint = RealEndpoint::of_library(of, role, &config, start, controller, names);
            return Endpoint::Real(Box::new(endpoint));
        }
        let steering = match controller {
            FlowController::Registry(spec) => Steering::Ours(match end.sends {
                true => end.hears.behind(spec.build(&init), &init),
                false => spec.build_for_receiver(&init),
            }),
            FlowController::OfStack(controller) => Steering::Stack(*controller),
            FlowController::Kernel(name)
            | FlowController::Command(name)
            | FlowController::OfLibrary(name) => {
                unreachable!("no scenario of virtual time has {name} on this stack")
            }
        };
        let rng = seed::rng(trial, &format!("{name}/controller"));
        let noise = seed::rng(trial, &format!("{name}/wakeup"));
        match (stack, steering) {
            (FlowStack::Model, Steering::Ours(controller)) => Endpoint::Modelled(
                thalweg_transport::Endpoint::new(role, config, start, controller, rng, noise),
            ),
            // The check of a scenario refuses a controller of the real stack for a modelled endpoint.
            (_, steering) => {
                let random = (rng, noise);
                let endpoint = RealEndpoint::of_quic(role, config, start, steering, random);
                Endpoint::Real(Box::new(endpoint))
            }
        }
    }

    /// Whether the last event called for a decision that has not been made.
    #[inline]
    pub(crate) fn is_undecided(&self) -> bool {
        match self {
            Endpoint::Modelled(endpoint) => endpoint.is_undecided(),
            Endpoint::Real(_) => false,
        }
    }
    /// The decision that was missing has been made.
    pub(crate) fn apply_decision(&mut self) {
        if let Endpoint::Modelled(endpoint) = self {
            endpoint.apply_decision();
        }
    }
    /// The streams of endpoint `name` are the streams of another seed from now on.
    pub(crate) fn reseed(&mut self, seed: u64, name: &str) {
        let rng = seed::rng(seed, &format!("{name}/controller"));
        let noise = seed::rng(seed, &format!("{name}/wakeup"));
        match self {
            Endpoint::Modelled(endpoint) => endpoint.reseed(rng, noise),
            Endpoint::Real(endpoint) => endpoint.reseed(rng, noise),
        }
    }
    /// Opens the connection (client).
    pub(crate) fn connect(&mut self, now: Instant) {
        match self {
            Endpoint::Modelled(endpoint) => endpoint.connect(),
            Endpoint::Real(endpoint) => endpoint.connect(now),
        }
    }
    /// Time has come to `now` for an application, which may write.
    pub(crate) fn advance(&mut self, now: Instant) {
        if let Endpoint::Real(endpoint) = self {
            endpoint.advance(now);
        }
    }
    /// Writes to a stream.
    pub(crate) fn write(
        &mut self,
        id: StreamId,
        bytes: u64,
        fin: bool,
        priority: u8,
        incremental: bool,
    ) {
        each!(self, endpoint => endpoint.write(id, bytes, fin, priority, incremental))
    }
    /// Takes the end of a stream back, what has not been sent of it, until it is written again: how many bytes. The real
    /// stack keeps what it has.
    pub(crate) fn take_back(&mut self, id: StreamId) -> u64 {
        match self {
            Endpoint::Modelled(endpoint) => endpoint.take_back(id),
            Endpoint::Real(_) => 0,
        }
    }
    /// Queues a datagram.
    pub(crate) fn send_datagram(&mut self, len: u32, tag: u64, priority: u8) {
        match self {
            Endpoint::Modelled(endpoint) => endpoint.send_datagram(len, tag, priority),
            Endpoint::Real(endpoint) => endpoint.send_datagram(len, tag),
        }
    }
    /// Sends a lost datagram again, until a time. The real stack does not tell which are lost.
    pub(crate) fn repeat_datagram(&mut self, len: u32, tag: u64, priority: u8, until: Instant) {
        if let Endpoint::Modelled(endpoint) = self {
            endpoint.repeat_datagram(len, tag, priority, until);
        }
    }
    /// Gives each datagram a packet of its own.
    pub(crate) fn keep_datagrams_apart(&mut self) {
        if let Endpoint::Modelled(endpoint) = self {
            endpoint.keep_datagrams_apart();
        }
    }
    /// Has lost datagrams reported.
    pub(crate) fn report_lost_datagrams(&mut self) {
        if let Endpoint::Modelled(endpoint) = self {
            endpoint.report_lost_datagrams();
        }
    }
    /// Whether anything waits to be sent; the real stack does not tell.
    pub(crate) fn has_data(&self) -> bool {
        match self {
            Endpoint::Modelled(endpoint) => endpoint.has_data(),
            Endpoint::Real(_) => true,
        }
    }
    /// Asks the peer to stop sending on a stream.
    pub(crate) fn stop_receiving(&mut self, id: StreamId) {
        each!(self, endpoint => endpoint.stop_receiving(id))
    }
    /// Closes the connection.
    pub(crate) fn close(&mut self, now: Instant) {
        match self {
            Endpoint::Modelled(endpoint) => endpoint.close(),
            Endpoint::Real(endpoint) => endpoint.close(now),
        }
    }
    /// A packet has arrived. Both ends of a connection use the same stack. The real one consumes the contents.
    /// Whether [`Endpoint::next`] and the events for the application certainly are what they were.
    #[inline]
    pub(crate) fn receive(&mut self, now: Instant, payload: &mut Payload) -> bool {
        match (self, payload) {
            (Endpoint::Modelled(endpoint), Payload::Modelled(packet)) => {
                let is_done = endpoint.receive_next(now, packet);
                if !is_done {
                    endpoint.receive(now, packet);
                }
                return is_done;
            }
            (Endpoint::Real(endpoint), Payload::Real(datagram)) => {
                let data = std::mem::take(&mut datagram.data);
                endpoint.receive(now, Datagram { data, ..*datagram });
            }
            _ => {}
        }
        false
    }
    /// Whether it certainly has nothing to send now, and no event for its application: a cheap check.
    #[inline]
    pub(crate) fn is_silent(&mut self, now: Instant) -> bool {
        match self {
            Endpoint::Modelled(endpoint) => !endpoint.has_events() && endpoint.rests(now),
            Endpoint::Real(_) => false,
        }
    }
    /// Sends everything possible now to `outlet`.
    #[inline]
    pub(crate) fn transmit(&mut self, now: Instant, outlet: &mut impl Outlet) {
        match self {
            Endpoint::Modelled(endpoint) => {
                endpoint.transmit_all(now, &mut Modelled(outlet));
            }
            Endpoint::Real(endpoint) => {
                while let Some((datagram, number)) = endpoint.transmit(now) {
                    outlet.send(Payload::Real(datagram), number);
                }
            }
        }
    }
    /// When it is due again.
    #[inline]
    pub(crate) fn next(&self) -> Instant {
        each!(self, endpoint => endpoint.next())
    }
    /// Handles every timer that is due.
    #[inline]
    pub(crate) fn expire(&mut self, now: Instant) {
        each!(self, endpoint => endpoint.expire(now))
    }
    /// The next event for the application.
    #[inline]
    pub(crate) fn poll_event(&mut self) -> Option<AppEvent> {
        each!(self, endpoint => endpoint.poll_event())
    }
    /// Whether there is an event for the application.
    #[inline]
    pub(crate) fn has_events(&self) -> bool {
        each!(self, endpoint => endpoint.has_events())
    }
    /// Why the connection failed, if it did. A modelled one does not.
    #[cfg(feature = "quic")] // only real time asks
    pub(crate) fn failure(&self) -> Option<String> {
        match self {
            Endpoint::Modelled(_) => None,
            Endpoint::Real(endpoint) => endpoint.failure(),
        }
    }
    /// The state of the path.
    pub(crate) fn path(&self) -> &PathState {
        each!(self, endpoint => endpoint.path())
    }
    /// The bytes in flight, if the stack tells them.
    pub(crate) fn in_flight(&self) -> Option<Bytes> {
        match self {
            Endpoint::Modelled(endpoint) => Some(endpoint.path().bytes_in_flight),
            Endpoint::Real(endpoint) => endpoint.in_flight(),
        }
    }
    /// The current decision of the controller.
    pub(crate) fn control(&self) -> &Control {
        each!(self, endpoint => endpoint.control())
    }
    /// Number of times that the controller was informed; consecutive departures count once.
    pub(crate) fn reports(&self) -> u64 {
        each!(self, endpoint => endpoint.reports())
    }
    /// The counters so far.
    pub(crate) fn counters(&self) -> Counters {
        match self {
            Endpoint::Modelled(endpoint) => endpoint.counters(),
            Endpoint::Real(endpoint) => *endpoint.counters(),
        }
    }
    /// What limits the sender now, if the stack tells it.
    pub(crate) fn limited_by(&self) -> Option<LimitedBy> {
        match self {
            Endpoint::Modelled(endpoint) => Some(endpoint.limited_by()),
            Endpoint::Real(_) => None,
        }
    }
    /// How long what has limited it by `now`, if the stack tells it.
    pub(crate) fn limited_times(&self, now: Instant) -> Option<[Duration; 6]> {
        match self {
            Endpoint::Modelled(endpoint) => Some(endpoint.limited_times(now)),
            Endpoint::Real(_) => None,
        }
    }
    /// The flow has ended.
    pub(crate) fn end_limits(&mut self, now: Instant) {
        if let Endpoint::Modelled(endpoint) = self {
            endpoint.end_limits(now);
        }
    }
    /// Starts to record the fate of each packet.
    pub(crate) fn record_packets(&mut self) {
        match self {
            Endpoint::Modelled(endpoint) => endpoint.packet_log().start(),
            Endpoint::Real(endpoint) => endpoint.record_packets(),
        }
    }
    /// Takes what was recorded since the last call.
    pub(crate) fn take_packets(&mut self, take: &mut dyn FnMut(PacketEvent)) {
        match self {
            Endpoint::Modelled(endpoint) => endpoint.packet_log().take().for_each(take),
            Endpoint::Real(endpoint) => endpoint.take_packets(take),
        }
    }
    /// The state and the variables of the controller.
    pub(crate) fn observe(&self, out: &mut dyn Observer) {
        each!(self, endpoint => endpoint.observe(out))
    }
    /// The rate at which media should be encoded; `None` before the first RTT sample.
    pub(crate) fn media_rate(&self) -> Option<Rate> {
        each!(self, endpoint => endpoint.media_rate())
    }
    /// Has `receiver`, the other end, report when packets arrive, if the controller wants to know. The QUIC stack does not
    /// report it.
    pub(crate) fn learn_arrivals(&mut self, receiver: &mut Endpoint) {
        if let (Endpoint::Modelled(sender), Endpoint::Modelled(receiver)) = (self, receiver) {
            sender.learn_arrivals(receiver);
        }
    }
    /// The other end of the connection, before anything is written.
    pub(crate) fn pair(&self, peer: &mut Endpoint) {
        if let (Endpoint::Real(one), Endpoint::Real(other)) = (self, peer) {
            one.pair(other);
        }
    }
    /// The endpoint of what is not modelled.
    pub(crate) fn real(&self) -> Option<&RealEndpoint> {
        match self {
            Endpoint::Modelled(_) => None,
            Endpoint::Real(endpoint) => Some(endpoint),
        }
    }
    /// The current pacing rate.
    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        each!(self, endpoint => endpoint.pacing_rate())
    }
}
