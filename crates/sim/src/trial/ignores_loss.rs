//! A sender that ignores losses: any controller that is not told of them.
//!
//! # Model
//! The transport declares packets lost and repeats their data as ever, but the controller hears of no loss, no probe timeout
//! and no spurious loss; acknowledgements say that nothing was lost. ECN marks, rates and round-trip times reach it.
//!
//! # Limits
//! A window that only losses would bound is cut at 16 MiB.

use thalweg_control::event::{
    Ack, Arrival, EcnCounts, Lost, RttSample, Sent, SpuriousLoss, Timeout,
};
use thalweg_control::{Context, Control, Controller, Observer};
use thalweg_units::{Bytes, Ecn, Rate};

/// Largest window.
const MOST: Bytes = Bytes::new(16 << 20);

/// A controller that hears of no losses.
pub(crate) struct IgnoresLoss(pub(crate) Box<dyn Controller>);

impl Controller for IgnoresLoss {
    fn on_handshake_rtt(&mut self, cx: &mut Context<'_>) {
        self.0.on_handshake_rtt(cx);
    }
    fn on_sent(&mut self, event: &Sent, cx: &mut Context<'_>) {
        self.0.on_sent(event, cx);
    }
    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        let mut event = event.clone();
        (event.newly_lost, event.lost_ranges) = (Bytes::ZERO, 0);
        event.snapshot.lost_since_sent = Bytes::ZERO;
        self.0.on_ack(&event, cx);
    }
    fn on_lost(&mut self, _event: &Lost, _cx: &mut Context<'_>) {}
    fn on_timeout(&mut self, _event: &Timeout, _cx: &mut Context<'_>) {}
    fn on_spurious_loss(&mut self, _event: &SpuriousLoss, _cx: &mut Context<'_>) {}
    fn on_ecn(&mut self, event: &EcnCounts, cx: &mut Context<'_>) {
        self.0.on_ecn(event, cx);
    }
    fn on_rtt(&mut self, event: &RttSample, cx: &mut Context<'_>) {
        self.0.on_rtt(event, cx);
    }
    fn on_app_limited(&mut self, cx: &mut Context<'_>) {
        self.0.on_app_limited(cx);
    }
    fn on_idle_restart(&mut self, cx: &mut Context<'_>) {
        self.0.on_idle_restart(cx);
    }
    fn on_seed(&mut self, window: Bytes, cx: &mut Context<'_>) {
        self.0.on_seed(window, cx);
    }
    fn on_arrival(&mut self, event: &Arrival, cx: &mut Context<'_>) {
        self.0.on_arrival(event, cx);
    }
    fn wants_arrivals(&self) -> bool {
        self.0.wants_arrivals()
    }
    fn media_rate(&self) -> Option<Rate> {
        self.0.media_rate()
    }
    fn control(&self) -> Control {
        let control = self.0.control();
        Control {
            window: control.window.min(MOST),
            ..control
        }
    }
    fn is_undecided(&self) -> bool {
        self.0.is_undecided()
    }
    fn ecn(&self) -> Ecn {
        self.0.ecn()
    }
    fn observe(&self, out: &mut dyn Observer) {
        self.0.observe(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A controller of which nothing but its window is asked.
    struct Window(Bytes);

    impl Controller for Window {
        fn on_ack(&mut self, _event: &Ack, _cx: &mut Context<'_>) {}
        fn on_lost(&mut self, _event: &Lost, _cx: &mut Context<'_>) {}
        fn control(&self) -> Control {
            Control {
                window: self.0,
                pacing: None,
                quantum: Bytes::new(2_880),
                startup_done: true,
            }
        }
        fn observe(&self, _out: &mut dyn Observer) {}
    }

    #[test]
    fn a_window_that_no_loss_bounds_is_cut_at_16_mib() {
        for (asked, given) in [(MOST / 2, MOST / 2), (MOST, MOST), (MOST * 2, MOST)] {
            let control = IgnoresLoss(Box::new(Window(asked))).control();
            assert_eq!(control.window, given);
        }
    }
}
