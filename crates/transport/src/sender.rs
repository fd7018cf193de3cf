//! Measurements and counters of a sender, and its controller; for the modelled endpoint and foreign stacks.

use crate::delivery_rate::{DeliveryRate, SendState};
use crate::{Counters, PacketLog, Rules, TransportConfig, rtt};
use thalweg_control::event::{Lost, Sent};
use thalweg_control::{Context, Control, Controller, PathState, Rng};
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

/// Nothing in flight for this long, or for a probe timeout if that is longer, is an idle period.
const IDLE: Duration = Duration::from_secs(1);

/// The measurements of one sender and its controller.
#[repr(C)] // fields of every departure first
pub(crate) struct Sender {
    /// The current decision.
    pub(crate) control: Control,
    pub(crate) path: PathState,
    pub(crate) rate: DeliveryRate,
    pub(crate) log: PacketLog,
    /// `None` if a stack uses its own.
    controller: Option<Box<dyn Controller>>,
    pub(crate) counters: Counters,
    /// Number of events reported to the controller, consecutive departures counted once: traces sample a sender when
    /// it changes.
    pub(crate) reports: u64,
    rules: Rules,
    rng: Rng,
    /// Window and RTT of an earlier connection, until they are offered.
    seed: Option<(Bytes, Duration)>,
}

impl Sender {
    /// One of a connection that starts at `start` and has sent nothing. `rng` belongs to the controller.
    pub(crate) fn new(
        controller: Option<Box<dyn Controller>>,
        config: &TransportConfig,
        start: Instant,
        rng: Rng,
    ) -> Self {
        let control = match &controller {
            Some(controller) => controller.control(),
            None => Control {
                window: config.initial_window,
                pacing: None,
                quantum: Bytes::ZERO,
                startup_done: true,
            },
        };
        Sender {
            control,
            path: PathState::new(config.initial_mtu, start),
            rate: DeliveryRate::new(config.rules, start),
            controller,
            counters: Counters::default(),
            log: PacketLog::default(),
            reports: 0,
            rules: config.rules,
            rng,
            seed: config.seed,
        }
    }

    /// The controller draws from another stream from now on.
    pub(crate) fn reseed(&mut self, rng: Rng) {
        self.rng = rng;
    }

    /// The controller, unless a stack uses its own.
    pub(crate) fn controller(&self) -> Option<&dyn Controller> {
        self.controller.as_deref()
    }

    /// The rate at which media should be encoded: the rate of the controller, or what its decision allows.
    pub(crate) fn media_rate(&self) -> Option<Rate> {
        let determined = self
            .controller()
            .and_then(|controller| controller.media_rate());
        determined.or_else(|| self.control.rate(&self.path))
    }

    /// Binds another controller.
    pub(crate) fn replace_controller(&mut self, controller: Box<dyn Controller>) {
        self.controller = Some(controller);
        self.decide();
    }

    /// Whether the controller still has to decide.
    #[inline]
    pub(crate) fn is_undecided(&self) -> bool {
        (self.controller.as_ref()).is_some_and(|controller| controller.is_undecided())
    }

    /// Updates the decision of the controller.
    #[inline]
    pub(crate) fn decide(&mut self) {
        if let Some(controller) = &self.controller {
            self.control = controller.control();
        }
    }

    /// The controller's codepoint of packets.
    #[inline]
    pub(crate) fn ecn(&self) -> Ecn {
        (self.controller.as_ref()).map_or(Ecn::NotEct, |controller| controller.ecn())
    }

