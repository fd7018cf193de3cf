//! A controller that decides nothing: the initial window for ever. It is the controller of an end of a connection that sends no
//! data of the application, where whoever steers the other end has nothing to decide.

use crate::event::{Ack, Lost};
use crate::{Context, Control, Controller, Init, Observer};

/// Keeps the initial window; pacing is left to the transport.
#[derive(Clone, Copy, Debug)]
pub struct Fixed(Control);

impl Fixed {
    /// The controller of one end.
    pub fn new(init: &Init) -> Self {
        Fixed(Control {
            window: init.initial_window,
            pacing: None,
            quantum: init.initial_window,
            startup_done: false,
        })
    }
}

impl Controller for Fixed {
    fn on_ack(&mut self, _event: &Ack, _cx: &mut Context<'_>) {}

    fn on_lost(&mut self, _event: &Lost, _cx: &mut Context<'_>) {}

    fn control(&self) -> Control {
        self.0
    }

    fn observe(&self, _out: &mut dyn Observer) {}
}
