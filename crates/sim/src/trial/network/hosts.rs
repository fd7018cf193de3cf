//! Arrivals at hosts that read in batches, and what those send that send in bundles.

use super::Network;
use super::bundler::Bundler;
use super::first_link::{FirstLink, InTransit};
use crate::scenario::Scenario;
use crate::scenario::hop::LinkId;
use crate::trial::connection::Connection;
use crate::trial::hosts::{Part, Spare};
use crate::trial::stack::Payload;
use thalweg_transport::Role;
use thalweg_units::Instant;

/// What the event loop keeps for hosts that are not ideal.
#[derive(Default)]
pub(super) struct HostWork {
    /// Sides that have read at this instant and not answered: more may have arrived.
    unanswered: Vec<(usize, Role)>,
    /// Kept between calls to avoid allocation.
    read: Vec<Part>,
    spare: Spare,
    /// Whether bundles pass each hop whole.
    keeps_whole: Vec<bool>,
}

impl HostWork {
    pub(super) fn new(scenario: &Scenario) -> Self {
        HostWork {
            keeps_whole: scenario.hops.iter().map(|hop| !hop.splits).collect(),
            ..HostWork::default()
        }
    }
}

impl Network {
    /// A packet or a bundle has come out of the last link of its route.
    #[cold]
    #[inline(never)] // so that arrivals at other hosts, the usual case, are short
    pub(super) fn arrive_at_host(
        &mut self,
        link: LinkId,
        side: Role,
        index: usize,
        number: Option<u64>,
    ) {
        let Some(carried) = self.links[link.index()].take_arrived() else {
            return;
        };
        let mut read = std::mem::take(&mut self.host_work.read);
        self.unpack(carried, number, &mut read);
        let connection = &mut self.connections[index];
        if let Some(hosts) = &mut connection.hosts
            && let Some(wait) = hosts.waits()
        {
            hosts.keep(side, self.now + wait, read.drain(..));
            self.host_work.read = read;
            let next = self.connections[index].next(side).max(self.now);
            let number = self.number(index, side);
            self.queue.set(number, next);
            return;
        }
        self.host_work.read = read;
        self.read(index, side, Some(link));
    }

    /// The packets of what has arrived.
    fn unpack(&mut self, carried: InTransit, number: Option<u64>, into: &mut Vec<Part>) {
        match carried.packet {
            Payload::Bundle(mut bundle) => {
                into.append(&mut bundle.parts);
                self.host_work.spare.push(bundle);
            }
            payload => into.push(Part {
                payload,
                number,
                size: carried.size,
            }),
        }
    }

    /// One side reads what is in `host_work.read`, and answers: each packet, or all of them when no more arrives now.
    fn read(&mut self, index: usize, side: Role, link: Option<LinkId>) {
        let mut read = std::mem::take(&mut self.host_work.read);
        let connection = &self.connections[index];
        let waits = (connection.hosts.as_ref()).is_some_and(|hosts| hosts.waits().is_some());
        let reads_each = !connection.reads_all && !waits;
        for mut part in read.drain(..) {
            let endpoint = self.connections[index].endpoint(side);
            if let Some(audit) = &mut self.audit {
                let taken = endpoint.path().established;
                audit.arrive(index, side, part.number, part.size, taken);
            }
            endpoint.receive(self.now, &mut part.payload);
            self.note_sender(index, side);
            if reads_each {
                self.react(index, side, false);
            }
        }
        self.host_work.read = read;
        let later = link.is_some_and(|link| self.answers_later(link, index, side));
        if !reads_each && !later {
            self.react(index, side, false);
        }
    }

    /// Whether one side waits with its answer, since it reads all that arrives at this instant, and more may. What arrives
    /// by itself is answered where it would be without.
    #[inline(always)] // in every arrival
    pub(super) fn answers_later(&mut self, link: LinkId, index: usize, side: Role) -> bool {
        let later = self.connections[index].reads_all
            && (!self.host_work.unanswered.is_empty() || self.more_arrives(link));
        if later {
            self.note_unanswered(index, side);
        }
        later
    }