    /// Passes an event to the controller.
    #[inline]
    pub(crate) fn tell(
        &mut self,
        now: Instant,
        event: impl FnOnce(&mut dyn Controller, &mut Context<'_>),
    ) {
        self.reports += 1;
        self.tell_quietly(now, event);
    }

    /// Reports an event that traces do not show to the controller.
    #[inline]
    fn tell_quietly(
        &mut self,
        now: Instant,
        event: impl FnOnce(&mut dyn Controller, &mut Context<'_>),
    ) {
        if let Some(controller) = self.controller.as_deref_mut() {
            let mut cx = Context {
                now,
                path: &self.path,
                rng: &mut self.rng,
            };
            event(controller, &mut cx);
        }
    }

    /// Passes an event to the controller, if the handshake is complete.
    #[inline]
    pub(crate) fn tell_if_established(
        &mut self,
        now: Instant,
        event: impl FnOnce(&mut dyn Controller, &mut Context<'_>),
    ) {
        if self.path.established {
            self.tell(now, event);
        }
    }

    /// Bytes of a packet of `size` bytes that deliveries and losses count.
    #[inline]
    pub(crate) fn counted(&self, size: Bytes) -> Bytes {
        size - Bytes::new(u64::from(self.rules.uncounted()))
    }

    /// Counts a sent packet, and reports it.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Instant, event: &Sent) {
        self.counters.packets_sent += 1;
        self.counters.bytes_sent += event.size.as_u64();
        self.reports += u64::from(event.was_idle);
        if self.path.established {
            self.tell_quietly(now, |controller, cx| controller.on_sent(event, cx));
        }
    }

    /// Counts a packet that is declared lost, and that was in flight unless it was a path MTU probe that did not
    /// count as such. Returns the event for the controller.
    pub(crate) fn lose(
        &mut self,
        now: Instant,
        packet: u64,
        state: &SendState,
        in_flight: bool,
        persistent_congestion: bool,
    ) -> Lost {
        let size = Bytes::new(u64::from(state.size));
        if in_flight {
            self.path.bytes_in_flight -= size;
        }
        self.path.lost += self.counted(size);
        self.counters.packets_lost += 1;
        self.log.lost(now, packet, size.as_u64());
        Lost {
            packet,
            size,
            snapshot: state.compare(&self.path),
            persistent_congestion,
        }
    }

    /// Counts a probe of the path MTU that is declared lost. Since its size may be why, the controller hears nothing of
    /// it (RFC 9000 section 14.4, RFC 8899 section 3).
    pub(crate) fn lose_mtu_probe(&mut self, now: Instant, packet: u64, state: &SendState) {
        let size = Bytes::new(u64::from(state.size));
        self.path.bytes_in_flight -= size;
        self.counters.packets_lost += 1;
        self.log.lost(now, packet, size.as_u64());
    }

    /// The losses establish persistent congestion: the path may have changed (RFC 9002 section 5.2). Picoquic has
    /// none.
    pub(crate) fn forget_min_rtt(&mut self) {
        if self.rules == Rules::Rfc {
            self.path.min_rtt = self.path.latest_rtt;
        }
    }

    /// Takes an RTT sample and counts it as adjusted for `ack_delay`, which it returns.
    pub(crate) fn take_rtt(&mut self, raw: Duration, ack_delay: Duration) -> Duration {
        let sample = rtt::take_sample(&mut self.path, raw, ack_delay, self.rules);
        self.counters.count_rtt(sample);
        sample
    }

    /// Handshake packets, of which the acknowledged one was sent at `sent`, count for the delivery rate, although
    /// controllers get no events for them.
    pub(crate) fn count_handshake_delivery(
        &mut self,
        now: Instant,
        bytes: Bytes,
        sent: Option<Instant>,
    ) {
        self.rate.on_delivered(now, bytes);
        if let Some(sent) = sent {
            let state = self.rate.of_handshake(sent);
            self.rate.on_ack(now, &state, &mut self.path);
        }
    }

    /// The sender could send but has no data.
    pub(crate) fn run_dry(&mut self, now: Instant) {
        self.path.last_idle = now;
        self.path.window_limited = false;
        let before = self.rate.is_app_limited();
        self.rate.mark_app_limited(self.path.bytes_in_flight);
        self.path.app_limited = true;
        if !before {
            self.tell_if_established(now, |controller, cx| controller.on_app_limited(cx));
        }
    }

    /// Reports the end of an idle period, if there was one (RFC 9002 section 7.8). Nothing is in flight, and the
    /// last packet was sent at `last_sent`.
    pub(crate) fn restart_if_idle(
        &mut self,
        now: Instant,
        last_sent: Instant,
        max_ack_delay: Duration,
    ) -> bool {
        if !self.path.established || !self.rate.is_app_limited() {
            return false;
        }
        let idle = rtt::probe_timeout(&self.path, max_ack_delay).max(IDLE);
        let restarts = now - last_sent > idle;
        if restarts {
            self.tell(now, |controller, cx| controller.on_idle_restart(cx));
        }
        restarts
    }

    /// Careful resume (draft-ietf-tsvwg-careful-resume, "Reconnaissance Phase"): once the first data is
    /// acknowledged, the remembered window is offered if the path looks the same, its RTT being within a
    /// quarter of the remembered one. Handshake samples do not count, as in the reference, where the
    /// controller starts with the first request.
    pub(crate) fn offer_seed(&mut self, now: Instant) {
        if self.seed.is_none() || self.path.newest_acked_data_sent == self.rate.start() {
            return;
        }
        let Some((window, remembered)) = self.seed.take() else {
            return;
        };
        if self.path.min_rtt.abs_diff(remembered) * 4 <= remembered {
            self.tell(now, |controller, cx| controller.on_seed(window, cx));
        }
    }
}
