//! A controller: additive increase, multiplicative decrease.
//!
//! `thalweg_control::Controller` says what each event tells and what may be decided.

use thalweg_control::event::{Ack, EcnCounts, Lost};
use thalweg_control::{
    Context, Control, Controller, Entry, Init, Observer, OptionDoc, OptionKind, Options, Purpose,
};
use thalweg_units::{Bytes, Ecn};

/// What a registry knows of it.
pub const ENTRY: Entry = Entry {
    name: "aimd",
    purpose: Purpose::Internet,
    title: "AIMD",
    source: "Chiu and Jain, 1989",
    options: &[
        OptionDoc {
            name: "increase",
            kind: OptionKind::Number(0.01, 100.0),
            default: "1",
            meaning: "packets added each round trip",
        },
        OptionDoc {
            name: "decrease",
            kind: OptionKind::Number(0.1, 0.99),
            default: "0.5",
            meaning: "share of the window that a loss leaves",
        },
    ],
    build,
};

fn build(options: &Options, init: &Init) -> Box<dyn Controller> {
    Box::new(Aimd {
        increase: options.number("increase"),
        decrease: options.number("decrease"),
        window: init.initial_window.as_u64() as f64,
        initial_window: init.initial_window,
        reduced: 0,
    })
}

struct Aimd {
    increase: f64,
    decrease: f64,
    /// In bytes.
    window: f64,
    initial_window: Bytes,
    /// First packet that left after the last reduction.
    reduced: u64,
}

impl Aimd {
    fn reduce(&mut self, packet: u64, cx: &Context<'_>) {
        if packet >= self.reduced {
            self.window = (self.window * self.decrease).max(minimum(cx));
            self.reduced = cx.path.next_packet;
        }
    }
}

/// The least window in bytes, of two packets (RFC 9002 section 7.2), which may have grown since the last event.
fn minimum(cx: &Context<'_>) -> f64 {
    (cx.path.mtu * 2).as_u64() as f64
}

impl Controller for Aimd {
    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        if !event.window_was_underused(cx.path) {
            let mtu = cx.path.mtu.as_u64() as f64;
            self.window += self.increase * mtu * event.newly_acked.as_u64() as f64 / self.window;
        }
        self.window = self.window.max(minimum(cx));
    }

    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        self.reduce(event.packet, cx);
    }

    fn on_ecn(&mut self, event: &EcnCounts, cx: &mut Context<'_>) {
        self.reduce(event.largest_acked, cx);
    }

    fn control(&self) -> Control {
        Control {
            window: Bytes::new(self.window as u64),
            pacing: None,
            quantum: self.initial_window,
            startup_done: false,
        }
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn observe(&self, out: &mut dyn Observer) {
        out.variable("window", self.window);
    }
}
