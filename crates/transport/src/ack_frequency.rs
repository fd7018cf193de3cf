//! The acknowledgement frequency that a data sender asks for (draft-ietf-quic-ack-frequency): few enough
//! acknowledgements to be cheap, enough to steer by. The rules are those of the reference transport, which
//! aims at four acknowledgements for each window.

use thalweg_control::{Control, PathState};
use thalweg_units::{Duration, Rate};

/// Above this rate, four packets for each acknowledgement even if the window is small.
const FAST: Rate = Rate::from_bytes_per_sec(2_000_000);
/// On long fast paths, ten.
const LONG: Duration = Duration::from_millis(100);
/// Paths shorter than this would get more than four acknowledgements for each window otherwise.
const SHORT: Duration = Duration::from_millis(4);
const SHORTEST: Duration = Duration::from_millis(1);

#[derive(Debug, Default)]
pub(crate) struct AckFrequency {
    every: u32,
    delay: Duration,
}

impl AckFrequency {
    /// The request that was made last.
    pub(crate) fn current(&self) -> (u32, Duration) {
        (self.every, self.delay)
    }

    /// A request that is worth a frame: more packets for each acknowledgement than ever before, or a
    /// delay that differs by an eighth.
    pub(crate) fn update(
        &mut self,
        path: &PathState,
        control: &Control,
        min_delay: Duration,
        max_delay: Duration,
    ) -> Option<(u32, Duration)> {
        let (every, delay) = wanted(path, control, min_delay, max_delay);
        let close = delay * 8 >= self.delay * 7 && delay * 8 <= self.delay * 9;
        if every <= self.every && close {
            return None;
        }
        self.every = self.every.max(every);
        self.delay = delay;
        Some(self.current())
    }
}

fn wanted(
    path: &PathState,
    control: &Control,
    min_delay: Duration,
    max_delay: Duration,
) -> (u32, Duration) {
    let starting = !control.startup_done;
    let mut packets = (control.window.as_u64() / path.mtu.as_u64()).max(2);
    if starting {
        packets = (packets / 2).max(1);
    }
    if path.min_rtt < SHORT {
        let factor = if path.min_rtt <= SHORTEST {
            4
        } else {
            SHORT.as_nanos() / path.min_rtt.as_nanos()
        };
        packets *= factor;
    }
    let mut every = packets.div_ceil(4);
    let least = match path.delivery_rate > FAST {
        true if path.min_rtt > LONG => 10,
        true => 4,
        false => 2,
    };
    every = every.max(least);
    if every > 32 {
        every = (32 + packets.saturating_sub(128) / 8).min(64);
    }
    let mut delay = (path.min_rtt / 4).clamp(min_delay, max_delay);
    if path.smoothed_rtt * 2 > path.min_rtt * 3 {
        // Queues or jitter: acknowledgements need not be denser than what they can tell apart. The
        // reference derives the delay from the rate at which the sender itself receives; a sender of bulk
        // data receives next to nothing, which gives the longest delay.
        delay = max_delay;
        let rounds = packets.div_ceil(every);
        if delay * rounds > (path.smoothed_rtt + path.min_rtt) / 2 {
            let fit = path.smoothed_rtt.as_nanos() / delay.as_nanos().max(1);
            every = if fit <= 1 {
                packets
            } else {
                every.max(packets.div_ceil(fit))
            };
        }
    }
    if path.min_rtt < delay * 4 && every > 32 {
        every = 32;
    }
    (every.max(2) as u32, delay)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Bytes;

    fn path(rtt_ms: u64, rate: u64) -> PathState {
        let mut path = PathState::new(Bytes::new(1440));
        path.min_rtt = Duration::from_millis(rtt_ms);
        path.smoothed_rtt = path.min_rtt;
        path.delivery_rate = Rate::from_bytes_per_sec(rate);
        path
    }
    fn control(window: u64) -> Control {
        let (window, quantum) = (Bytes::new(window), Bytes::ZERO);
        Control {
            window,
            pacing: None,
            quantum,
            startup_done: true,
        }
    }
    const MIN: Duration = Duration::from_millis(1);
    const MAX: Duration = Duration::from_millis(10);

    #[test]
    fn four_acknowledgements_for_each_window() {
        // 100 packets of window: (100 + 3) / 4 = 25 packets; delay 80/4 = 20, at most 10 ms
        assert_eq!(
            wanted(&path(80, 1_000_000), &control(144_000), MIN, MAX),
            (25, MAX)
        );
        // a small window at low rate: two packets; 8 ms / 4 = 2 ms
        let slow = wanted(&path(8, 100_000), &control(5_000), MIN, MAX);
        assert_eq!(slow, (2, Duration::from_millis(2)));
        // fast and long: at least ten
        assert_eq!(
            wanted(&path(120, 3_000_000), &control(15_000), MIN, MAX).0,
            10
        );
    }

    #[test]
    fn a_request_is_repeated_only_when_it_matters() {
        let mut frequency = AckFrequency::default();
        let (path, window) = (path(80, 1_000_000), control(144_000));
        assert!(frequency.update(&path, &window, MIN, MAX).is_some());
        assert_eq!(frequency.update(&path, &window, MIN, MAX), None);
        assert_eq!(frequency.update(&path, &control(72_000), MIN, MAX), None);
        assert_eq!(
            frequency.update(&path, &control(160_000), MIN, MAX),
            Some((28, MAX))
        );
    }
}
