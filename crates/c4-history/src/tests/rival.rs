//! A loss-based competitor for the closed loop of the tests: slow start, then the cubic curve of RFC 9438
//! (sections 4.2 and 4.6) with one decrease per round trip, one acknowledgement per packet, no pacing.

use std::collections::VecDeque;
use thalweg_units::{Duration, Instant};

pub(super) struct Rival {
    /// Congestion window in packets.
    window: f64,
    slow_start: bool,
    window_max: f64,
    last_cut: Instant,
    /// For each packet: when its fate is known, when it left, and whether it arrived.
    in_flight: VecDeque<(Instant, Instant, bool)>,
}

impl Rival {
    pub(super) fn new() -> Self {
        Rival {
            window: 10.0,
            slow_start: true,
            window_max: 0.0,
            last_cut: Instant::START,
            in_flight: VecDeque::new(),
        }
    }

    /// Processes what has arrived by `now`.
    pub(super) fn acknowledge(&mut self, now: Instant) {
        while self
            .in_flight
            .front()
            .is_some_and(|(known, _, _)| *known <= now)
        {
            let (_, sent, arrived) = self.in_flight.pop_front().unwrap();
            if !arrived && (self.slow_start || sent >= self.last_cut) {
                (self.window_max, self.last_cut, self.slow_start) = (self.window, now, false);
                self.window = (self.window * 0.7).max(2.0);
            } else if arrived && self.slow_start {
                self.window += 1.0;
            } else if arrived {
                let start = libm::cbrt(self.window_max * 0.3 / 0.4);
                let t = (now - self.last_cut).as_secs_f64() - start;
                let target = self.window_max + 0.4 * t * t * t;
                // No slower than Reno, no faster than half a window per round trip.
                let step = (target - self.window).clamp(0.5, self.window / 2.0);
                self.window += step / self.window;
            }
        }
    }

    /// Sends what the window allows through `link`, which answers when a packet reaches the receiver.
    pub(super) fn send(
        &mut self,
        now: Instant,
        one_way: Duration,
        mut link: impl FnMut() -> Option<Instant>,
    ) {
        while (self.in_flight.len() as f64) < self.window {
            // The fate of a dropped packet is known at about the same time as the fate of its neighbours.
            let (arrives, arrived) = match link() {
                Some(at) => (at, true),
                None => (
                    self.in_flight
                        .back()
                        .map_or(now, |(known, ..)| *known - one_way),
                    false,
                ),
            };
            self.in_flight.push_back((arrives + one_way, now, arrived));
        }
    }
}