    #[cold]
    #[inline(never)]
    fn note_unanswered(&mut self, index: usize, side: Role) {
        let unanswered = &mut self.host_work.unanswered;
        if !unanswered.contains(&(index, side)) {
            unanswered.push((index, side));
        }
    }

    /// Whether another packet may come out of a link at this instant.
    #[inline]
    fn more_arrives(&self, link: LinkId) -> bool {
        self.links[link.index()].is_due(self.now)
    }

    /// Answers what has been read, unless more arrives from `link` now.
    #[inline(always)] // in every delivery
    pub(super) fn answer_what_is_read(&mut self, link: LinkId, arrived: bool) {
        if !self.host_work.unanswered.is_empty() {
            self.answer_all(link, arrived);
        }
    }

    #[cold]
    #[inline(never)]
    fn answer_all(&mut self, link: LinkId, arrived: bool) {
        if arrived && self.more_arrives(link) {
            return;
        }
        let mut unanswered = std::mem::take(&mut self.host_work.unanswered);
        for (index, side) in unanswered.drain(..) {
            self.react(index, side, false);
        }
        self.host_work.unanswered = unanswered;
    }

    /// A side that is not ideal is due: it reads what has waited long enough. Whether a timer fires then.
    #[cold]
    #[inline(never)]
    pub(super) fn wake_host(&mut self, index: usize, side: Role) -> bool {
        let connection = &mut self.connections[index];
        let start = connection.start;
        let due = connection.endpoint(side).next();
        let Some(hosts) = &mut connection.hosts else {
            return true;
        };
        let fires = hosts.fires(due, start) <= self.now;
        hosts.take(side, self.now, &mut self.host_work.read);
        if !self.host_work.read.is_empty() {
            self.read(index, side, None);
        }
        fires
    }

    /// Whether one side of a connection sends in bundles, into a link that keeps them whole.
    #[inline(always)] // in every call of an endpoint
    pub(super) fn makes_bundles(&self, index: usize, link: LinkId) -> bool {
        match &self.connections[index].hosts {
            None => false,
            Some(hosts) => hosts.bundles() && self.keeps_whole(link),
        }
    }

    /// Whether bundles enter a link whole.
    pub(super) fn keeps_whole(&self, link: LinkId) -> bool {
        self.host_work.keeps_whole[link.hop()]
    }

    /// A bundle enters a link that is not the first of its route, packet by packet if the link splits it.
    pub(super) fn forward_bundle(&mut self, link: LinkId, carried: InTransit) {
        if self.keeps_whole(link) {
            self.forward(link, carried, None);
            return;
        }
        let (connection, crossed) = (carried.connection, carried.crossed);
        let mut parts = std::mem::take(&mut self.host_work.read);
        self.unpack(carried, None, &mut parts);
        for Part {
            payload,
            number,
            size,
        } in parts.drain(..)
        {
            let carried = InTransit {
                connection,
                size,
                crossed,
                tag: 0,
                packet: payload,
            };
            self.forward(link, carried, number);
        }
        self.host_work.read = parts;
    }
}

/// Sends all that may leave of an endpoint now, in bundles.
#[cold]
#[inline(never)]
pub(super) fn transmit_bundles(
    connection: &mut Connection,
    side: Role,
    work: &mut HostWork,
    first_link: &mut FirstLink<'_>,
    now: Instant,
) {
    let (endpoint, hosts) = connection.endpoint_and_hosts(side);
    let Some(hosts) = hosts else { return };
    let most = hosts.bundle_of(endpoint);
    let mut bundler = Bundler::new(first_link, &mut work.spare, most);
    endpoint.transmit(now, &mut bundler);
    bundler.finish();
}
