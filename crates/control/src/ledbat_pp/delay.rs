//! The queue on the path: the recent round-trip time over the shortest of the last ten minutes.
//!
//! LEDBAT compares one-way delays, LEDBAT++ round-trip times, which need no clock of the receiver (LEDBAT++ draft section
//! 4.5). The history is as in RFC 6817 section 2.4.2, a minimum for each of ten minutes, and so is the filter of recent
//! samples, their minimum over four.

use thalweg_units::{Duration, Instant};

/// BASE_HISTORY of RFC 6817, in minutes.
const MINUTES: usize = 10;
const MINUTE: Duration = Duration::from_secs(60);
/// Samples of the filter of recent delays, CURRENT_FILTER of RFC 6817.
const RECENT: usize = 4;

/// Round-trip times of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delay {
    /// The minimum of each minute, the current one first; [`Duration::MAX`] where there is none.
    minutes: [Duration; MINUTES],
    /// When the current minute began.
    minute: Instant,
    /// The last samples; [`Duration::MAX`] where there is none.
    recent: [Duration; RECENT],
    /// Where the next sample goes.
    next: usize,
}

impl Delay {
    pub(super) fn new(now: Instant) -> Self {
        Delay {
            minutes: [Duration::MAX; MINUTES],
            minute: now,
            recent: [Duration::MAX; RECENT],
            next: 0,
        }
    }

    pub(super) fn on_sample(&mut self, rtt: Duration, now: Instant) {
        let minutes = ((now - self.minute).as_nanos() / MINUTE.as_nanos()) as usize;
        if minutes > 0 {
            self.minutes.rotate_right(minutes % MINUTES);
            self.minutes[..minutes.min(MINUTES)].fill(Duration::MAX);
            self.minute += MINUTE * minutes as u64;
        }
        self.minutes[0] = self.minutes[0].min(rtt);
        self.recent[self.next] = rtt;
        self.next = (self.next + 1) % RECENT;
    }

    /// The shortest round-trip time; `None` before the first sample.
    pub(super) fn base(&self) -> Option<Duration> {
        let base = self.minutes.iter().min().copied();
        base.filter(|base| *base < Duration::MAX)
    }

    /// The delay of the queue; zero before the first sample.
    pub(super) fn queue(&self) -> Duration {
        let recent = self.recent.iter().min().copied();
        match (recent, self.base()) {
            (Some(recent), Some(base)) if recent > base => recent - base,
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn at(secs: u64) -> Instant {
        Instant::START + Duration::from_secs(secs)
    }

    #[test]
    fn the_queue_is_the_least_of_four_samples_over_the_least_of_all() {
        let mut delay = Delay::new(at(0));
        assert_eq!((delay.base(), delay.queue()), (None, MS(0)));
        for (rtt, queue) in [
            (50, 0),
            (40, 0),
            (90, 0),
            (80, 0),
            (70, 0),
            (75, 30),
            (95, 30),
        ] {
            delay.on_sample(MS(rtt), at(1));
            assert_eq!(delay.queue(), MS(queue), "{rtt}");
        }
        assert_eq!(delay.base(), Some(MS(40)));
    }

    #[test]
    fn a_base_is_forgotten_after_ten_minutes() {
        let mut delay = Delay::new(at(0));
        delay.on_sample(MS(40), at(30));
        for minute in 1..10 {
            delay.on_sample(MS(60), at(60 * minute));
            assert_eq!(delay.base(), Some(MS(40)), "{minute}");
        }
        delay.on_sample(MS(60), at(600));
        assert_eq!(delay.base(), Some(MS(60)));
        delay.on_sample(MS(80), at(3000));
        assert_eq!(delay.base(), Some(MS(80)), "longer than the history");
    }
}
