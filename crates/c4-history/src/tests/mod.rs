//! Behaviour of the early versions as a whole, and the flows that tests of their parts use.

mod bottleneck;
mod events;
mod properties;
mod rival;

use super::constants::ALPHA_NEUTRAL;
use super::growth::Growth;
use super::slips::Slips;
use super::{EarlyC4, Version};
use std::ops::{Deref, DerefMut};
use thalweg_control::Init;
use thalweg_control::fake_transport::{self, PICOQUIC};
use thalweg_units::{Bytes, Duration};

pub(super) const VERSIONS: [Version; 4] = [
    Version::V1,
    Version::V1NoExitOnDelay,
    Version::V2,
    Version::V3,
];

/// Size of a full packet.
pub(super) const MTU: Bytes = PICOQUIC.mtu;

/// A flow of an early C4.
pub(super) struct Flow(fake_transport::Flow<EarlyC4>);

impl Deref for Flow {
    type Target = fake_transport::Flow<EarlyC4>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Flow {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Flow {
    pub(super) fn of(controller: Box<EarlyC4>, init: &Init) -> Self {
        Flow(fake_transport::Flow::of(controller, init))
    }

    /// A new controller on a path of which ten packets are acknowledged.
    pub(super) fn of_version(version: Version) -> Self {
        let c4 = EarlyC4::new(version, Slips::AS_PUBLISHED, &PICOQUIC);
        let mut flow = Flow::of(Box::new(c4), &PICOQUIC);
        flow.path.next_packet = 10;
        flow.path.largest_acked = Some(9);
        flow.busy();
        flow
    }

    /// A controller that cruises at `nominal` with a minimum RTT set just now, ten seconds in.
    pub(super) fn cruising(version: Version, nominal: u64, rtt_ms: u64) -> Self {
        let mut flow = Flow::of_version(version);
        let rtt = Duration::from_millis(rtt_ms);
        flow.work_for(10_000);
        (flow.path.smoothed_rtt, flow.path.latest_rtt) = (rtt, rtt);
        let now = flow.now;
        let c4 = &mut flow.controller;
        (0..8).for_each(|_| c4.filter.push(rtt));
        c4.min_rtt.set(rtt, rtt, now);
        c4.nominal = Bytes::new(nominal);
        c4.growth = Growth::of(c4.nominal, ALPHA_NEUTRAL);
        flow.call(|c4, cx| {
            c4.enter_cruise(cx);
            c4.update_output(cx);
        });
        flow
    }

    /// The sender has data to send for this many milliseconds.
    pub(super) fn work_for(&mut self, ms: u64) {
        self.advance(Duration::from_millis(ms));
        self.busy();
    }

    /// The sender has had data to send all the time.
    pub(super) fn busy(&mut self) {
        self.path.newest_acked_data_sent = self.path.last_idle + Duration::from_millis(1);
    }

    /// An ACK of a packet during whose flight `delivered` arrived, with the present largest packet.
    pub(super) fn deliver(&mut self, delivered: u64, rtt_ms: u64) {
        self.acked = Bytes::new(delivered);
        self.path.latest_rtt = Duration::from_millis(rtt_ms);
        self.report_ack();
    }

    /// The ACK that ends the present era.
    pub(super) fn end_era(&mut self, delivered: u64, rtt_ms: u64) {
        self.path.largest_acked = Some(self.path.next_packet);
        self.path.next_packet += 1;
        self.deliver(delivered, rtt_ms);
    }

    pub(super) fn rtts(&mut self, count: usize, rtt_ms: u64) {
        self.path.latest_rtt = Duration::from_millis(rtt_ms);
        (0..count).for_each(|_| self.report_rtt());
    }

    pub(super) fn losses(&mut self, first: u64, count: u64) {
        (first..first + count).for_each(|packet| self.report_loss(packet));
    }
}
