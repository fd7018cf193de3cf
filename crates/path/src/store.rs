//! Where packets stay from the time they are pushed until they are popped.
//!
//! A packet of the simulator has about 150 bytes. Queue and flight pass on small records with
//! the slot of a packet; the packet itself is moved in, and out unless inspecting it is enough.
//!
//! A packet that is dropped, lost or only inspected stays in its slot until the slot is reused: the
//! memory of a link is the memory of the most packets it ever held at once.

/// Where a packet is in the [`Store`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(usize);

/// Free slots.
#[derive(Debug, Default)]
pub(crate) struct Vacant(Vec<Slot>);

impl Vacant {
    #[inline]
    pub(crate) fn add(&mut self, slot: Slot) {
        self.0.push(slot);
    }
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Slot> {
        self.0.pop()
    }
}

/// The packets of a link.
#[derive(Debug)]
pub(crate) struct Store<P> {
    slots: Vec<Option<P>>,
}

impl<P> Store<P> {
    pub(crate) fn new() -> Self {
        Store { slots: Vec::new() }
    }

    /// Keeps a packet in the slot `vacant`, or in a new one.
    #[inline(always)] // see `Link::push`
    pub(crate) fn put(&mut self, packet: P, vacant: Option<Slot>) -> Slot {
        if let Some(slot) = vacant
            && let Some(entry) = self.slots.get_mut(slot.0)
        {
            *entry = Some(packet);
            return slot;
        }
        self.slots.push(Some(packet));
        Slot(self.slots.len() - 1)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut P> {
        self.slots.get_mut(slot.0)?.as_mut()
    }

    /// What is in a slot, to take the packet from.
    #[inline]
    pub(crate) fn entry(&mut self, slot: Slot) -> Option<&mut Option<P>> {
        self.slots.get_mut(slot.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vacant_slot_is_used_again_and_a_taken_packet_is_gone() {
        let mut store = Store::new();
        let first = store.put('a', None);
        let second = store.put('b', None);
        assert_ne!(first, second);
        let mut take = |slot| store.entry(slot).and_then(Option::take);
        assert_eq!((take(first), take(first)), (Some('a'), None));
        assert_eq!(store.put('c', Some(first)), first);
        let mut take = |slot| store.entry(slot).and_then(Option::take);
        assert_eq!((take(first), take(second)), (Some('c'), Some('b')));
    }
}
