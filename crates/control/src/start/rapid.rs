//! Rapid Start (draft-kazuho-ccwg-rapid-start-02).
//!
//! The first flight is up to twice the initial window, paced over a whole round trip (section 3.1). The window then
//! triples each round trip while the RTT shows no queue, and doubles while it does (section 3.2). The first loss or
//! mark begins a recovery period in which the window shrinks with what is acknowledged and lost, to beta times what
//! the path and its queue hold (section 3.3). The start ends with that period.
//!
//! Where the draft leaves a choice:
//! - The first flight is twice the initial window if the handshake gave an RTT to pace it by. Otherwise it is the
//!   initial window, and the round after it, the first that sends more than classic slow start would, is paced so.
//! - A round for the RTT floor is as in HyStart++, by packet numbers; HyStart++ itself is not used with it.
//! - The window stops shrinking at beta times the initial window.
//! - CUBIC goes on as if the window that is left were beta times W_max: the draft calls it beta times the full BDP.

use super::{Pacing, Recovery, SlowStart, Verdict};
use crate::event::Ack;
use crate::phase::RAPID_START;
use crate::{Context, Init, PathState};
use thalweg_units::{Bytes, Duration, Rate};

/// Section 3.2: the RTT above which a queue is building is `min(min_rtt + 4 ms, min_rtt * 1.10)`.
const QUEUE_DELAY: Duration = Duration::from_millis(4);
/// K of section 3.3.1.
const K: f64 = 2.0 / 3.0;
/// The fastest growth of a round trip, which bounds the reduction (section 3.3).
const FASTEST_GROWTH: f64 = 3.0;
/// First flight over the initial window (section 3.1: up to twice).
const FIRST_FLIGHT: u64 = 2;
/// Packets of a burst while the first flight is paced: the least that the transport sends at once.
const BURST: u64 = 2;

/// The algorithm and its state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rapid {
    initial_window: Bytes,
    /// Share of the window that the controller keeps after a loss.
    beta: f64,
    round: Round,
    first_flight: FirstFlight,
    pacing: Option<Pacing>,
    recovering: Option<Recovering>,
}

/// A round trip by packet numbers (RFC 9406 section 4.2).
#[derive(Clone, Copy, Debug)]
struct Round {
    /// First packet of the next round; `None` before the first ACK.
    end: Option<u64>,
    /// Smallest RTT sample of the round: rtt_floor.
    floor: Duration,
}

/// How far the flow is with the first flight that is larger than the first flight of classic slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstFlight {
    /// Not sent yet, as no RTT is known.
    Ahead,
    /// It is sent; an ACK of this packet, or a later one, ends it.
    Until(u64),
    Over,
}

/// The recovery period of section 3.3. Bytes, as real numbers.
#[derive(Clone, Copy, Debug)]
struct Recovering {
    window: f64,
    least: f64,
}

impl Rapid {
    pub(super) fn new(init: &Init, beta: f64) -> Self {
        Rapid {
            initial_window: init.initial_window,
            beta,
            round: Round {
                end: None,
                floor: Duration::MAX,
            },
            first_flight: FirstFlight::Ahead,
            pacing: None,
            recovering: None,
        }
    }

    /// Takes the RTT sample of an ACK.
    fn observe(&mut self, ack: &Ack, path: &PathState) {
        if self.round.end.is_none_or(|end| ack.largest >= end) {
            self.round.end = Some(path.next_packet);
            self.round.floor = Duration::MAX;
        }
        self.round.floor = self.round.floor.min(ack.rtt.unwrap_or(Duration::MAX));
    }

    /// Section 3.2. Without a sample of this round there is no sign of a queue.
    fn is_queue_building(&self, path: &PathState) -> bool {
        let threshold = (path.min_rtt + QUEUE_DELAY).min(path.min_rtt.mul_div(11, 10));
        self.round.floor != Duration::MAX && self.round.floor > threshold
    }

