//! Unreliable messages waiting to be sent (RFC 9221), most urgent first, in order within a priority.

use std::collections::VecDeque;
use thalweg_units::Instant;

#[derive(Debug)]
struct Waiting {
    priority: u8,
    tag: u64,
    len: u32,
    /// It is of no use after this time.
    until: Instant,
}

#[derive(Debug, Default)]
pub(crate) struct Datagrams {
    waiting: VecDeque<Waiting>,
    /// How many of them are of no use after a time.
    perishable: usize,
    /// Whether the application wants to know which are lost.
    pub(crate) reports_losses: bool,
    /// Whether each has a packet of its own.
    pub(crate) are_apart: bool,
}

impl Datagrams {
    /// One that goes after all others of its priority.
    pub(crate) fn push(&mut self, priority: u8, tag: u64, len: u32) {
        let until = Instant::NEVER;
        self.insert(
            |waiting| waiting.priority <= priority,
            Waiting {
                priority,
                tag,
                len,
                until,
            },
        );
    }

    /// One that goes before all others of its priority, and is dropped if it has not left by `until`.
    pub(crate) fn push_first(&mut self, priority: u8, tag: u64, len: u32, until: Instant) {
        self.insert(
            |waiting| waiting.priority < priority,
            Waiting {
                priority,
                tag,
                len,
                until,
            },
        );
        self.perishable += 1;
    }

    fn insert(&mut self, goes_before: impl Fn(&Waiting) -> bool, new: Waiting) {
        let position = self.waiting.partition_point(goes_before);
        self.waiting.insert(position, new);
    }

    /// Whether some may have to be dropped.
    #[inline]
    pub(crate) fn may_expire(&self) -> bool {
        self.perishable > 0
    }

    /// Drops what is of no use any more: calls `each` with the tag and the length of it.
    pub(crate) fn expire(&mut self, now: Instant, mut each: impl FnMut(u64, u32)) {
        let before = self.waiting.len();
        self.waiting.retain(|waiting| {
            let stays = now <= waiting.until;
            if !stays {
                each(waiting.tag, waiting.len);
            }
            stays
        });
        self.perishable -= before - self.waiting.len();
    }

    /// Priority and length of the next one.
    pub(crate) fn front(&self) -> Option<(u8, u32)> {
        self.waiting
            .front()
            .map(|waiting| (waiting.priority, waiting.len))
    }

    #[inline(never)] // keeps registers free for stream data
    pub(crate) fn pop(&mut self) -> Option<(u64, u32)> {
        let waiting = self.waiting.pop_front()?;
        self.perishable -= usize::from(waiting.until < Instant::NEVER);
        Some((waiting.tag, waiting.len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Duration;

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    #[test]
    fn what_is_repeated_goes_before_its_priority_and_only_in_time() {
        let mut datagrams = Datagrams::default();
        for (priority, tag) in [(4, 40), (4, 41), (2, 20), (6, 60)] {
            datagrams.push(priority, tag, 100);
        }
        assert!(!datagrams.may_expire());
        datagrams.push_first(4, 42, 100, at(50));
        datagrams.push_first(6, 61, 100, at(20));
        let mut dropped = Vec::new();
        datagrams.expire(at(20), |tag, len| dropped.push((tag, len)));
        assert_eq!(dropped, []);
        datagrams.expire(at(21), |tag, len| dropped.push((tag, len)));
        assert_eq!(dropped, [(61, 100)]);
        assert!(datagrams.may_expire());
        let order: Vec<u64> = std::iter::from_fn(|| Some(datagrams.pop()?.0)).collect();
        assert_eq!(order, [20, 42, 40, 41, 60]);
        assert!(!datagrams.may_expire());
    }
}
