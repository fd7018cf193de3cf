//! Packets that come from no endpoint: packets of cross traffic, and packets that one link hands on to the next.

use super::Network;
use super::first_link::InTransit;
use crate::scenario::hop::LinkId;
use crate::trial::element::Element;
use crate::trial::stack::Payload;
use thalweg_transport::Packet;
use thalweg_units::Instant;

impl Network {
    /// A source of cross traffic is due.
    pub(super) fn wake_source(&mut self, index: usize) {
        let source = &mut self.sources[index];
        let number = source.sent;
        let (link, size) = (source.route[0], source.packet);
        let is_packet = source.wake();
        let next = source.next();
        self.queue
            .set(self.elements.number(Element::Source(index)), next);
        if !is_packet {
            return;
        }
        // The sources are numbered after the connections.
        let carried = InTransit {
            connection: (self.connections.len() + index) as u32,
            size: size.as_u64() as u32,
            crossed: 0,
            tag: 0,
            packet: Payload::Modelled(Packet::without_frames(number)),
        };
        self.forward(link, carried, None);
    }

    /// A packet of cross traffic has come out of a link: it enters the next link of its route, or is gone.
    #[cold]
    #[inline(never)] // so that arrivals at an endpoint, the usual case, are short
    pub(super) fn pass_cross_traffic(&mut self, link: LinkId, index: usize) {
        let source = &self.sources[index - self.connections.len()];
        let Some(carried) = self.links[link.index()].take_arrived() else {
            return;
        };
        if let Some(&next) = source.route.get(usize::from(carried.crossed)) {
            self.forward(next, carried, None);
        }
    }

    /// A packet enters a link that is not the first of its route.
    #[inline(never)] // so that arrivals at an endpoint, the usual case, are short
    pub(super) fn forward(&mut self, link: LinkId, mut carried: InTransit, number: Option<u64>) {
        if let Some(audit) = &mut self.audit {
            let what = (carried.size, carried.packet.ecn());
            carried.tag = audit.enter(self.now, link, carried.connection as usize, what, number);
        }
        self.links[link.index()].push(self.now, carried);
        let next = self.links[link.index()].next().unwrap_or(Instant::NEVER);
        self.queue.set(link.index(), next);
        if !self.media.is_empty() {
            self.note_pushed(link);
        }
        if self.audit.is_some() {
            self.audit_link(link);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.sample_link(self.now, link.index(), &mut self.links[link.index()]);
        }
    }
}
