//! Behaviour of C4, driven through its event handlers by a path that is made up as a test needs it.

mod cycle;
mod initial;
mod outputs;
mod properties;
mod resuming;
mod signals;

use super::options::OPTIONS;
use super::{C4, State, Tuning};
use crate::event::{Ack, EcnCounts, Lost, RttSample, Snapshot};
use crate::{Context, Controller, Init, Options, PathState, Rng};
use rand_core::SeedableRng;
use thalweg_units::{Bytes, Duration, Instant, Rate};

const MTU: Bytes = Bytes::new(1_440);
const INITIAL_WINDOW: Bytes = Bytes::new(15_360);
/// Packets of one era.
const FLIGHT: u64 = 50;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}
/// Bytes per second.
fn rate(n: u64) -> Rate {
    Rate::from_bytes_per_sec(n)
}

/// A controller, and the path that its transport pretends to measure.
struct Flow {
    c4: C4,
    path: PathState,
    /// Bytes that each acknowledgement acknowledges, and says were delivered since its packet left.
    acked: Bytes,
    /// State before and after each event, when they differ.
    transitions: Vec<(State, State)>,
    rng: Rng,
}

impl Flow {
    /// A connection with its handshake done, before the first acknowledgement, on a path of 80 ms.
    fn new() -> Self {
        Self::with_options(&[])
    }

    /// The same with some options set.
    fn with_options(set: &[(&'static str, &str)]) -> Self {
        let defaults = OPTIONS.iter().map(|doc| (doc.name, doc.default));
        let set = defaults.chain(set.iter().copied());
        let options = Options(set.map(|(name, value)| (name, value.to_owned())).collect());
        let init = Init {
            now: Instant::START,
            mtu: MTU,
            initial_window: INITIAL_WINDOW,
        };
        let mut path = PathState::new(MTU);
        path.established = true;
        path.latest_rtt = ms(80);
        path.smoothed_rtt = ms(80);
        path.newest_acked_data_sent = Instant::from_nanos(1);
        Flow {
            c4: C4::new(Tuning::from_options(&options), &init),
            path,
            acked: MTU,
            transitions: Vec::new(),
            rng: Rng::seed_from_u64(0),
        }
    }

    /// A flow in the given state, its era just begun, with no history that would steer it.
    fn in_state(state: State, bytes_per_second: u64, max_rtt: Duration) -> Self {
        let mut flow = Flow::new();
        flow.path.latest_rtt = max_rtt;
        flow.path.smoothed_rtt = max_rtt;
        flow.path.delivery_rate = rate(bytes_per_second);
        flow.c4.nominal_rate = rate(bytes_per_second);
        flow.c4.running_min_rtt = max_rtt;
        flow.c4.set_nominal_max_rtt(max_rtt);
        match state {
            State::Initial => {}
            State::Recovery => flow.c4.enter_recovery(None, &flow.path),
            State::Cruising => {
                flow.c4.alpha = super::constants::ALPHA_RECOVERY;
                flow.c4.mark_reference();
                flow.c4.enter_cruising(&flow.path);
            }
            State::Probing => {
                flow.c4.mark_reference();
                flow.c4.enter_probing(&flow.path);
            }
            State::Pushing => flow.c4.enter_pushing(&flow.path),
            State::Resuming => flow.c4.enter_resuming(Bytes::new(100_000), &flow.path),
        }
        flow.c4.apply_outputs(&flow.path);
        flow
    }

    fn call<R>(&mut self, handler: impl FnOnce(&mut C4, &mut Context<'_>) -> R) -> R {
        let before = self.c4.state;
        let mut cx = Context {
            now: Instant::START,
            path: &self.path,
            rng: &mut self.rng,
        };
        let result = handler(&mut self.c4, &mut cx);
        if self.c4.state != before {
            self.transitions.push((before, self.c4.state));
        }
        result
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            sent: Instant::START,
            in_flight_at_send: Bytes::ZERO,
            delivered_at_send: Bytes::ZERO,
            lost_at_send: Bytes::ZERO,
            delivered_since_sent: self.acked,
            lost_since_sent: Bytes::ZERO,
            app_limited: false,
            window_limited: false,
        }
    }

    /// The latest RTT of the path is reported.
    fn report_rtt(&mut self) {
        let rtt = self.path.latest_rtt;
        self.call(|c4, cx| c4.on_rtt(&RttSample { rtt, raw: rtt }, cx));
    }

    /// One acknowledgement with its RTT sample; no era ends unless the path says so.
    fn ack(&mut self) {
        self.report_rtt();
        let ack = Ack {
            largest: self.path.lowest_unacked.saturating_sub(1),
            newly_acked: self.acked,
            newly_acked_packets: 1,
            newly_lost: Bytes::ZERO,
            lost_ranges: 0,
            rtt: Some(self.path.latest_rtt),
            snapshot: self.snapshot(),
            rate: None,
            prior_in_flight: Bytes::ZERO,
        };
        self.call(|c4, cx| c4.on_ack(&ack, cx));
    }

    /// The era's first packet is acknowledged, a flight of later ones having left.
    fn end_era(&mut self) {
        self.path.lowest_unacked = self.c4.era.start + 1;
        self.path.next_packet = self.c4.era.start + FLIGHT;
        self.ack();
    }

    /// An era ends that delivered more than a bandwidth-delay product at `bytes_per_second`.
    fn end_era_at(&mut self, bytes_per_second: u64) {
        self.path.delivery_rate = rate(bytes_per_second);
        self.acked = rate(bytes_per_second).bytes_in(self.path.latest_rtt) + MTU;
        self.end_era();
    }

    fn lose(&mut self, packet: u64) {
        let lost = Lost {
            packet,
            size: MTU,
            snapshot: self.snapshot(),
            persistent_congestion: false,
        };
        self.call(|c4, cx| c4.on_lost(&lost, cx));
    }

    /// Cumulative counts with a grown number of CE marks.
    fn mark(&mut self, ect1: u64, ce: u64) {
        let counts = EcnCounts {
            ect0: 0,
            ect1,
            ce,
            largest_acked: 0,
        };
        self.path.ecn = counts;
        self.call(|c4, cx| c4.on_ecn(&counts, cx));
    }

    fn window(&self) -> u64 {
        self.c4.control().window.as_u64()
    }
    fn pacing(&self) -> u64 {
        self.c4.control().pacing.expect("paced").as_bytes_per_sec()
    }
    fn nominal(&self) -> u64 {
        self.c4.nominal_rate.as_bytes_per_sec()
    }
}
