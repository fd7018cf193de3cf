//! Time: it never decreases, an element is called when it is due, and calls that move nothing are
//! bounded.

use super::finding::{Verdict, hold};
use thalweg_units::Instant;

/// Calls of one element within one instant that move no packet. An endpoint needs a few: a timer fires, then the
/// pacer, then the acknowledgement.
const IDLE_PER_INSTANT: u32 = 100;
/// The same within one virtual second. Noise changes the capacity of a link up to 100 000 times in it. Each packet that
/// enters or leaves a link excuses one more: a link is called for the end of its transmission too.
const IDLE_PER_SECOND: u32 = 250_000;
const SECOND: u64 = 1_000_000_000;

/// Calls that moved nothing.
#[derive(Clone, Copy, Default)]
struct Idle {
    instant: Instant,
    in_instant: u32,
    second: u64,
    in_second: u32,
    /// Calls beyond the bound of a second, in all seconds.
    beyond: u64,
}

pub(super) struct Clock {
    now: Instant,
    /// The element that was called last, and whether that has moved a packet.
    called: Option<usize>,
    moved: bool,
    /// How often packets have entered or left a link.
    moves: u64,
    idle: Vec<Idle>,
}

impl Clock {
    pub(super) fn new(elements: usize) -> Self {
        Clock {
            now: Instant::START,
            called: None,
            moved: false,
            moves: 0,
            idle: vec![Idle::default(); elements],
        }
    }

    pub(super) fn now(&self) -> Instant {
        self.now
    }

    /// A packet has entered or left a link.
    pub(super) fn moved(&mut self) {
        self.moved = true;
        self.moves += 1;
    }

    /// The element that was called last has moved nothing since: fails if that is too often.
    pub(super) fn called_in_vain(&mut self) -> Option<(usize, String)> {
        let element = self.called.filter(|_| !self.moved)?;
        let idle = &mut self.idle[element];
        if idle.instant != self.now {
            (idle.instant, idle.in_instant) = (self.now, 0);
        }
        let second = self.now.as_nanos() / SECOND;
        if idle.second != second {
            (idle.second, idle.in_second) = (second, 0);
        }
        idle.in_instant += 1;
        idle.in_second += 1;
        if idle.in_instant > IDLE_PER_INSTANT {
            let problem =
                format!("was called {IDLE_PER_INSTANT} times in one instant without effect");
            return Some((element, problem));
        }
        idle.beyond += u64::from(idle.in_second > IDLE_PER_SECOND);
        (idle.beyond > self.moves).then(|| {
            let problem =
                format!("was called {IDLE_PER_SECOND} times in one second without effect");
            (element, problem)
        })
    }

    /// `element` is called at `time`, and was due at `due`.
    pub(super) fn call(&mut self, element: usize, time: Instant, due: Instant) -> Verdict {
        let before = self.now;
        (self.called, self.moved) = (Some(element), false);
        hold(time >= before, || {
            format!(
                "time decreases by {}: it is called at {time} after an event at {before}",
                before - time
            )
        })?;
        self.now = time;
        hold(due <= time, || {
            format!("is called at {time}, but not due before {due}")
        })?;
        // A deadline in the past is due immediately.
        hold(due.max(before) == time, || {
            format!("is called at {time}, late: it was due at {due}")
        })
    }

    /// The trial ends at `end`; an element is due at `due`, and is to be called at `scheduled`. A deadline that the last
    /// event has set in the past is due at the end.
    pub(super) fn end(end: Instant, due: Instant, scheduled: Instant) -> Verdict {
        hold(due >= end || scheduled == end, || {
            format!("was due at {due} and has not been called")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(n: u64) -> Instant {
        Instant::from_nanos(n)
    }

    fn problem(verdict: Verdict) -> String {
        verdict.expect_err("a finding")
    }

    #[test]
    fn time_that_falls_is_found() {
        let mut clock = Clock::new(2);
        clock.call(0, at(10), at(10)).unwrap();
        clock.call(1, at(10), at(10)).unwrap();
        assert!(problem(clock.call(0, at(9), at(9))).contains("time decreases by"));
    }

    #[test]
    fn a_call_before_its_time_and_one_after_it_are_found() {
        let mut clock = Clock::new(2);
        assert!(problem(clock.call(0, at(10), at(11))).contains("not due"));
        let mut clock = Clock::new(2);
        clock.call(0, at(10), at(10)).unwrap();
        assert!(problem(clock.call(1, at(12), at(11))).contains("late"));
    }

    #[test]
    fn a_deadline_that_has_passed_may_fire_at_once_and_no_later() {
        let mut clock = Clock::new(2);
        clock.call(0, at(10), at(10)).unwrap();
        clock.call(0, at(10), at(3)).unwrap();
        assert!(clock.call(0, at(11), at(3)).is_err());
        assert!(Clock::end(at(11), at(3), Instant::NEVER).is_err());
        Clock::end(at(11), at(3), at(11)).unwrap();
        Clock::end(at(11), at(11), at(11)).unwrap();
        Clock::end(at(11), at(12), at(12)).unwrap();
    }

    #[test]
    fn calls_for_nothing_are_bounded_within_an_instant_and_a_second() {
        let mut clock = Clock::new(1);
        for call in 0..=IDLE_PER_INSTANT {
            assert!(clock.called_in_vain().is_none(), "{call}");
            clock.call(0, at(5), at(5)).unwrap();
        }
        let (element, problem) = clock.called_in_vain().unwrap();
        assert!(element == 0 && problem.contains("one instant"), "{problem}");

        let mut clock = Clock::new(1);
        for call in 0..=u64::from(IDLE_PER_SECOND) {
            assert!(clock.called_in_vain().is_none(), "{call}");
            clock.call(0, at(call), at(call)).unwrap();
        }
        assert!(clock.called_in_vain().unwrap().1.contains("one second"));
        clock.moved(); // the end of its transmission may be the call beyond
        (clock.called, clock.moved) = (Some(0), false);
        assert!(clock.called_in_vain().unwrap().1.contains("one second"));
        clock.moved();
        clock.moved();
        (clock.called, clock.moved) = (Some(0), false);
        assert!(clock.called_in_vain().is_none());
    }

    #[test]
    fn calls_that_move_packets_are_not_counted() {
        let mut clock = Clock::new(1);
        for _ in 0..10 * IDLE_PER_INSTANT {
            clock.call(0, at(5), at(5)).unwrap();
            clock.moved();
            assert!(clock.called_in_vain().is_none());
        }
    }
}