    /// Section 3.1: `window` over a whole RTT.
    fn pace(&mut self, window: Bytes, path: &PathState) {
        let rate = Rate::over(window, path.smoothed_rtt).max(Rate::from_bits_per_sec(1));
        self.pacing = Some(Pacing {
            rate,
            quantum: path.mtu * BURST,
        });
    }

    fn follow_first_flight(&mut self, ack: &Ack, window: Bytes, path: &PathState) {
        match self.first_flight {
            FirstFlight::Ahead => {
                self.first_flight = FirstFlight::Until(path.next_packet);
                self.pace(window, path);
            }
            FirstFlight::Until(packet) if ack.largest >= packet => {
                self.first_flight = FirstFlight::Over;
                self.pacing = None;
            }
            FirstFlight::Until(_) if self.pacing.is_some() => self.pace(window, path),
            FirstFlight::Until(_) | FirstFlight::Over => {}
        }
    }

    /// ack_factor of section 3.3.1; `silence_factor` and `loss_factor` are beta more.
    fn ack_factor(&self) -> f64 {
        K * (1.0 - self.beta)
    }

    fn loss_factor(&self) -> f64 {
        self.beta + self.ack_factor()
    }
}

impl SlowStart for Rapid {
    fn state(&self) -> &'static str {
        RAPID_START
    }

    fn on_handshake_rtt(&mut self, window: Bytes, cx: &Context<'_>) -> Option<Bytes> {
        if self.first_flight != FirstFlight::Ahead {
            return None;
        }
        let flight = window.max(self.initial_window * FIRST_FLIGHT);
        self.first_flight = FirstFlight::Until(cx.path.next_packet);
        self.pace(flight, cx.path);
        Some(flight)
    }

    fn on_ack(&mut self, ack: &Ack, window: Bytes, cx: &Context<'_>) -> Verdict {
        self.observe(ack, cx.path);
        let growth = match self.is_queue_building(cx.path) {
            true => ack.newly_acked,
            false => ack.newly_acked * 2,
        };
        self.follow_first_flight(ack, window + growth, cx.path);
        Verdict::Grow(growth)
    }

    fn on_underused(&mut self, ack: &Ack, window: Bytes, cx: &Context<'_>) -> Verdict {
        self.observe(ack, cx.path);
        self.follow_first_flight(ack, window, cx.path);
        Verdict::Grow(Bytes::ZERO)
    }

    fn on_congestion(&mut self, window: Bytes, _cx: &Context<'_>) -> Option<Bytes> {
        if self.recovering.is_some() {
            return None; // no longer the first recovery period
        }
        self.pacing = None;
        let before = window.as_u64() as f64;
        let silenced = before * self.loss_factor();
        let least = (before * self.beta / FASTEST_GROWTH)
            .max(self.initial_window.as_u64() as f64 * self.beta);
        self.recovering = Some(Recovering {
            window: silenced,
            least: least.min(silenced),
        });
        Some(Bytes::new(silenced.round() as u64))
    }

    fn recover(&mut self, ack: &Ack, window: Bytes, is_open: bool) -> Option<Recovery> {
        let (ack_factor, loss_factor) = (self.ack_factor(), self.loss_factor());
        let recovering = self.recovering.as_mut()?;
        if !is_open {
            return Some(Recovery::Done {
                ssthresh: window,
                full: window.scale(1.0 / self.beta),
            });
        }
        let reduction = ack_factor * ack.newly_acked.as_u64() as f64
            + loss_factor * ack.newly_lost.as_u64() as f64;
        recovering.window = (recovering.window - reduction).max(recovering.least);
        Some(Recovery::Window(Bytes::new(
            recovering.window.round() as u64
        )))
    }

    fn pacing(&self) -> Option<Pacing> {
        self.pacing
    }

    fn copied(&self) -> Box<dyn SlowStart> {
        Box::new(*self)
    }
}

#[cfg(test)]
mod tests {
    use crate::fake_transport::{Bottleneck, Flow, MTU};
    use thalweg_units::{Bytes, Duration, Rate};

    const RTT: Duration = Duration::from_millis(40);

