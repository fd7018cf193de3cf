//! Hops and their links: a hop is a pair of links that carry opposite directions.

use super::criterion::watch::Entry;
use std::borrow::Cow;
use std::ops::Index;
use thalweg_path::{Change, LinkConfig, MediumConfig};
use thalweg_transport::Role;

/// Direction of a link within its hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From server to client.
    Down,
    /// From client to server.
    Up,
}

impl Direction {
    pub(crate) const BOTH: [Direction; 2] = [Direction::Down, Direction::Up];

    /// The direction in which this end sends.
    #[inline]
    pub(crate) fn from(sender: Role) -> Self {
        match sender {
            Role::Server => Direction::Down,
            Role::Client => Direction::Up,
        }
    }

    /// The direction from which this end receives.
    #[inline]
    pub(crate) fn to(receiver: Role) -> Self {
        Direction::from(receiver.peer())
    }

    /// The end that it leads to.
    #[inline]
    pub(crate) fn receiver(self) -> Role {
        match self {
            Direction::Down => Role::Client,
            Direction::Up => Role::Server,
        }
    }
}

/// One of a kind for each direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerDirection<T> {
    pub(crate) down: T,
    pub(crate) up: T,
}

impl<T> PerDirection<T> {
    /// Down first, as in outcomes and traces.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        [&self.down, &self.up].into_iter()
    }
}

impl<T> Index<Direction> for PerDirection<T> {
    type Output = T;
    #[inline]
    fn index(&self, direction: Direction) -> &T {
        match direction {
            Direction::Down => &self.down,
            Direction::Up => &self.up,
        }
    }
}

/// Two links, one for each direction.
#[derive(Clone, Debug)]
pub(crate) struct Hop {
    /// Names of the links in outcomes and traces, and of their random streams.
    pub(crate) names: PerDirection<String>,
    pub(crate) links: PerDirection<LinkConfig>,
    /// Whether the queues split bundles.
    pub(crate) splits: bool,
    /// The medium that both links share, if they do.
    pub(crate) medium: Option<MediumConfig>,
    /// Changes whose time the trial decides.
    pub(crate) tied: Vec<Tied>,
}

impl Hop {
    /// A link for bounds that must hold whenever the changes come that follow a state: it has the highest rate of these
    /// changes from the start on, and their delays and limits among its changes.
    pub(crate) fn at_most(&self, direction: Direction) -> Cow<'_, LinkConfig> {
        let mut link = Cow::Borrowed(&self.links[direction]);
        for tied in &self.tied {
            let link = link.to_mut();
            let Change {
                rate, delay, limit, ..
            } = tied.changes[direction].clone();
            let rates = link
                .changes
                .iter_mut()
                .filter_map(|change| change.rate.as_mut());
            for own in rates.chain([&mut link.rate]) {
                *own = rate.map_or(*own, |rate| rate.max(*own));
            }
            link.changes.push(Change {
                delay,
                limit,
                ..Change::default()
            });
        }
        link
    }
}

/// A change that follows an entry of a controller into a state; its time counts from that entry.
#[derive(Clone, Debug)]
pub(crate) struct Tied {
    pub(crate) entry: Entry,
    pub(crate) changes: PerDirection<Change>,
}

impl Hop {
    /// Whether stations contend for its medium.
    pub(crate) fn has_contention(&self) -> bool {
        matches!(self.medium, Some(MediumConfig::Wifi(_)))
    }
}

/// A link of a scenario: they are numbered hop by hop, down before up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkId(u16);

impl LinkId {
    /// A link of a hop; there are at most a thousand hops.
    pub(crate) fn new(hop: usize, direction: Direction) -> Self {
        LinkId((2 * hop) as u16 + direction as u16)
    }

    /// The links of `hops` hops, in order.
    pub(crate) fn all(hops: usize) -> impl Iterator<Item = LinkId> {
        (0..hops).flat_map(|hop| Direction::BOTH.map(|direction| LinkId::new(hop, direction)))
    }

    /// The link with this number.
    #[inline]
    pub(crate) fn numbered(index: usize) -> Self {
        LinkId(index as u16)
    }

    /// Its number.
    #[inline]
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }

    pub(crate) fn hop(self) -> usize {
        self.index() / 2
    }

    #[inline]
    pub(crate) fn direction(self) -> Direction {
        match self.0 % 2 {
            0 => Direction::Down,
            _ => Direction::Up,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_numbered_hop_by_hop_and_know_their_hop_and_direction() {
        let links: Vec<LinkId> = LinkId::all(3).collect();
        for (index, link) in links.iter().enumerate() {
            assert_eq!((link.index(), *link), (index, LinkId::numbered(index)));
            assert_eq!(LinkId::new(link.hop(), link.direction()), *link);
        }
        assert_eq!((links[5].hop(), links[5].direction()), (2, Direction::Up));
        assert_eq!(links.len(), 6);
    }

    #[test]
    fn a_direction_leads_from_one_end_to_the_other() {
        for direction in Direction::BOTH {
            assert_eq!(Direction::to(direction.receiver()), direction);
            assert_eq!(Direction::from(direction.receiver().peer()), direction);
        }
        assert_eq!(Direction::from(Role::Server), Direction::Down);
    }
}
