//! A datapath that reports: any controller, which hears of acknowledgements once in a while and not one by one.
//!
//! # Model
//! The model of CCP (Narayan et al., "Restructuring Endpoint Congestion Control", SIGCOMM 2018): the datapath sums up
//! what is acknowledged and reports it after each round trip or another time, and what is urgent, a loss, a timeout
//! or a larger path MTU, at once,
//! after what it holds. So a window does not follow acknowledgements: it jumps with each report.
//!
//! The controller gets one event for the acknowledgements of a report: their bytes and packets in sum, the newest of the
//! rest. Departures, idle times and times of arrival reach it as ever.
//!
//! # Limits
//! CCP's programs for the datapath also change windows between reports; none do here. A report is made with an
//! acknowledgement, so that the last ones of a flow may never be reported.

use thalweg_control::event::{
    Ack, Arrival, EcnCounts, Lost, RttSample, Sent, SpuriousLoss, Timeout,
};
use thalweg_control::report::Every;
use thalweg_control::{Context, Control, Controller, Init, Observer};
use thalweg_units::{Bytes, Ecn, Instant, Rate};

/// A controller behind such a datapath.
pub(crate) struct Reported {
    controller: Box<dyn Controller>,
    every: Every,
    /// When the last report was made, or the connection began.
    since: Instant,
    /// The path MTU at the last acknowledgement.
    mtu: Bytes,
    acks: Option<Ack>,
    rtt: Option<RttSample>,
    marks: Option<EcnCounts>,
}

impl Reported {
    /// One of a connection that starts like this.
    pub(crate) fn new(controller: Box<dyn Controller>, every: Every, init: &Init) -> Self {
        Reported {
            controller,
            every,
            since: init.now,
            mtu: init.mtu,
            acks: None,
            rtt: None,
            marks: None,
        }
    }

    /// Reports what is held, in the order of the calls of the trait.
    fn report(&mut self, cx: &mut Context<'_>) {
        self.since = cx.now;
        if let Some(marks) = self.marks.take() {
            self.controller.on_ecn(&marks, cx);
        }
        if let Some(rtt) = self.rtt.take() {
            self.controller.on_rtt(&rtt, cx);
        }
        if let Some(ack) = self.acks.take() {
            self.controller.on_ack(&ack, cx);
        }
    }

    fn hold(&mut self, event: &Ack) {
        let mut sum = event.clone();
        if let Some(held) = self.acks.take() {
            sum.newly_acked += held.newly_acked;
            sum.newly_acked_packets += held.newly_acked_packets;
            sum.newly_lost += held.newly_lost;
            sum.lost_ranges += held.lost_ranges;
            sum.rtt = sum.rtt.or(held.rtt);
            sum.rate = sum.rate.or(held.rate);
            sum.prior_in_flight = held.prior_in_flight;
        }
        self.acks = Some(sum);
    }
}

impl Controller for Reported {
    fn on_handshake_rtt(&mut self, cx: &mut Context<'_>) {
        self.controller.on_handshake_rtt(cx);
    }
    fn on_sent(&mut self, event: &Sent, cx: &mut Context<'_>) {
        self.controller.on_sent(event, cx);
    }
    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        self.hold(event);
        // RFC 9002 section 7.2: the least window is of packets of the size that is in force.
        let is_larger = cx.path.mtu > std::mem::replace(&mut self.mtu, cx.path.mtu);
        if is_larger || cx.now - self.since >= self.every.span(cx.path) {
            self.report(cx);
        }
    }
    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        self.report(cx);
        self.controller.on_lost(event, cx);
    }
    fn on_timeout(&mut self, event: &Timeout, cx: &mut Context<'_>) {
        self.report(cx);
        self.controller.on_timeout(event, cx);
    }
    fn on_spurious_loss(&mut self, event: &SpuriousLoss, cx: &mut Context<'_>) {
        self.report(cx);
        self.controller.on_spurious_loss(event, cx);
    }
    fn on_ecn(&mut self, event: &EcnCounts, _cx: &mut Context<'_>) {
        self.marks = Some(*event);
    }
    fn on_rtt(&mut self, event: &RttSample, _cx: &mut Context<'_>) {
        self.rtt = Some(event.clone());
    }
    fn on_app_limited(&mut self, cx: &mut Context<'_>) {
        self.controller.on_app_limited(cx);
    }
    fn on_idle_restart(&mut self, cx: &mut Context<'_>) {
        self.controller.on_idle_restart(cx);
    }
    fn on_seed(&mut self, window: Bytes, cx: &mut Context<'_>) {
        self.controller.on_seed(window, cx);
    }
    fn on_arrival(&mut self, event: &Arrival, cx: &mut Context<'_>) {
        self.controller.on_arrival(event, cx);
    }
    fn wants_arrivals(&self) -> bool {
        self.controller.wants_arrivals()
    }
    fn media_rate(&self) -> Option<Rate> {
        self.controller.media_rate()
    }
    fn control(&self) -> Control {
        self.controller.control()
    }
    fn is_undecided(&self) -> bool {
        self.controller.is_undecided()
    }
    fn ecn(&self) -> Ecn {
        self.controller.ecn()
    }
    fn observe(&self, out: &mut dyn Observer) {
        self.controller.observe(out);
    }
}
