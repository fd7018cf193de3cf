//! Media that the links of a hop share: what is pushed into the links, and when a medium lets one of them transmit.

use super::Network;
use super::first_link::InTransit;
use crate::scenario::Scenario;
use crate::scenario::hop::{Direction, LinkId};
use crate::trial::element::Element;
use crate::trial::seed;
use thalweg_path::wifi::MediumUse;
use thalweg_path::{Link, Medium};
use thalweg_units::Instant;

/// The medium of each hop, for which its links wait from now on; empty if no hop has one.
pub(super) fn of_hops(
    scenario: &Scenario,
    trial: u64,
    links: &mut [Link<InTransit>],
) -> Vec<Option<Medium>> {
    if scenario.shared_medium().is_none() {
        return Vec::new();
    }
    let hops = scenario.hops.iter().enumerate();
    hops.map(|(hop, spec)| {
        let first = LinkId::new(hop, Direction::Down);
        let links = links[first.index()..].first_chunk_mut()?;
        let seed = seed::of_link(scenario, trial, first);
        Some(Medium::new(spec.medium.as_ref()?, seed, links))
    })
    .collect()
}

/// What the medium of each hop was used for up to `now`: none for a hop without contention.
pub(super) fn uses(
    media: &mut [Option<Medium>],
    links: &mut [Link<InTransit>],
    now: Instant,
) -> Vec<Option<MediumUse>> {
    let hops = media.iter_mut().zip(links.chunks_exact_mut(2));
    hops.map(|(medium, links)| {
        let links = links.first_chunk_mut()?;
        medium.as_mut()?.use_until(now, links)
    })
    .collect()
}

impl Network {
    /// The medium of a hop is due.
    pub(super) fn call_medium(&mut self, hop: usize) {
        let now = self.now;
        self.at_medium(hop, |medium, links| Some(medium.call(now, links)));
    }

    /// Packets have been pushed into a link.
    #[cold]
    #[inline(never)] // so that the usual case is short
    pub(super) fn note_pushed(&mut self, link: LinkId) {
        let now = self.now;
        let side = link.direction() as usize;
        self.at_medium(link.hop(), |medium, links| {
            medium.pushed(now, side, links).then_some(true)
        });
    }

    /// Something may happen on the medium of a hop, if it has one; if so, it concerns both links, or not.
    fn at_medium(
        &mut self,
        hop: usize,
        happens: impl FnOnce(&mut Medium, &mut [Link<InTransit>; 2]) -> Option<bool>,
    ) {
        let first = LinkId::new(hop, Direction::Down).index();
        let Some(medium) = &mut self.media[hop] else {
            return;
        };
        let Some(links) = self.links[first..].first_chunk_mut() else {
            return;
        };
        let Some(concerns_links) = happens(medium, links) else {
            return;
        };
        if let Some(audit) = &mut self.audit {
            audit.medium(hop, medium);
        }
        let due = medium.call_by();
        let number = self.elements.number(Element::Medium(hop));
        self.queue.set(number, due);
        if !concerns_links {
            return;
        }
        for link in Direction::BOTH.map(|direction| LinkId::new(hop, direction)) {
            let next = self.links[link.index()].next().unwrap_or(Instant::NEVER);
            self.note_delivered(link, next);
        }
    }
}
