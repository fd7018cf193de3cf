//! What a link asks of a queue discipline.

use crate::buffer::Queued;
use crate::port::Port;

/// The port counts what waits: a packet is in the count from before `enqueue` until it is returned by
/// `dequeue` (the link books that) or handed to [`Port::drop`].
pub(crate) trait Discipline {
    /// Keeps the packet, marked or not, or drops it, or drops others in its favour.
    fn enqueue(&mut self, newest: Queued, port: &mut Port);

    /// The packet to transmit from now on, after those that are dropped in its place. None only when
    /// nothing waits any more.
    fn dequeue(&mut self, port: &mut Port) -> Option<Queued>;

    /// The nominal capacity or the limit has changed: drops what no longer fits, from the youngest on
    /// unless the discipline has another order.
    fn shed(&mut self, port: &mut Port);
}
