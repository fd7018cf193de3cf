//! The controller interface: the calls of a transport, and the decision that it applies.

use crate::PathState;
use crate::event::{Ack, Arrival, EcnCounts, Lost, RttSample, Sent, SpuriousLoss, Timeout};
use thalweg_units::{Bytes, Ecn, Instant, Rate};

/// The random source of a controller, passed by its transport: one stream per flow.
pub type Rng = rand_pcg::Pcg64Mcg;

/// The context of an event.
pub struct Context<'a> {
    /// Current time.
    pub now: Instant,
    /// Measurements of the transport, including this event.
    pub path: &'a PathState,
    /// Seeded random numbers, for algorithms that need them (BBR's probe times).
    pub rng: &'a mut Rng,
}

/// The initial state of a controller.
#[derive(Clone, Copy, Debug)]
pub struct Init {
    /// When the connection starts: the origin of all times that a controller measures.
    pub now: Instant,
    /// Size of a full packet (UDP payload).
    pub mtu: Bytes,
    /// Initial congestion window of the transport (RFC 9002 section 7.2).
    pub initial_window: Bytes,
    /// The rates of the media that it sends, if an encoder follows what it allows.
    pub media: Option<MediaRates>,
}

/// The rates of the encoders of one sender, all in total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaRates {
    /// The least.
    pub least: Rate,
    /// The largest.
    pub most: Rate,
    /// At the start.
    pub start: Rate,
    /// What else it sends: frames of fixed sizes, and the headers of one packet a frame.
    pub besides: Rate,
}

/// The decision of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Congestion window: the transport sends while no more than this is in flight.
    pub window: Bytes,
    /// Pacing rate; `None` leaves pacing to the transport (RFC 9002 section 7.7: 5/4 of window over
    /// smoothed RTT).
    pub pacing: Option<Rate>,
    /// The largest burst.
    pub quantum: Bytes,
    /// Whether the start-up phase is over. It affects only the acknowledgement frequency that the
    /// transport requests (fewer acknowledgements after start-up).
    pub startup_done: bool,
}

impl Control {
    /// What window and pacing allow on average: the pacing rate, or the window over the smoothed RTT if that is less;
    /// `None` before the first RTT sample.
    pub fn rate(&self, path: &PathState) -> Option<Rate> {
        let by_window = || Rate::over(self.window, path.smoothed_rtt);
        let most = self.pacing.unwrap_or(Rate::from_bits_per_sec(u64::MAX));
        path.has_rtt().then(|| by_window().min(most))
    }
}

/// Receives the name of the state and the variables of a controller, for traces.
pub trait Observer {
    /// The state of the algorithm, by its name in the specification.
    fn state(&mut self, name: &'static str);
    /// A variable of the algorithm, in the base unit of its kind (bytes, bits per second, seconds).
    fn variable(&mut self, name: &'static str, value: f64);
}

/// A congestion control algorithm bound to one flow.
///
/// The transport calls, while it processes one acknowledgement, in this order: [`on_spurious_loss`],
/// [`on_ecn`], [`on_rtt`], [`on_seed`] (at the first RTT sample only), [`on_lost`] once for each packet
/// newly declared lost, then [`on_ack`] once. It reads [`control`] after each batch.
///
/// Only packets of the application space (1-RTT) are reported: handshake packets are too few and too
/// small to measure capacity.
///
/// [`on_spurious_loss`]: Controller::on_spurious_loss
/// [`on_ecn`]: Controller::on_ecn
/// [`on_rtt`]: Controller::on_rtt
/// [`on_seed`]: Controller::on_seed
/// [`on_lost`]: Controller::on_lost
/// [`on_ack`]: Controller::on_ack
/// [`control`]: Controller::control
pub trait Controller: Send {
    /// The handshake gave the first RTT sample: nothing else is known of the path, and no application data
    /// has been sent, except in 0-RTT. Also called for a controller that is bound after the handshake; not if a stack
    /// reports no RTT before the RTT of the first data.
    fn on_handshake_rtt(&mut self, _cx: &mut Context<'_>) {}

    /// A packet left.
    fn on_sent(&mut self, _event: &Sent, _cx: &mut Context<'_>) {}

    /// One ACK frame newly acknowledged one or more packets.
    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>);

    /// One packet was declared lost.
    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>);

    /// A probe timeout fired (RFC 9002 section 6.2). No packet is lost by that alone.
    fn on_timeout(&mut self, _event: &Timeout, _cx: &mut Context<'_>) {}

    /// A packet that was declared lost, or for which a probe timeout fired, was acknowledged.
    fn on_spurious_loss(&mut self, _event: &SpuriousLoss, _cx: &mut Context<'_>) {}

    /// An ACK frame reported more CE marks than before.
    fn on_ecn(&mut self, _event: &EcnCounts, _cx: &mut Context<'_>) {}

    /// A new round-trip time sample; the smoothed values in the context include it.
    fn on_rtt(&mut self, _event: &RttSample, _cx: &mut Context<'_>) {}

    /// The sender has run out of data although window and pacing would let it send.
    fn on_app_limited(&mut self, _cx: &mut Context<'_>) {}

    /// Data is about to be sent after an idle period with nothing in flight.
    fn on_idle_restart(&mut self, _cx: &mut Context<'_>) {}

    /// A window remembered from an earlier connection over the same path (careful resume).
    fn on_seed(&mut self, _window: Bytes, _cx: &mut Context<'_>) {}

    /// When an acknowledged packet arrived, as the receiver reports it: called for each packet that an ACK frame newly
    /// acknowledges, in the order of their numbers, before the other calls for that frame. Only controllers that
    /// [want](Controller::wants_arrivals) it are called, and only by transports whose receivers report it: the modelled
    /// endpoint.
    fn on_arrival(&mut self, _event: &Arrival, _cx: &mut Context<'_>) {}

    /// Whether the receiver of its packets should report when each arrived. Asked once, before the connection begins.
    fn wants_arrivals(&self) -> bool {
        false
    }

    /// The rate at which media should be encoded, of a controller that determines one; for others that is
    /// [`Control::rate`].
    fn media_rate(&self) -> Option<Rate> {
        None
    }

    /// The current decision.
    fn control(&self) -> Control;

    /// Whether the decision that the last event called for is still being made, outside of the simulation. The modelled
    /// endpoint then applies none until it is told that it has been made (`Endpoint::apply_decision` of
    /// `thalweg-transport`); other transports do not ask.
    fn is_undecided(&self) -> bool {
        false
    }

    /// The ECN codepoint for packets of this flow: none, unless the controller answers marks in `on_ecn`.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    /// Reports the state and the variables, for traces. It never changes behaviour.
    fn observe(&self, out: &mut dyn Observer);
}
