//! Where packets stay from the time they are pushed until they are popped.
//!
//! A packet of the simulator has about 150 bytes. Queue and flight pass on small records with
//! the slot of a packet; the packet itself is moved in, and out unless inspecting it is enough.
//!
//! A packet that is dropped, lost or only inspected stays in its slot until the slot is reused: the
//! memory of a link is that of the most packets it ever held at once.

/// Where a packet is in the [`Store`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(usize);

/// Free slots.
#[derive(Debug, Default)]
pub(crate) struct Vacant(Vec<Place>);

impl Vacant {
    #[inline]
    pub(crate) fn add(&mut self, place: Place) {
        self.0.push(place);
    }
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Place> {
        self.0.pop()
    }
}

/// The packets of a link.
#[derive(Debug)]
pub(crate) struct Store<P> {
    places: Vec<Option<P>>,
}

impl<P> Store<P> {
    pub(crate) fn new() -> Self {
        Store { places: Vec::new() }
    }

    /// Keeps a packet in the slot `vacant`, or in a new one.
    #[inline(always)] // see `Link::push`
    pub(crate) fn put(&mut self, packet: P, vacant: Option<Place>) -> Place {
        if let Some(place) = vacant
            && let Some(slot) = self.places.get_mut(place.0)
        {
            *slot = Some(packet);
            return place;
        }
        self.places.push(Some(packet));
        Place(self.places.len() - 1)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, place: Place) -> Option<&mut P> {
        self.places.get_mut(place.0)?.as_mut()
    }

    /// The place itself, to take the packet from.
    #[inline]
    pub(crate) fn slot(&mut self, place: Place) -> Option<&mut Option<P>> {
        self.places.get_mut(place.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vacant_place_is_used_again_and_a_taken_packet_is_gone() {
        let mut store = Store::new();
        let first = store.put('a', None);
        let second = store.put('b', None);
        assert_ne!(first, second);
        let mut take = |place| store.slot(place).and_then(Option::take);
        assert_eq!((take(first), take(first)), (Some('a'), None));
        assert_eq!(store.put('c', Some(first)), first);
        let mut take = |place| store.slot(place).and_then(Option::take);
        assert_eq!((take(first), take(second)), (Some('c'), Some('b')));
    }
}