    #[test]
    fn the_window_triples_while_the_rtt_shows_no_queue_and_doubles_while_it_does() {
        let mut flow = Flow::new("reno:start=rapid");
        for packets in [30.0, 90.0, 270.0] {
            flow.round(RTT);
            assert_eq!(flow.packets(), packets);
        }
        // Section 3.2: min(40 ms + 4 ms, 40 ms * 1.1) = 44 ms is not a queue yet.
        flow.round(Duration::from_millis(44));
        assert_eq!(flow.packets(), 810.0);
        flow.round(Duration::from_millis(45));
        assert_eq!(flow.packets(), 1620.0);
    }

    #[test]
    fn on_a_long_path_four_milliseconds_are_a_queue() {
        let mut flow = Flow::new("reno:start=rapid");
        flow.round(Duration::from_millis(200));
        flow.round(Duration::from_millis(204));
        assert_eq!(flow.packets(), 90.0);
        flow.round(Duration::from_millis(205));
        assert_eq!(flow.packets(), 180.0);
    }

    #[test]
    fn with_an_rtt_of_the_handshake_the_first_flight_is_twice_as_large_and_paced_over_it() {
        let mut flow = Flow::new("reno:start=rapid");
        flow.path.take_rtt(RTT, Duration::ZERO);
        flow.call(|controller, cx| controller.on_handshake_rtt(cx));
        assert_eq!(flow.packets(), 20.0);
        let control = flow.control();
        assert_eq!(control.pacing, Some(Rate::over(MTU * 20, RTT)));
        assert_eq!(control.quantum, MTU * 2);
        flow.round(RTT);
        assert_eq!(flow.packets(), 60.0);
        assert_eq!(flow.control().pacing, None, "the transport paces");
    }

    #[test]
    fn without_one_the_first_round_beyond_classic_slow_start_is_paced_over_an_rtt() {
        let mut flow = Flow::new("reno:start=rapid");
        assert_eq!(flow.control().pacing, None);
        flow.round(RTT);
        assert_eq!(flow.control().pacing, Some(Rate::over(MTU * 30, RTT)));
        flow.round(RTT);
        assert_eq!(flow.control().pacing, None);
    }

    /// A flow of 270 packets, all of them in flight, of which the first is lost.
    fn losing(name: &str) -> Flow {
        let mut flow = Flow::new(name);
        for _ in 0..3 {
            flow.round(RTT);
        }
        flow.fill_window();
        flow.advance(RTT);
        flow.lose(flow.in_flight()[0]);
        flow
    }

    /// Acknowledges the next `acked` packets, in an ACK that finds the next `lost` ones lost.
    fn answer(flow: &mut Flow, acked: usize, lost: usize) {
        let sent = flow.in_flight();
        for packet in &sent[acked..acked + lost] {
            flow.lose(*packet);
        }
        let mut ack = flow.receive(&sent[..acked], 0).unwrap();
        ack.newly_lost = MTU * lost as u64;
        flow.call(|controller, cx| controller.on_ack(&ack, cx));
    }

    #[test]
    fn the_first_recovery_reduces_by_what_is_acknowledged_and_lost() {
        // Section 3.3.1 for beta 0.5: silence 5/6, ack 1/3, loss 5/6.
        let mut flow = losing("reno:start=rapid");
        assert_eq!((flow.packets(), flow.state()), (225.0, "recovery"));
        answer(&mut flow, 30, 0);
        assert_eq!(flow.packets(), 215.0); // 225 - 30/3
        answer(&mut flow, 30, 60);
        assert_eq!(flow.packets(), 155.0); // 215 - 30/3 - 60 * 5/6
        // For beta 0.7: 0.9, 0.2, 0.9.
        let mut flow = losing("cubic:start=rapid");
        assert_eq!(flow.packets(), 243.0);
        answer(&mut flow, 30, 60);
        assert_eq!(flow.packets(), 183.0); // 243 - 6 - 54
    }

