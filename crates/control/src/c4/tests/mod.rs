//! Behaviour of C4, driven through its event handlers by a path that each test makes up.

mod calls;
mod cycle;
mod initial;
mod outputs;
mod properties;
mod resuming;
mod signals;
mod versions;

use super::options::OPTIONS;
use super::{C4, State, Tuning};
use crate::event::EcnCounts;
use crate::fake_transport::{self, PICOQUIC};
use crate::{Controller, Options};
use thalweg_units::{Bytes, Duration, Instant, Rate};

const MTU: Bytes = PICOQUIC.mtu;
const INITIAL_WINDOW: Bytes = PICOQUIC.initial_window;
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

type Flow = fake_transport::Flow<C4>;

impl Flow {
    /// A connection of draft -04 before its first acknowledgement, on a path of 80 ms.
    fn fresh() -> Self {
        Self::with_options(&[("variant", "draft-04")])
    }

    /// The same with some options set.
    fn with_options(set: &[(&'static str, &str)]) -> Self {
        let defaults = OPTIONS.iter().map(|doc| (doc.name, doc.default));
        let set = defaults.chain(set.iter().copied());
        let options = Options(set.map(|(name, value)| (name, value.to_owned())).collect());
        let c4 = C4::new(Tuning::from_options(&options), &PICOQUIC);
        let mut flow = Flow::of(Box::new(c4), &PICOQUIC);
        flow.path.latest_rtt = ms(80);
        flow.path.smoothed_rtt = ms(80);
        flow
    }

    /// A flow in the given state, its era just begun, without history.
    fn in_state(state: State, bytes_per_second: u64, max_rtt: Duration) -> Self {
        Flow::of_variant("draft-04", state, bytes_per_second, max_rtt)
    }

    /// The same of any variant.
    fn of_variant(variant: &str, state: State, bytes_per_second: u64, max_rtt: Duration) -> Self {
        let mut flow = Flow::with_options(&[("variant", variant)]);
        flow.path.latest_rtt = max_rtt;
        flow.path.smoothed_rtt = max_rtt;
        flow.path.delivery_rate = rate(bytes_per_second);
        let (c4, path) = (&mut flow.controller, &flow.path);
        c4.nominal_rate = rate(bytes_per_second);
        c4.running_min_rtt = max_rtt;
        c4.set_nominal_max_rtt(max_rtt);
        match state {
            State::Initial => {}
            State::Recovery => c4.enter_recovery(None, path),
            State::Cruising => {
                c4.alpha = super::constants::ALPHA_RECOVERY;
                c4.mark_reference();
                c4.enter_cruising(path);
            }
            State::Probing => {
                c4.mark_reference();
                c4.enter_probing(path);
            }
            State::Pushing => c4.enter_pushing(path),
            State::Resuming => c4.enter_resuming(Bytes::new(100_000), path),
        }
        c4.apply_outputs(path);
        flow
    }

    /// One acknowledgement with its RTT sample; no era ends unless the path says so.
    fn report_ack_with_rtt(&mut self) {
        self.report_rtt();
        self.report_ack();
    }

    /// The era's first packet is acknowledged, a flight of later ones having left.
    fn end_era(&mut self) {
        self.path.lowest_unacked = self.controller.era.start + 1;
        self.path.next_packet = self.controller.era.start + FLIGHT;
        self.report_ack_with_rtt();
    }

    /// An era ends that delivered more than a bandwidth-delay product at `bytes_per_second`.
    fn end_era_at(&mut self, bytes_per_second: u64) {
        self.path.delivery_rate = rate(bytes_per_second);
        self.acked = rate(bytes_per_second).bytes_in(self.path.latest_rtt) + MTU;
        self.end_era();
    }

    /// Cumulative counts with a grown number of CE marks.
    fn mark(&mut self, ect1: u64, ce: u64) {
        self.report_ecn(EcnCounts {
            ect0: 0,
            ect1,
            ce,
            largest_acked: 0,
        });
    }

    fn pacing(&self) -> u64 {
        self.control().pacing.expect("paced").as_bytes_per_sec()
    }
    fn nominal(&self) -> u64 {
        self.controller.nominal_rate.as_bytes_per_sec()
    }
}
