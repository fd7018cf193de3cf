//! erlang_quic #57: a clock that ticks once a millisecond. On a path of 100 us most RTTs are zero, and so is the
//! bandwidth-delay product: the window stays at its minimum. A delivery rate over less than a tick takes the initial RTT of
//! 100 ms in its place.

use super::Bug;
use thalweg_control::event::{Ack, RateSample, Snapshot};
use thalweg_control::{Context, Controller, Init};
use thalweg_units::{Duration, Instant, Rate};

/// What the clock cannot tell apart.
const TICK: Duration = Duration::from_millis(1);
/// The interval in place of one of zero.
const FALLBACK: Duration = Duration::from_millis(100);

pub(super) struct MillisecondClock {
    /// The origin of the ticks: the start of the connection.
    origin: Instant,
}

impl MillisecondClock {
    pub(super) fn new(init: &Init) -> Self {
        MillisecondClock { origin: init.now }
    }

    fn at_tick(&self, time: Instant) -> Instant {
        self.origin + in_ticks(time - self.origin)
    }
}

impl Bug for MillisecondClock {
    fn on_ack(&mut self, sound: &mut dyn Controller, event: &Ack, cx: &mut Context<'_>) {
        let snapshot = Snapshot {
            sent: self.at_tick(event.snapshot.sent),
            ..event.snapshot.clone()
        };
        let ticked = Ack {
            rtt: event.rtt.map(in_ticks),
            rate: event.rate.as_ref().map(rate_in_ticks),
            snapshot,
            ..event.clone()
        };
        let now = self.at_tick(cx.now);
        let (path, rng) = (cx.path, &mut *cx.rng);
        sound.on_ack(&ticked, &mut Context { now, path, rng });
    }
}

fn in_ticks(span: Duration) -> Duration {
    Duration::from_nanos(span.as_nanos() - span.as_nanos() % TICK.as_nanos())
}

fn rate_in_ticks(sample: &RateSample) -> RateSample {
    let ticks = in_ticks(sample.interval);
    let interval = if ticks.is_zero() { FALLBACK } else { ticks };
    RateSample {
        interval,
        rate: Rate::over(sample.delivered, interval),
        ..sample.clone()
    }
}
