//! The interface of queue disciplines.

use crate::buffer::Queued;
use crate::port::Port;

/// The port counts the backlog: a packet is in the count from before `enqueue` until it is returned by
/// `dequeue` (the link books that) or handed to [`Port::drop`].
pub(crate) trait Discipline {
    /// Keeps the packet, marked or not, or drops it, or drops others instead.
    fn enqueue(&mut self, newest: Queued, port: &mut Port);

    /// The packet to transmit from now on, after dropping others. None only if the queue is empty, or after [`Port::pause`].
    fn dequeue(&mut self, port: &mut Port) -> Option<Queued>;

    /// The nominal capacity or the limit has changed: drops what no longer fits, from the youngest on
    /// unless the discipline has another order.
    fn shed(&mut self, port: &mut Port);

    /// Gives away all that waits, in the order of arrival. The discipline stays in use.
    fn drain(&mut self, port: &Port) -> Vec<Queued>;

    /// Keeps a packet that waited in the discipline before: it is neither dropped nor marked on entry.
    fn adopt(&mut self, waiting: Queued);
}
