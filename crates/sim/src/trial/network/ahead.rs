//! Running ahead: the sender of the only connection sends paced packets ahead of the event loop until the earliest time
//! at which anything can reach it, the lookahead of parallel simulations.
//!
//! The event loop handles a sender that paces its packets once a packet. With a lookahead it handles it twice for all
//! packets up to the next acknowledgement: when the first of them leaves, and when the last one has left.
//!
//! # Why the trial stays the same
//! - Nothing reaches the sender before its *horizon*: what is on the last link of its way back arrives at
//!   [`Link::next`](thalweg_path::Link::next) or later, and what enters this link does so at an event of another element
//!   and needs the least delay of the link. The sender looks at its own timers before each step, since the first packet
//!   after a pause sets one.
//! - Nobody else sends into its first link, so that packets enter it in the order of time. Arrivals from it are taken
//!   when they are due, from a link that is ahead: what a link decides depends on when packets enter, not on calls.
//! - The link is not empty when a packet enters it ahead of time, so that its entry in the queue is still right.
//! - The sender is called once more at the time of its last step, only to schedule itself, so that what it does next has
//!   its place among entries of equal time, which are in the order in which they were set.
//! - A trial ends at its limit, or when the connection has closed, which takes a round trip after the data have arrived.
//!
//! # Limits
//! Trials of one connection of the modelled endpoint, without cross traffic and links that keep packets apart, at which nobody looks meanwhile: auditor, traces and decisions from
//! outside see each step at its time. `tests/determinism/running_ahead.rs` holds that they see the same trial.
//! The entry at the time of the last step was set when the run began, not one step before. If another element is due in the
//! same nanosecond, and the sender and something that this element sets are due together once more, the two change places.

use super::Network;
use crate::scenario::hop::Direction;
use crate::trial::network::first_link::FirstLink;
use crate::trial::stack::{Endpoint, Modelled};
use thalweg_transport::Role;
use thalweg_units::{Duration, Instant};

/// A sender that is ahead of the event loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    pub(super) sender: (usize, Role),
    /// When it is due next. The queue has the time of its last step.
    due: Instant,
}

impl Network {
    /// Whether no more than a sender and the links decide what it sends.
    pub(super) fn may_run_ahead(&self, index: usize, side: Role) -> bool {
        let connection = &self.connections[index];
        !self.is_watched()
            && self.is_alone
            && !connection.has_timers
            && connection.hosts.is_none()
            && connection.completion.is_none()
            && connection.sends(side)
    }

    /// A sender that has acted now goes on at the times at which it is due, up to its horizon.
    pub(super) fn run_ahead(&mut self, index: usize, side: Role) {
        let number = self.number(index, side);
        let next_block = self.next_block(); // later draws are from other streams
        let connection = &mut self.connections[index];
        let link_id = connection.first_links[side.index()];
        let way_back = &connection.routes[Direction::to(side)];
        let flow = connection.flow;
        let (Some(last), Endpoint::Modelled(endpoint)) =
            (way_back.last().copied(), connection.endpoint(side))
        else {
            return;
        };
        let occupied = self.links[link_id.index()].occupied_until();
        if (endpoint.paced_until()).is_none_or(|due| due <= self.now || due >= occupied) {
            return;
        }
        self.queue.set(number, Instant::NEVER);
        let others = self.queue.peek().map_or(Instant::NEVER, |(time, _)| time);
        let back = &self.links[last.index()];
        let horizon = (back.next().unwrap_or(Instant::NEVER))
            .min(others + back.least_delay())
            .min(next_block)
            .min(self.limit + Duration::from_nanos(1));
        let mut first_link = FirstLink {
            now: self.now,
            overhead: self.overhead,
            link: &mut self.links[link_id.index()],
            link_id,
            sender: (index, side),
            series: self.series.as_mut().map(|series| (series, flow)),
            audit: None,
            sent: false,
        };
        while let Some(due) = endpoint.paced_until()
            && due > first_link.now
            && due < horizon.min(first_link.link.occupied_until())
            && due < endpoint.next_timer()
            && !endpoint.has_events()
        {
            self.events += 1;
            #[cfg(test)]
            {
                self.steps_ahead += 1;
            }
            first_link.now = due;
            endpoint.transmit_all(due, &mut Modelled(&mut first_link));
        }
        let local = first_link.now;
        let due = endpoint.next().max(local);
        if local > self.now {
            let sender = (index, side);
            self.ahead = Some(Ahead { sender, due });
            self.queue.set(number, local);
        } else {
            self.queue.set(number, due);
        }
    }

    /// The event loop has come to the last step of the sender that is ahead.
    pub(super) fn catch_up(&mut self) {
        if let Some(Ahead { sender, due }) = self.ahead.take() {
            self.events -= 1; // its step is counted
            self.queue.set(self.number(sender.0, sender.1), due);
        }
    }
}
