//! Who hears whom, and whose frames destroy what is received where.

use super::config::{Heard, WifiConfig};

/// Stations of a medium at most: one bit each.
pub(super) const MOST_STATIONS: usize = 64;
/// The access point is the first station, the client the second.
pub(super) const ACCESS_POINT: usize = 0;
pub(super) const CLIENT: usize = 1;

/// A set of stations.
pub(super) type Stations = u64;

/// The stations of a medium, numbered: the access point, the client, and the neighbours in the order of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    heard: Vec<Heard>,
}

impl Graph {
    /// The graph of a medium.
    pub fn new(config: &WifiConfig) -> Self {
        let neighbours = config.neighbours.iter();
        let places = neighbours.flat_map(|kind| (0..kind.count).map(|_| kind.heard));
        let heard = [Heard::Both; 2].into_iter().chain(places);
        Graph {
            heard: heard.take(MOST_STATIONS).collect(),
        }
    }

    /// How many stations there are.
    pub fn len(&self) -> usize {
        self.heard.len()
    }

    /// Never: there are at least two.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Whether two different stations hear each other. Neighbours do if some end hears both of them, or if they are at the same
    /// place.
    pub fn hear(&self, one: usize, other: usize) -> bool {
        let ends = |station: usize| match (station, self.heard[station]) {
            (ACCESS_POINT, _) | (2.., Heard::AccessPoint) => [true, false],
            (CLIENT, _) | (2.., Heard::Client) => [false, true],
            (_, Heard::Both) => [true, true],
            (_, Heard::Neither) => [false, false],
        };
        let ([a, b], [c, d]) = (ends(one), ends(other));
        let are_neighbours = one > CLIENT && other > CLIENT;
        let same_place = are_neighbours && self.heard[one] == self.heard[other];
        let are_ends = one <= CLIENT && other <= CLIENT;
        are_ends || same_place || a && c || b && d
    }

    /// Who receives what a station sends: the other end, the access point if that hears a neighbour, and otherwise somebody
    /// next to the neighbour, who stands for itself.
    pub fn receiver(&self, sender: usize) -> usize {
        match (sender, self.heard[sender]) {
            (ACCESS_POINT, _) => CLIENT,
            (CLIENT, _) | (_, Heard::Both | Heard::AccessPoint) => ACCESS_POINT,
            (_, Heard::Client | Heard::Neither) => sender,
        }
    }

    /// Whether `station` cannot read what another sends while `other` does: it hears `other`, or is an end near to a neighbour
    /// that neither end hears.
    pub fn garbles(&self, other: usize, station: usize) -> bool {
        let is_near = station <= CLIENT && other > CLIENT && self.heard[other] == Heard::Neither;
        is_near || self.hear(other, station)
    }

    /// Whether `other` destroys what `sender` sends if it sends at the same time: its receiver cannot read it then, or is
    /// `other` itself.
    pub fn destroys(&self, other: usize, sender: usize) -> bool {
        let receiver = self.receiver(sender);
        other != sender && (other == receiver || self.garbles(other, receiver))
    }

    /// The stations of which `holds`.
    pub(super) fn those(&self, holds: impl Fn(usize) -> bool) -> Stations {
        let bits = (0..self.len()).filter(|station| holds(*station));
        bits.fold(0, |set, station| set | 1 << station)
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::{NeighbourConfig, Phy};
    use super::*;
    use thalweg_units::Duration;

    /// Neighbours 2 to 5: heard by both, by the access point, by the client, by neither.
    fn graph() -> Graph {
        let places = [
            Heard::Both,
            Heard::AccessPoint,
            Heard::Client,
            Heard::Neither,
        ];
        let mut config = WifiConfig::new(Phy::A);
        config.neighbours = places
            .map(|heard| NeighbourConfig {
                heard,
                ..NeighbourConfig::saturated(1, Duration::from_millis(1))
            })
            .to_vec();
        Graph::new(&config)
    }

    #[test]
    fn hearing_is_mutual_and_follows_from_the_ends() {
        let graph = graph();
        let heard: Vec<Vec<usize>> = (0..graph.len())
            .map(|one| {
                (0..graph.len())
                    .filter(|&other| other != one && graph.hear(one, other))
                    .collect()
            })
            .collect();
        assert_eq!(
            heard,
            [
                vec![1, 2, 3],
                vec![0, 2, 4],
                vec![0, 1, 3, 4],
                vec![0, 2],
                vec![1, 2],
                vec![]
            ]
        );
    }

    #[test]
    fn frames_are_destroyed_by_what_their_receiver_hears_and_by_itself() {
        let graph = graph();
        let destroyers = |sender| -> Vec<usize> {
            let all = 0..graph.len();
            all.filter(|&other| graph.destroys(other, sender)).collect()
        };
        // To the client: the client itself, and all but the one that only the access point hears.
        assert_eq!(destroyers(0), [1, 2, 4, 5]);
        assert_eq!(destroyers(1), [0, 2, 3, 5]);
        // To the access point, as that hears it.
        assert_eq!(destroyers(3), [0, 1, 2, 5]);
        // To somebody next to itself.
        assert_eq!(destroyers(4), [1, 2]);
        assert!(destroyers(5).is_empty());
    }
}
