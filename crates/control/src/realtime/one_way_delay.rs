//! The delay of the queue from one-way delays: each over the least of the last ten minutes (RFC 6817 section 2.4.2).
//!
//! The clocks of both ends may differ by any amount, which the difference takes out. That one is faster than the
//! other is not allowed for: both clocks of a trial are the same.

use crate::event::Arrival;
use thalweg_units::{Duration, Instant};

/// BASE_HISTORY of RFC 6817, in minutes.
const MINUTES: usize = 10;
const MINUTE: Duration = Duration::from_secs(60);

/// The least delays of the last minutes, in nanoseconds between the two clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneWayDelay {
    /// The current minute first; the largest number where there is none.
    minutes: [i64; MINUTES],
    /// When the current minute began.
    minute: Instant,
}

impl OneWayDelay {
    pub(crate) fn new(now: Instant) -> Self {
        OneWayDelay {
            minutes: [i64::MAX; MINUTES],
            minute: now,
        }
    }

    /// The delay of the queue that the packet has met.
    pub(crate) fn queue(&mut self, packet: &Arrival, now: Instant) -> Duration {
        let minutes = ((now - self.minute).as_nanos() / MINUTE.as_nanos()) as usize;
        if minutes > 0 {
            self.minutes.rotate_right(minutes % MINUTES);
            self.minutes[..minutes.min(MINUTES)].fill(i64::MAX);
            self.minute += MINUTE * minutes as u64;
        }
        let delay = nanos(packet.arrived).saturating_sub(nanos(packet.sent));
        self.minutes[0] = self.minutes[0].min(delay);
        let base = self.minutes.iter().copied().min().unwrap_or(delay);
        Duration::from_nanos(delay.abs_diff(base))
    }
}

fn nanos(time: Instant) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Bytes;

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    /// What a packet that took from `sent` to `arrived` has met, both in milliseconds.
    fn met(delay: &mut OneWayDelay, sent: u64, arrived: u64) -> u64 {
        let packet = Arrival {
            packet: 0,
            size: Bytes::new(1_200),
            sent: at(sent),
            arrived: at(arrived),
        };
        delay.queue(&packet, at(sent)).as_millis()
    }

    #[test]
    fn a_queue_is_the_delay_over_the_least_of_ten_minutes() {
        let mut delay = OneWayDelay::new(at(0));
        assert_eq!(met(&mut delay, 0, 50), 0);
        assert_eq!(met(&mut delay, 100, 170), 20);
        assert_eq!(met(&mut delay, 200, 240), 0, "a shorter one");
        // 40 ms belong to the first minute, which counts as long as it is one of ten: until 600 s.
        assert_eq!(met(&mut delay, 599_999, 600_049), 10);
        assert_eq!(met(&mut delay, 660_000, 660_060), 10, "the least is 50 ms");
    }

    #[test]
    fn a_receiver_whose_clock_is_behind_reports_the_same_queue() {
        let mut delay = OneWayDelay::new(at(0));
        assert_eq!(met(&mut delay, 10_000, 50), 0); // -9950 ms
        assert_eq!(met(&mut delay, 10_100, 170), 20); // -9930 ms
    }
}
