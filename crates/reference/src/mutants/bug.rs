//! A controller behind a bug.

use thalweg_control::event::{
    Ack, Arrival, EcnCounts, Lost, RttSample, Sent, SpuriousLoss, Timeout,
};
use thalweg_control::{Context, Control, Controller, Observer};
use thalweg_units::{Bytes, Ecn};

/// What a bug changes between a transport and a sound controller; by default, nothing.
pub(super) trait Bug: Send {
    /// A packet left.
    fn on_sent(&mut self, sound: &mut dyn Controller, event: &Sent, cx: &mut Context<'_>) {
        sound.on_sent(event, cx);
    }

    /// An ACK frame newly acknowledged packets.
    fn on_ack(&mut self, sound: &mut dyn Controller, event: &Ack, cx: &mut Context<'_>) {
        sound.on_ack(event, cx);
    }

    /// A packet was declared lost.
    fn on_lost(&mut self, sound: &mut dyn Controller, event: &Lost, cx: &mut Context<'_>) {
        sound.on_lost(event, cx);
    }

    /// A loss proved spurious.
    fn on_spurious_loss(
        &mut self,
        sound: &mut dyn Controller,
        event: &SpuriousLoss,
        cx: &mut Context<'_>,
    ) {
        sound.on_spurious_loss(event, cx);
    }

    /// Data is about to be sent after an idle period.
    fn on_idle_restart(&mut self, sound: &mut dyn Controller, cx: &mut Context<'_>) {
        sound.on_idle_restart(cx);
    }

    /// The decision.
    fn control(&self, sound: &dyn Controller) -> Control {
        sound.control()
    }
}

/// A sound controller and what is wrong with it.
pub(super) struct Mutant {
    sound: Box<dyn Controller>,
    bug: Box<dyn Bug>,
}

impl Mutant {
    pub(super) fn new(sound: Box<dyn Controller>, bug: Box<dyn Bug>) -> Self {
        Mutant { sound, bug }
    }
}

impl Controller for Mutant {
    fn on_handshake_rtt(&mut self, cx: &mut Context<'_>) {
        self.sound.on_handshake_rtt(cx);
    }

    fn on_sent(&mut self, event: &Sent, cx: &mut Context<'_>) {
        self.bug.on_sent(&mut *self.sound, event, cx);
    }

    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        self.bug.on_ack(&mut *self.sound, event, cx);
    }

    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        self.bug.on_lost(&mut *self.sound, event, cx);
    }

    fn on_timeout(&mut self, event: &Timeout, cx: &mut Context<'_>) {
        self.sound.on_timeout(event, cx);
    }

    fn on_spurious_loss(&mut self, event: &SpuriousLoss, cx: &mut Context<'_>) {
        self.bug.on_spurious_loss(&mut *self.sound, event, cx);
    }

    fn on_ecn(&mut self, event: &EcnCounts, cx: &mut Context<'_>) {
        self.sound.on_ecn(event, cx);
    }

    fn on_rtt(&mut self, event: &RttSample, cx: &mut Context<'_>) {
        self.sound.on_rtt(event, cx);
    }

    fn on_app_limited(&mut self, cx: &mut Context<'_>) {
        self.sound.on_app_limited(cx);
    }

    fn on_idle_restart(&mut self, cx: &mut Context<'_>) {
        self.bug.on_idle_restart(&mut *self.sound, cx);
    }

    fn on_seed(&mut self, window: Bytes, cx: &mut Context<'_>) {
        self.sound.on_seed(window, cx);
    }

    fn on_arrival(&mut self, event: &Arrival, cx: &mut Context<'_>) {
        self.sound.on_arrival(event, cx);
    }

    fn control(&self) -> Control {
        self.bug.control(&*self.sound)
    }

    fn ecn(&self) -> Ecn {
        self.sound.ecn()
    }

    fn observe(&self, out: &mut dyn Observer) {
        self.sound.observe(out);
    }
}

/// The name of the state that a controller shows.
pub(super) fn state(controller: &dyn Controller) -> Option<&'static str> {
    struct State(Option<&'static str>);
    impl Observer for State {
        fn state(&mut self, name: &'static str) {
            self.0 = Some(name);
        }
        fn variable(&mut self, _name: &'static str, _value: f64) {}
    }
    let mut state = State(None);
    controller.observe(&mut state);
    state.0
}
