//! A controller that writes down what its transport tells it.

use std::sync::{Arc, Mutex};
use thalweg_control::event::{Ack, Arrival, EcnCounts, Lost, RttSample, SpuriousLoss, Timeout};
use thalweg_control::{Context, Control, Controller, Observer};
use thalweg_units::{Bytes, Ecn, Instant, Rate};

/// What a transport told its controller.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    Ack(Ack),
    Arrival(Arrival),
    Lost(Lost),
    Timeout(Timeout),
    Spurious(SpuriousLoss),
    Ecn(EcnCounts),
    Rtt(RttSample),
    IdleRestart,
}

pub(crate) type Record = Arc<Mutex<Vec<(Instant, Told)>>>;

/// A controller with a constant window that records all events. It paces so fast that
/// pacing never shows.
pub(crate) struct Scribe {
    window: Bytes,
    record: Record,
    wants_arrivals: bool,
}

impl Scribe {
    pub(crate) fn with_window(window: u64) -> (Box<dyn Controller>, Record) {
        Scribe::with(window, false)
    }

    /// One that wants to know when packets arrive.
    pub(crate) fn of_arrivals(window: u64) -> (Box<dyn Controller>, Record) {
        Scribe::with(window, true)
    }

    fn with(window: u64, wants_arrivals: bool) -> (Box<dyn Controller>, Record) {
        let record = Record::default();
        let scribe = Scribe {
            window: Bytes::new(window),
            record: Arc::clone(&record),
            wants_arrivals,
        };
        (Box::new(scribe), record)
    }
    fn note(&self, cx: &Context<'_>, told: Told) {
        self.record.lock().unwrap().push((cx.now, told));
    }
}

impl Controller for Scribe {
    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        self.note(cx, Told::Ack(event.clone()));
    }
    fn wants_arrivals(&self) -> bool {
        self.wants_arrivals
    }
    fn on_arrival(&mut self, event: &Arrival, cx: &mut Context<'_>) {
        self.note(cx, Told::Arrival(*event));
    }
    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        self.note(cx, Told::Lost(event.clone()));
    }
    fn on_timeout(&mut self, event: &Timeout, cx: &mut Context<'_>) {
        self.note(cx, Told::Timeout(event.clone()));
    }
    fn on_spurious_loss(&mut self, event: &SpuriousLoss, cx: &mut Context<'_>) {
        self.note(cx, Told::Spurious(event.clone()));
    }
    fn on_ecn(&mut self, event: &EcnCounts, cx: &mut Context<'_>) {
        self.note(cx, Told::Ecn(*event));
    }
    fn on_rtt(&mut self, event: &RttSample, cx: &mut Context<'_>) {
        self.note(cx, Told::Rtt(event.clone()));
    }
    fn on_idle_restart(&mut self, cx: &mut Context<'_>) {
        self.note(cx, Told::IdleRestart);
    }
    fn control(&self) -> Control {
        Control {
            window: self.window,
            pacing: Some(Rate::from_bytes_per_sec(100_000_000_000)),
            quantum: Bytes::new(1 << 30),
            startup_done: false,
        }
    }
    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn observe(&self, out: &mut dyn Observer) {
        out.state("Constant");
    }
}
