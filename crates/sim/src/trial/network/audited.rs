//! What the event loop reports to the auditor, if there is one.

use super::{Ended, Network};
use crate::audit::Auditor;
use crate::scenario::Scenario;
use crate::scenario::hop::{Direction, LinkId};
use crate::trial::element::Element;
use thalweg_path::Medium;
use thalweg_transport::Role;
use thalweg_units::Instant;

impl Network {
    /// Audits this trial. It does not change the trial.
    pub(crate) fn audited(mut self, scenario: &Scenario) -> Self {
        for connection in &mut self.connections {
            connection.client.record_packets();
            connection.server.record_packets();
        }
        for link in &mut self.links {
            link.record_transmissions(true);
        }
        for medium in self.media.iter_mut().flatten() {
            medium.record_accesses(true);
        }
        let auditor = Auditor::new(scenario, self.seed, &self.connections, self.elements);
        self.audit = Some(Box::new(auditor));
        self
    }

    /// When an element is due, as it reports itself.
    pub(super) fn due(&self, element: Element) -> Instant {
        match element {
            Element::Link(link) => self.links[link.index()].next().unwrap_or(Instant::NEVER),
            Element::Applications(index) => self.connections[index].next_app(),
            Element::Source(index) => self.sources[index].next(),
            Element::Medium(hop) => {
                (self.media[hop].as_ref()).map_or(Instant::NEVER, Medium::call_by)
            }
            Element::Breaker(index) => self.breakers[index].next(),
            Element::Tape => self.next_block(),
            // Nothing has the other two numbers of a source.
            Element::Endpoint(index, _) if index >= self.connections.len() => Instant::NEVER,
            Element::Endpoint(index, Role::Client) => match &self.connections[index] {
                waiting if !waiting.started => waiting.start,
                connection => connection.next(Role::Client),
            },
            Element::Endpoint(index, side) => self.connections[index].next(side),
        }
    }

    /// An element is about to be called at `time`.
    #[cold]
    pub(super) fn audit_call(&mut self, element: Element, time: Instant) -> Result<(), Ended> {
        let due = self.due(element);
        let Some(audit) = &mut self.audit else {
            return Ok(());
        };
        audit.call(element, time, due);
        match audit.take_finding() {
            Some(finding) => Err(Ended::Audit(finding)),
            None => Ok(()),
        }
    }

    /// A link has been moved to the present.
    #[cold]
    pub(super) fn audit_link(&mut self, link: LinkId) {
        if let Some(audit) = &mut self.audit {
            audit.link(self.now, link, &mut self.links[link.index()]);
        }
    }

    /// An endpoint has been pumped, and has sent into its first link if `sent`.
    #[cold]
    pub(super) fn audit_endpoint(&mut self, index: usize, side: Role, link: LinkId, sent: bool) {
        if sent {
            self.audit_link(link);
        }
        let Some(audit) = &mut self.audit else { return };
        let connection = &mut self.connections[index];
        let traces = connection.sends(side);
        let back = &connection.routes[Direction::to(side)];
        let missing = back.iter().map(|&link_id| {
            let stats = self.links[link_id.index()].flow_stats(index as u64);
            stats.dropped.packets + stats.lost.packets
        });
        audit.missing(index, side, missing.sum());
        let endpoint = connection.endpoint(side);
        endpoint.take_packets(&mut |event| {
            audit.fate(self.now, index, side, &event);
            // The trace of the trial wants them as well, and they are handed over once.
            if let Some(recorder) = self.recorder.as_mut().filter(|_| traces) {
                recorder.note_packet((index, side), event);
            }
        });
        audit.endpoint(self.now, index, side, endpoint);
    }

    /// The trial is over.
    pub(super) fn audit_end(&mut self, scenario: &Scenario) -> Result<(), Ended> {
        for number in 0..self.elements.count() {
            let element = self.elements.numbered(number);
            let times = (self.due(element), self.queue.due(number));
            if let Some(audit) = &mut self.audit {
                audit.end_element(self.now, element, times);
            }
        }
        let Some(audit) = &mut self.audit else {
            return self.check_floors(scenario);
        };
        for (position, link) in self.links.iter_mut().enumerate() {
            link.advance(self.now);
            audit.end_link(self.now, LinkId::numbered(position), link);
        }
        for (index, connection) in self.connections.iter().enumerate() {
            audit.end_connection(scenario, index, connection, self.now);
        }
        match audit.take_finding() {
            Some(finding) => Err(Ended::Audit(finding)),
            None => Ok(()),
        }
    }
}
