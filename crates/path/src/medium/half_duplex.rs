//! A medium that both links of a hop share: one of them transmits at a time, as on a channel of Wi-Fi.
//!
//! # Model
//! While the medium is free, a packet that comes to either link is transmitted at once. Each access carries a packet, or
//! up to [`HalfDuplexConfig::packets`] of its link as long as more of them wait. After an access the medium stays busy for
//! [`HalfDuplexConfig::overhead`]. Then it is the turn of the link that did not have the last access, if a packet waits there,
//! and otherwise of the other one. So two links that always have packets get every second access, however long each takes:
//! stations of a distributed coordination function have equal chances of access, not equal time.
//!
//! In IEEE 802.11 an access costs, in addition to its data, the preamble, the acknowledgement of the link with the short space
//! before it, and the space and the backoff before the next access; who finds the channel idle for a while transmits at once.
//! The overhead stands for all of these, as a constant after the data.
//!
//! # Limits
//! No collisions and no retransmissions of the link; no more stations than two: what flows in one direction waits in one
//! queue. Backoff is a constant, so that accesses alternate strictly under load. Packets of an access arrive one by one, and
//! not together at its end. Settings of a link that change meanwhile hold for it as ever; one that is suspended amid a
//! packet keeps the medium.

use crate::{Link, Packet};
use thalweg_units::{Duration, Instant};

/// How links get access to a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfDuplexConfig {
    /// How long the medium stays busy after each access.
    pub overhead: Duration,
    /// The most packets that an access carries; at least one.
    pub packets: u32,
}

/// The medium of two links. Its driver calls it when it is due, and tells it what it has pushed into them.
#[derive(Clone, Debug)]
pub struct HalfDuplex {
    config: HalfDuplexConfig,
    phase: Phase,
    /// Which link had the last access.
    holder: usize,
    /// How many packets more this access may carry.
    left: u32,
    due: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nobody can transmit.
    Free,
    /// The holder transmits a packet.
    Sending,
    /// The rest of an access.
    Overhead,
}

impl HalfDuplex {
    /// A free medium; no link has had access yet.
    pub fn new(config: HalfDuplexConfig) -> Self {
        HalfDuplex {
            config,
            phase: Phase::Free,
            holder: 1,
            left: 0,
            due: Instant::NEVER,
        }
    }

    /// When it must be called; [`Instant::NEVER`] if nothing happens on it until a packet is pushed.
    pub fn next(&self) -> Instant {
        self.due
    }

    /// Packets have been pushed into the link `side` of `links` at `now`. Whether that matters to the medium: it does while it
    /// is free.
    pub fn pushed<P: Packet>(
        &mut self,
        now: Instant,
        side: usize,
        links: &mut [Link<P>; 2],
    ) -> bool {
        if self.phase != Phase::Free {
            return false;
        }
        links.iter_mut().for_each(|link| link.advance(now));
        if links[side].is_sending() {
            // The first of them found the medium free.
            links.iter_mut().for_each(|link| link.hold(true));
            self.take(side, &links[side]);
        } else {
            self.give(now, links);
        }
        true
    }

    /// What is due at `now`.
    pub fn call<P: Packet>(&mut self, now: Instant, links: &mut [Link<P>; 2]) {
        links.iter_mut().for_each(|link| link.advance(now));
        if self.phase == Phase::Sending {
            let holder = &mut links[self.holder];
            if holder.is_sending() {
                // Its end was not computed yet.
                self.due = holder.sends_until();
                return;
            }
            if self.left > 0 && holder.begin(now) {
                self.left -= 1;
                self.due = holder.sends_until();
                return;
            }
            if !self.config.overhead.is_zero() {
                self.phase = Phase::Overhead;
                self.due = now + self.config.overhead;
                return;
            }
        }
        self.give(now, links);
    }

    /// The medium is free at `now`: the next access.
    fn give<P: Packet>(&mut self, now: Instant, links: &mut [Link<P>; 2]) {
        for side in [1 - self.holder, self.holder] {
            if links[side].begin(now) {
                links.iter_mut().for_each(|link| link.hold(true));
                return self.take(side, &links[side]);
            }
        }
        self.phase = Phase::Free;
        // What waits now waits for capacity: nobody else may begin by itself meanwhile.
        let resumes = links.iter().filter_map(Link::resumes).min();
        self.due = resumes.unwrap_or(Instant::NEVER);
        let held = links.iter().any(|link| link.queue().packets > 0);
        links.iter_mut().for_each(|link| link.hold(held));
    }

    /// The link `side` has begun an access.
    fn take<P: Packet>(&mut self, side: usize, link: &Link<P>) {
        self.phase = Phase::Sending;
        self.holder = side;
        self.left = self.config.packets - 1;
        self.due = link.sends_until();
    }
}
