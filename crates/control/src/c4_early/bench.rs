//! A bench for tests: one controller, the path that it is told about, and its events by hand.

use super::constants::ALPHA_NEUTRAL;
use super::growth::Growth;
use super::slips::Slips;
use super::{EarlyC4, Variant};
use crate::event::{Ack, EcnCounts, Lost, RttSample, Snapshot, SpuriousLoss, Timeout};
use crate::{Context, Controller, Init, Observer, PathState, Rng};
use std::fmt::Write;
use thalweg_units::{Bytes, Duration, Instant};

pub(super) const VARIANTS: [Variant; 4] = [
    Variant::V1,
    Variant::V1NoExitOnDelay,
    Variant::V2,
    Variant::V3,
];

/// Size of a full packet.
pub(super) const MTU: Bytes = Bytes::new(1440);

pub(super) struct Bench {
    pub(super) c4: EarlyC4,
    pub(super) path: PathState,
    pub(super) now: Instant,
    rng: Rng,
}

impl Bench {
    /// A new controller on an established path of which ten packets are acknowledged.
    pub(super) fn new(variant: Variant) -> Self {
        let init = Init {
            now: Instant::START,
            mtu: MTU,
            initial_window: Bytes::new(15_360),
        };
        let mut path = PathState::new(MTU);
        path.established = true;
        path.next_packet = 10;
        path.largest_acked = Some(9);
        let c4 = EarlyC4::new(variant, Slips::AS_PUBLISHED, &init);
        let mut bench = Bench {
            c4,
            path,
            now: Instant::START,
            rng: Rng::new(1),
        };
        bench.busy();
        bench
    }

    /// A controller that cruises at `nominal` with a minimum RTT set just now, ten seconds in.
    pub(super) fn cruising(variant: Variant, nominal: u64, rtt_ms: u64) -> Self {
        let mut bench = Bench::new(variant);
        let rtt = Duration::from_millis(rtt_ms);
        bench.advance(10_000);
        (bench.path.smoothed_rtt, bench.path.latest_rtt) = (rtt, rtt);
        let c4 = &mut bench.c4;
        (0..8).for_each(|_| c4.filter.push(rtt));
        c4.min_rtt.set(rtt, rtt, bench.now);
        c4.nominal = Bytes::new(nominal);
        c4.growth = Growth::of(c4.nominal, ALPHA_NEUTRAL);
        bench.with(|c4, cx| {
            c4.enter_cruise(cx);
            c4.update_output(cx);
        });
        bench
    }

    /// Calls into the controller with a context.
    pub(super) fn with<R>(&mut self, act: impl FnOnce(&mut EarlyC4, &mut Context<'_>) -> R) -> R {
        let mut cx = Context {
            now: self.now,
            path: &self.path,
            rng: &mut self.rng,
        };
        act(&mut self.c4, &mut cx)
    }

    pub(super) fn advance(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        self.busy();
    }

    /// The sender has had data to send all the time.
    pub(super) fn busy(&mut self) {
        self.path.newest_acked_data_sent = self.path.last_idle + Duration::from_millis(1);
    }

    pub(super) fn snapshot(&self, delivered: u64) -> Snapshot {
        Snapshot {
            sent: self.now,
            in_flight_at_send: Bytes::ZERO,
            delivered_at_send: Bytes::ZERO,
            lost_at_send: Bytes::ZERO,
            delivered_since_sent: Bytes::new(delivered),
            lost_since_sent: Bytes::ZERO,
            app_limited: false,
            window_limited: true,
        }
    }

    /// An ACK of a packet during whose flight `delivered` arrived, with the present largest packet.
    pub(super) fn ack(&mut self, delivered: u64, rtt_ms: u64) {
        let rtt = Duration::from_millis(rtt_ms);
        self.path.latest_rtt = rtt;
        let ack = Ack {
            largest: self.path.largest_acked.unwrap_or(0),
            newly_acked: Bytes::new(delivered),
            newly_acked_packets: delivered / MTU.as_u64(),
            newly_lost: Bytes::ZERO,
            lost_ranges: 0,
            rtt: Some(rtt),
            snapshot: self.snapshot(delivered),
            rate: None,
            prior_in_flight: Bytes::ZERO,
        };
        self.with(|c4, cx| c4.on_ack(&ack, cx));
    }

    /// The ACK that ends the present era.
    pub(super) fn end_era(&mut self, delivered: u64, rtt_ms: u64) {
        self.path.largest_acked = Some(self.path.next_packet);
        self.path.next_packet += 1;
        self.ack(delivered, rtt_ms);
    }

    pub(super) fn rtts(&mut self, count: usize, rtt_ms: u64) {
        let rtt = Duration::from_millis(rtt_ms);
        self.path.latest_rtt = rtt;
        for _ in 0..count {
            self.with(|c4, cx| c4.on_rtt(&RttSample { rtt, raw: rtt }, cx));
        }
    }

    pub(super) fn losses(&mut self, first: u64, count: u64) {
        for packet in first..first + count {
            let snapshot = self.snapshot(0);
            let lost = Lost {
                packet,
                size: MTU,
                snapshot,
                persistent_congestion: false,
            };
            self.with(|c4, cx| c4.on_lost(&lost, cx));
        }
    }

    pub(super) fn ce(&mut self) {
        self.with(|c4, cx| c4.on_ecn(&EcnCounts::default(), cx));
    }

    pub(super) fn seed(&mut self, window: u64) {
        self.with(|c4, cx| c4.on_seed(Bytes::new(window), cx));
    }

    pub(super) fn timeout_spurious_loss_and_idle_restart(&mut self) {
        let timeout = Timeout {
            count: 1,
            packet: 1,
            snapshot: self.snapshot(0),
        };
        let spurious = SpuriousLoss {
            packet: 1,
            size: MTU,
            sent: self.now,
            timeout_only: false,
        };
        self.with(|c4, cx| {
            c4.on_timeout(&timeout, cx);
            c4.on_spurious_loss(&spurious, cx);
            c4.on_app_limited(cx);
            c4.on_idle_restart(cx);
        });
    }

    /// State and variables, one per line.
    pub(super) fn observed(&self) -> String {
        struct Lines(String);
        impl Observer for Lines {
            fn state(&mut self, name: &'static str) {
                writeln!(self.0, "state {name}").unwrap();
            }
            fn variable(&mut self, name: &'static str, value: f64) {
                writeln!(self.0, "{name} {value}").unwrap();
            }
        }
        let mut lines = Lines(String::new());
        self.c4.observe(&mut lines);
        lines.0
    }
}
