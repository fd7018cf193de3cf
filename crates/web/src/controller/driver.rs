//! A controller of the host behind the seam of every controller.
//!
//! Which handlers it defines is known before a trial: the others cost a test. A handler that is defined is called with
//! the records of event and path, and writes its decision, which the host has checked.

use super::Definition;
use super::host::{keep, observed};
use super::records::{self, WIDEST};
use crate::boundary;
use thalweg_control::foreign::{Decision, Draws, Handler, Numbers, kept};
use thalweg_control::report::Reporter;
use thalweg_control::{Context, Control, Controller, Init, Observer, event};
use thalweg_units::{Bytes, Ecn};

/// Numbers of a decision: window, pacing, quantum, whether start-up is over, and the ECN codepoint.
const DECISION: usize = 5;

/// One controller of one end of a connection.
pub(super) struct Driver {
    handle: u32,
    defined: [bool; Handler::COUNT],
    control: Control,
    ecn: Ecn,
    initial_window: Bytes,
    reporter: Option<Reporter>,
    /// The number of its random source, from the first call on.
    draws: Option<u32>,
}

impl Driver {
    /// Makes one, and reads its first decision.
    pub(super) fn new(definition: &Definition, init: &Init) -> Driver {
        let mut decision = [f64::NAN; DECISION];
        let start = [
            init.mtu.as_u64() as f64,
            init.initial_window.as_u64() as f64,
            init.now.as_secs_f64(),
        ];
        let handle = boundary::make(&definition.text, &definition.flow, &start, &mut decision);
        let defined = definition.defined;
        Driver {
            handle,
            defined,
            control: read(&decision, init.initial_window),
            ecn: match decision[4] {
                0.0 => Ecn::Ect0,
                1.0 => Ecn::Ect1,
                2.0 => Ecn::NotEct,
                // One that does not say is taken to answer marks if it hears of them.
                _ if defined[Handler::Ecn as usize] || defined[Handler::Report as usize] => {
                    Ecn::Ect0
                }
                _ => Ecn::NotEct,
            },
            initial_window: init.initial_window,
            reporter: definition.report_every.map(Reporter::new),
            draws: None,
        }
    }

    /// Calls a handler with a record, if it is defined, and takes the decision.
    fn call(
        &mut self,
        handler: Handler,
        cx: &mut Context<'_>,
        record: impl FnOnce(&mut [f64; WIDEST]) -> usize,
    ) {
        if !self.defined[handler as usize] {
            return;
        }
        let draws = match self.draws {
            Some(draws) => draws,
            None => *self.draws.insert(keep(Draws::new(cx.rng))),
        };
        let mut event = [0.0; WIDEST];
        let length = record(&mut event);
        let path = records::path(cx, draws);
        let mut decision = [f64::NAN; DECISION];
        boundary::call(
            self.handle,
            handler as u32,
            &event[..length],
            &path,
            &mut decision,
        );
        self.control = read(&decision, self.initial_window);
    }

    fn tell(&mut self, handler: Handler, event: &impl Numbers, cx: &mut Context<'_>) {
        self.call(handler, cx, |record| records::write(event, record));
    }

    fn tell_of_path(&mut self, handler: Handler, cx: &mut Context<'_>) {
        self.call(handler, cx, |_| 0);
    }

    /// Hands out a report if one is due.
    fn report(&mut self, cx: &mut Context<'_>) {
        let due = self.reporter.as_mut().and_then(|reporter| reporter.due(cx));
        if let Some(report) = due {
            self.tell(Handler::Report, &report, cx);
        }
    }
}

/// A decision that the host has checked. NaN stands for what it leaves to the transport.
fn read(decision: &[f64; DECISION], initial_window: Bytes) -> Control {
    let [window, pacing, quantum, startup_done, _] = *decision;
    let known = |number: f64| (!number.is_nan()).then_some(number);
    let decision = Decision {
        window,
        pacing: known(pacing),
        quantum: known(quantum),
        startup_done: startup_done == 1.0,
    };
    decision.control(initial_window)
}

impl Drop for Driver {
    fn drop(&mut self) {
        boundary::release(self.handle);
    }
}

impl Controller for Driver {
    fn on_handshake_rtt(&mut self, cx: &mut Context<'_>) {
        self.tell_of_path(Handler::HandshakeRtt, cx);
    }

    fn on_sent(&mut self, event: &event::Sent, cx: &mut Context<'_>) {
        if let Some(reporter) = &mut self.reporter {
            reporter.on_sent(event, cx.now);
        }
        self.tell(Handler::Sent, event, cx);
    }

    fn on_ack(&mut self, event: &event::Ack, cx: &mut Context<'_>) {
        if let Some(reporter) = &mut self.reporter {
            reporter.on_ack(event, cx.now);
        }
        self.tell(Handler::Ack, event, cx);
        self.report(cx);
    }

    fn on_lost(&mut self, event: &event::Lost, cx: &mut Context<'_>) {
        if let Some(reporter) = &mut self.reporter {
            reporter.on_lost(event);
        }
        self.tell(Handler::Lost, event, cx);
    }

    fn on_timeout(&mut self, event: &event::Timeout, cx: &mut Context<'_>) {
        if let Some(reporter) = &mut self.reporter {
            reporter.on_timeout();
        }
        self.tell(Handler::Timeout, event, cx);
        self.report(cx);
    }

    fn on_spurious_loss(&mut self, event: &event::SpuriousLoss, cx: &mut Context<'_>) {
        self.tell(Handler::SpuriousLoss, event, cx);
    }

    fn on_ecn(&mut self, event: &event::EcnCounts, cx: &mut Context<'_>) {
        self.tell(Handler::Ecn, event, cx);
    }

    fn on_rtt(&mut self, event: &event::RttSample, cx: &mut Context<'_>) {
        if let Some(reporter) = &mut self.reporter {
            reporter.on_rtt(event);
        }
        self.tell(Handler::Rtt, event, cx);
    }

    fn on_app_limited(&mut self, cx: &mut Context<'_>) {
        self.tell_of_path(Handler::AppLimited, cx);
    }

    fn on_idle_restart(&mut self, cx: &mut Context<'_>) {
        self.tell_of_path(Handler::IdleRestart, cx);
    }

    fn on_seed(&mut self, window: Bytes, cx: &mut Context<'_>) {
        self.tell(Handler::Seed, &window, cx);
    }

    fn control(&self) -> Control {
        self.control
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn observe(&self, out: &mut dyn Observer) {
        if !self.defined[Handler::Observe as usize] {
            return;
        }
        for (name, value) in observed(self.handle) {
            // The host gives a limited number of names.
            match kept(&name) {
                Some("state") => {
                    if let Some(state) = kept(&value) {
                        out.state(state);
                    }
                }
                Some(name) => {
                    if let Ok(value) = value.parse() {
                        out.variable(name, value);
                    }
                }
                None => {}
            }
        }
    }
}
