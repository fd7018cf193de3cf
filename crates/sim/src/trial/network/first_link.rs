//! Pushing a packet of an endpoint into the first link of its route.

use crate::audit::Auditor;
use crate::outcome::series::Series;
use crate::scenario::hop::LinkId;
use crate::trial::hosts::Bundle;
use crate::trial::stack::{Outlet, Payload};
use thalweg_path::Link;
use thalweg_transport::Role;
use thalweg_units::{Bytes, Ecn, Instant};

/// A packet on a link: it counts the headers of IP and UDP.
pub(super) struct InTransit {
    /// Index of its connection.
    pub(super) connection: u32,
    pub(super) size: u32,
    /// Links of its route already crossed.
    pub(super) crossed: u16,
    /// Its tag for the auditor.
    pub(super) tag: u32,
    pub(super) packet: Payload,
}

impl thalweg_path::Packet for InTransit {
    fn size(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }
    fn ecn(&self) -> Ecn {
        self.packet.ecn()
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        self.packet.set_ecn(ecn);
    }
    fn flow(&self) -> u64 {
        u64::from(self.connection)
    }
    fn is_ack(&self) -> bool {
        self.packet.is_ack()
    }
    fn number(&self) -> u64 {
        self.packet.number()
    }
}

/// The link into which an endpoint sends, and the observers of what it sends.
pub(super) struct FirstLink<'a> {
    pub(super) now: Instant,
    pub(super) overhead: u32,
    pub(super) link: &'a mut Link<InTransit>,
    pub(super) link_id: LinkId,
    pub(super) sender: (usize, Role),
    /// The series, if the flow has data in it from this side.
    pub(super) series: Option<(&'a mut Series, usize)>,
    pub(super) audit: Option<&'a mut Auditor>,
    /// Whether anything was sent.
    pub(super) sent: bool,
}

impl FirstLink<'_> {
    /// A bundle enters the link as one packet.
    pub(super) fn send_bundle(&mut self, bundle: Box<Bundle>) {
        let size = bundle.parts.iter().map(|part| part.size).sum();
        let packet = Payload::Bundle(bundle);
        let tag = match (&mut self.audit, &packet) {
            (Some(audit), Payload::Bundle(bundle)) => {
                for part in &bundle.parts {
                    audit.leave_host(self.sender, part.size, part.number);
                }
                let what = (size, packet.ecn());
                audit.enter(self.now, self.link_id, self.sender.0, what, None)
            }
            _ => 0,
        };
        self.push(packet, size, tag);
    }

    /// What the auditor knows by this tag enters the link.
    #[inline(always)] // so that the packet is built in place
    fn push(&mut self, packet: Payload, size: u32, tag: u32) {
        if let Some((series, flow)) = &mut self.series {
            series.on_sent(self.now, *flow, Bytes::new(u64::from(size)));
        }
        let carried = InTransit {
            connection: self.sender.0 as u32,
            size,
            crossed: 0,
            tag,
            packet,
        };
        self.link.push(self.now, carried);
        self.sent = true;
    }
}

impl Outlet for FirstLink<'_> {
    #[inline(always)] // so that the packet is built in place
    fn send(&mut self, packet: Payload, number: Option<u64>) {
        let size = packet.size() + self.overhead;
        let tag = match &mut self.audit {
            Some(audit) => {
                let what = (size, packet.ecn());
                audit.depart(self.now, self.link_id, self.sender, what, number)
            }
            None => 0,
        };
        self.push(packet, size, tag);
    }
}
