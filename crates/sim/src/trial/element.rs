//! What the event loop calls, and the number of each in the event queue: the links, then client, server and applications of
//! each connection.

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
}

/// The elements of a trial with so many links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    pub(crate) links: usize,
}

impl Elements {
    /// How many there are, with so many connections.
    pub(crate) fn count(self, connections: usize) -> usize {
        self.links + PER_CONNECTION * connections
    }

    /// The number of an element.
    #[inline(always)] // in every event
    pub(crate) fn number(self, element: Element) -> usize {
        match element {
            Element::Link(link) => link.index(),
            Element::Endpoint(connection, side) => self.count(connection) + side.index(),
            Element::Applications(connection) => self.count(connection) + APPLICATIONS,
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
            _ => Element::Applications(connection),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_that_of_one_element() {
        let elements = Elements { links: 4 };
        for number in 0..elements.count(3) {
            assert_eq!(elements.number(elements.numbered(number)), number);
        }
        let first = Element::Endpoint(0, Role::Client);
        assert_eq!(elements.numbered(4), first);
    }
}
