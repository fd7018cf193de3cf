//! What the event loop calls, and the number of each in the event queue: the links, then client, server and applications of
//! each connection, then the sources of cross traffic, the media, the circuit breakers of several, and the tape. One of these stands
//! where the applications of one more connection would, so that the events of packets, links and endpoints, do not ask
//! whether they are one.

use crate::scenario::hop::LinkId;
use thalweg_transport::Role;

/// Elements of a connection: client, server, applications.
const PER_CONNECTION: usize = 3;
const APPLICATIONS: usize = 2;

/// Something that is due at times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Link(LinkId),
    /// One side of a connection.
    Endpoint(usize, Role),
    /// Both applications of a connection.
    Applications(usize),
    /// A source of cross traffic.
    Source(usize),
    /// The medium that the links of a hop share.
    Medium(usize),
    /// The circuit breaker of a source of cross traffic or of a tunnel.
    Breaker(usize),
    /// The blocks of a tape.
    Tape,
}

/// The elements of a trial with so many links, connections, sources of cross traffic, media and breakers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    pub(crate) links: usize,
    pub(crate) connections: usize,
    pub(crate) sources: usize,
    /// One for each hop, if any hop has one.
    pub(crate) media: usize,
    pub(crate) breakers: usize,
    /// One if the trial follows a tape.
    pub(crate) tapes: usize,
}

impl Elements {
    /// How many numbers there are. The first two of each source, medium and breaker are of nothing.
    pub(crate) fn count(self) -> usize {
        self.first_of(self.before_tape() + self.tapes)
    }

    fn before_tape(self) -> usize {
        self.connections + self.sources + self.media + self.breakers
    }

    /// The first number of a connection.
    #[inline(always)] // in every event
    fn first_of(self, connection: usize) -> usize {
        self.links + PER_CONNECTION * connection
    }

    /// The medium, breaker or tape of that number among them.
    #[cold]
    fn shared(self, number: usize) -> Element {
        match number.checked_sub(self.media) {
            None => Element::Medium(number),
            Some(breaker) if breaker < self.breakers => Element::Breaker(breaker),
            Some(_) => Element::Tape,
        }
    }

    /// The number of an element.
    #[inline(always)] // in every event
    pub(crate) fn number(self, element: Element) -> usize {
        match element {
            Element::Link(link) => link.index(),
            Element::Endpoint(connection, side) => self.first_of(connection) + side.index(),
            Element::Applications(connection) => self.first_of(connection) + APPLICATIONS,
            Element::Source(source) => self.first_of(self.connections + source) + APPLICATIONS,
            Element::Medium(hop) => {
                self.first_of(self.connections + self.sources + hop) + APPLICATIONS
            }
            Element::Breaker(breaker) => {
                let before = self.connections + self.sources + self.media;
                self.first_of(before + breaker) + APPLICATIONS
            }
            Element::Tape => self.first_of(self.before_tape()) + APPLICATIONS,
        }
    }

    /// The element of that number.
    #[inline(always)] // in every event
    pub(crate) fn numbered(self, number: usize) -> Element {
        if number < self.links {
            return Element::Link(LinkId::numbered(number));
        }
        let connection = (number - self.links) / PER_CONNECTION;
        match (number - self.links) % PER_CONNECTION {
            0 => Element::Endpoint(connection, Role::Client),
            1 => Element::Endpoint(connection, Role::Server),
            _ if connection >= self.connections + self.sources => {
                self.shared(connection - self.connections - self.sources)
            }
            _ if connection >= self.connections => Element::Source(connection - self.connections),
            _ => Element::Applications(connection),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_that_of_one_element() {
        let elements = Elements {
            links: 4,
            connections: 3,
            sources: 2,
            media: 2,
            breakers: 2,
            tapes: 1,
        };
        for number in 0..elements.count() {
            assert_eq!(elements.number(elements.numbered(number)), number);
        }
        let first = Element::Endpoint(0, Role::Client);
        assert_eq!(elements.numbered(4), first);
        assert_eq!(elements.numbered(elements.count() - 4), Element::Breaker(1));
        assert_eq!(elements.numbered(elements.count() - 1), Element::Tape);
    }
}
