//! Making bundles, which a link sees as one packet, of what an endpoint sends.

use super::first_link::FirstLink;
use crate::trial::hosts::{Bundle, Part, Spare};
use crate::trial::stack::{Outlet, Payload};

/// An outlet that makes bundles: packets of one size and one codepoint, but for the last, which may be shorter, as UDP
/// GSO asks (linux/udp.h, `UDP_SEGMENT`).
pub(super) struct Bundler<'a, 'b> {
    first_link: &'a mut FirstLink<'b>,
    /// Bundles that are no longer used.
    spare: &'a mut Spare,
    open: Box<Bundle>,
    most: usize,
}

impl<'a, 'b> Bundler<'a, 'b> {
    /// One of bundles of at most `most` packets.
    pub(super) fn new(
        first_link: &'a mut FirstLink<'b>,
        spare: &'a mut Spare,
        most: usize,
    ) -> Self {
        Bundler {
            open: spare.pop().unwrap_or_default(),
            first_link,
            spare,
            most,
        }
    }

    /// Whether a packet may follow the packets of the open bundle.
    fn takes(&self, payload: &Payload) -> bool {
        let parts = &self.open.parts;
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
            return true;
        };
        let size = first.payload.size();
        parts.len() < self.most
            && last.payload.size() == size
            && payload.size() <= size
            && payload.ecn() == first.payload.ecn()
            && !payload.is_ack()
            && !first.payload.is_ack()
    }

    /// The open bundle leaves.
    fn close(&mut self) {
        match self.open.parts.len() {
            0 => {}
            1 => {
                if let Some(Part {
                    payload, number, ..
                }) = self.open.parts.pop()
                {
                    self.first_link.send(payload, number);
                }
            }
            _ => {
                let next = self.spare.pop().unwrap_or_default();
                let bundle = std::mem::replace(&mut self.open, next);
                self.first_link.send_bundle(bundle);
            }
        }
    }

    /// No more packets leave now.
    pub(super) fn finish(mut self) {
        self.close();
        self.spare.push(self.open);
    }
}

impl Outlet for Bundler<'_, '_> {
    fn send(&mut self, payload: Payload, number: Option<u64>) {
        if !self.takes(&payload) {
            self.close();
        }
        let size = payload.size() + self.first_link.overhead;
        self.open.parts.push(Part {
            payload,
            number,
            size,
        });
    }
}
