//! Packets of a sender: outstanding ones, lost ones, and the reports of the stack on one
//! acknowledgement.

use crate::delivery_rate::SendState;
use thalweg_units::{Bytes, Instant};

/// An outstanding packet.
#[derive(Debug)]
pub(crate) struct Outstanding {
    pub(crate) number: u64,
    pub(crate) state: SendState,
    pub(crate) settled: bool,
    /// Larger than the path is known to carry: a probe of the path MTU, which counts neither as in flight nor
    /// as lost.
    pub(crate) is_probe: bool,
}

impl Outstanding {
    pub(crate) fn size(&self) -> Bytes {
        Bytes::new(u64::from(self.state.size))
    }
}

#[derive(Debug)]
pub(crate) struct Forgotten {
    pub(crate) number: u64,
    pub(crate) size: Bytes,
    pub(crate) sent: Instant,
}

/// Reports of the stack not yet passed to the controller.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) acked: Vec<u64>,
    pub(crate) lost: Vec<u64>,
    pub(crate) persistent: bool,
    /// CE marks that it reports.
    pub(crate) marks: u64,
    pub(crate) spurious: bool,
    /// All acknowledgements of the frame have been reported; losses may follow.
    pub(crate) ended: bool,
}

impl Batch {
    pub(crate) fn is_empty(&self) -> bool {
        self.acked.is_empty() && self.lost.is_empty() && self.marks == 0 && !self.spurious
    }
}

/// What one ACK frame newly acknowledges.
#[derive(Clone, Copy)]
pub(crate) struct Acked {
    pub(crate) largest: u64,
    pub(crate) bytes: Bytes,
    pub(crate) packets: u64,
    pub(crate) state: SendState,
}