    #[test]
    fn the_window_that_is_left_is_beta_times_what_was_delivered_whatever_is_lost() {
        // Appendix A: 270 packets before, of which the path delivers 135 or 225: half of each is left, and the loss
        // that began the period counts with the losses of the first ACK.
        for delivered in [135, 225] {
            let mut flow = losing("reno:start=rapid");
            let mut ack = flow.receive(&[flow.in_flight()[0]], 0).unwrap();
            ack.newly_lost = MTU;
            flow.call(|controller, cx| controller.on_ack(&ack, cx));
            answer(&mut flow, delivered - 1, 270 - delivered - 1);
            assert!((flow.packets() - delivered as f64 / 2.0).abs() <= 0.01);
            let next = flow.send();
            flow.advance(RTT);
            flow.ack(next);
            assert_eq!(flow.state(), "congestion avoidance");
            let ssthresh = flow.variable("ssthresh").unwrap();
            assert!((ssthresh - 500.0 * delivered as f64).abs() <= 10.0);
        }
    }

    #[test]
    fn a_third_of_beta_times_the_window_before_is_the_least() {
        let mut flow = losing("reno:start=rapid");
        answer(&mut flow, 1, 260);
        assert_eq!(flow.packets(), 45.0); // 270 * 0.5 / 3
    }

    #[test]
    fn cubic_goes_on_from_a_plateau_of_the_window_over_beta() {
        let mut flow = losing("cubic:start=rapid");
        let rest = flow.in_flight().len();
        answer(&mut flow, rest, 0);
        let left = flow.window().as_u64() as f64;
        let next = flow.send();
        flow.advance(RTT);
        flow.ack(next);
        assert_eq!(flow.state(), "congestion avoidance");
        let w_max = flow.variable("w_max").unwrap();
        assert!((w_max - left / 0.7).abs() <= 2.0, "{w_max}");
    }

    /// The first ten rounds of congestion avoidance after a recovery that left a window, in packets.
    fn growth_after_recovery(name: &str) -> (f64, f64) {
        let mut flow = losing(name);
        let rest = flow.in_flight().len();
        answer(&mut flow, rest, 0);
        let before = flow.packets();
        for _ in 0..10 {
            flow.round(RTT);
        }
        (before, flow.packets())
    }

    #[test]
    fn the_kernels_cubic_knows_its_maximum_after_this_start() {
        // 270 packets were in flight and 269 arrived: 189 are left. K = cbrt(189 / 0.7 * 0.3 / 0.4) = 5.9 s, so that ten
        // rounds of 40 ms give about 270 - 0.4 * (5.9 - 0.4)^3 = 205 packets; without a known maximum the kernel would
        // grow by a twentieth each, to 189 * 1.05^10 = 308.
        let (rfc, linux) = (
            growth_after_recovery("cubic:start=rapid"),
            growth_after_recovery("cubic:variant=linux,start=rapid"),
        );
        assert_eq!(rfc.0, linux.0);
        assert!((190.0..215.0).contains(&linux.1), "{linux:?}");
        assert!((linux.1 / rfc.1 - 1.0).abs() < 0.02, "{rfc:?} {linux:?}");
    }

    #[test]
    fn a_loss_that_proves_spurious_takes_cubic_back_to_the_start() {
        let mut flow = Flow::new("cubic:start=rapid");
        for _ in 0..2 {
            flow.round(RTT);
        }
        flow.fill_window();
        let first = flow.in_flight()[0];
        flow.lose(first);
        flow.spurious(first);
        assert_eq!((flow.packets(), flow.state()), (90.0, "rapid start"));
    }

    #[test]
    fn a_path_is_full_sooner_than_with_classic_slow_start() {
        let full_after = |name: &str| {
            let mut path = Bottleneck::new(name, 100, 50, Bytes::new(1_250_000));
            path.run_while(path.flow.now + Duration::from_secs(10), |path| {
                path.queue().is_zero() || path.flow.window() < path.bdp()
            });
            path.flow.now.as_secs_f64()
        };
        // 625 kB are 40 initial windows: 3.4 round trips of tripling, 5.3 of doubling.
        let (rapid, classic) = (full_after("reno:start=rapid"), full_after("reno"));
        assert!(rapid < 0.8 * classic, "{rapid} {classic}");
    }
}
