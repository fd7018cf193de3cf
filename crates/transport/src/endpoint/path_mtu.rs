//! The path MTU: how it is found, and the fallback to a smaller one.
//!
//! # Model
//! Probes of the one size `max_mtu` (RFC 8899 section 5.3) are PINGs padded to it (RFC 9000 section 14.4). The first
//! leaves behind the data of the first flight, if that leaves room, so that no request waits for it; from the first
//! acknowledgement on, a probe goes before data: a sender that waits until it has none never probes for an upload. A
//! lost one is repeated at once, MAX_PROBES in all. QUIC acknowledges probes, so loss detection does what the
//! PROBE_TIMER of RFC 8899 section 5.1.1 does elsewhere. That a probe is lost is not a sign of congestion, but it needs
//! room in the window like any packet (RFC 9000 section 14.4).
//!
//! # Fallback
//! With `mtu_fallback`, a path that loses full packets is taken for one that carries smaller ones only. This is
//! picoquic's. The initial MTU returns when more than ten full packets are lost and none is acknowledged
//! meanwhile, and at a probe timeout. A probe then leaves before any data. Whatever is acknowledged shows at once what
//! the path carries, so that on a path that only drops, the MTU is small for a round trip.

use super::Endpoint;
use thalweg_units::Bytes;

/// Full packets that may be lost in a row.
const TOLERATED_LOSSES: u32 = 10;
/// Attempts to find a larger MTU: MAX_PROBES (RFC 8899 section 5.1.2).
pub(super) const MTU_PROBES: u32 = 3;

/// Sizes of the packets that one ACK frame newly acknowledges.
pub(super) struct AckedSizes {
    mtu: u32,
    /// Whether one of them is a full packet.
    full: bool,
    largest: u32,
    /// How many are of that size.
    of_largest: u32,
}

impl AckedSizes {
    /// None yet; full packets have `mtu`.
    pub(super) fn new(mtu: Bytes) -> Self {
        AckedSizes {
            mtu: mtu.as_u64() as u32,
            full: false,
            largest: 0,
            of_largest: 0,
        }
    }

    pub(super) fn add(&mut self, size: u32) {
        self.full |= size == self.mtu;
        if size > self.largest {
            (self.largest, self.of_largest) = (size, 0);
        }
        self.of_largest += u32::from(size == self.largest);
    }
}

impl Endpoint {
    /// A packet of `size` bytes is declared lost. As in picoquic, only the acknowledgement of a full packet ends the
    /// count, not the fallback: until then, each loss of a packet of the initial size falls back, and probes, again.
    pub(super) fn count_full_loss(&mut self, size: u32) {
        if Bytes::new(u64::from(size)) == self.sender.path.mtu && self.sender.path.established {
            self.full_losses += 1;
            if self.full_losses > TOLERATED_LOSSES {
                self.fall_back_to_initial_mtu();
            }
        }
    }

    /// Returns to the initial MTU, and looks for a larger one again.
    pub(super) fn fall_back_to_initial_mtu(&mut self) {
        if self.sender.path.established {
            self.sender.path.mtu = self.config.initial_mtu;
            self.confirmed_mtu = Bytes::ZERO;
            self.mtu_probes_left = MTU_PROBES;
            self.mtu_probe_pending = self.config.initial_mtu < self.config.max_mtu;
        }
    }

    /// Raises the MTU to what has been acknowledged.
    pub(super) fn trust_acknowledged_sizes(&mut self, sizes: &AckedSizes) {
        if !self.sender.path.established {
            return;
        }
        let largest = Bytes::new(u64::from(sizes.largest)).max(self.confirmed_mtu);
        let grows = largest > self.sender.path.mtu;
        if grows {
            self.sender.path.mtu = largest;
            self.mtu_probe_pending &= largest < self.config.max_mtu;
        }
        // The packet that shows the larger size is not yet a full one of that size.
        let full = match grows {
            true => sizes.of_largest > 1,
            false => sizes.full,
        };
        if full {
            self.full_losses = 0;
        }
    }

    /// A probe is lost: another one follows, if there is an attempt left.
    pub(super) fn repeat_mtu_probe(&mut self) {
        if self.sender.path.mtu < self.config.max_mtu {
            self.mtu_probe_pending = self.mtu_probes_left > 0;
        }
    }

    /// The next packet is a probe of the MTU.
    pub(super) fn take_mtu_probe(&mut self) -> u32 {
        self.mtu_probe_pending = false;
        self.mtu_probes_left -= 1;
        self.config.max_mtu.as_u64() as u32
    }

    /// Whether the next packet is a probe of the MTU, even if there is data. Not after a timeout, when data of the
    /// initial size has to show that anything arrives.
    pub(super) fn probes_mtu_first(&self) -> bool {
        let data_has_arrived = self.sender.path.largest_acked.is_some();
        self.mtu_probe_pending
            && (data_has_arrived || self.config.mtu_fallback)
            && self.timeouts == 0
            && self.is_complete()
            && !self.handshake.finished_pending
    }

    /// Whether a probe timeout brings new attempts to find a larger MTU. Not if it only follows the loss of such an
    /// attempt: an idle connection on a narrow path would probe for ever.
    pub(super) fn timeout_concerns_mtu(&self) -> bool {
        self.sender.path.mtu > self.config.initial_mtu || self.has_data()
    }

    /// Whether the next PING is padded to probe the MTU. Not if a probe timeout asks for it (`is_probe`): it has to
    /// arrive on a narrow path too.
    pub(super) fn pads_ping(&self, is_probe: bool) -> bool {
        let has_to_arrive = self.config.mtu_fallback && is_probe && self.sender.path.established;
        self.mtu_probe_pending && !has_to_arrive
    }
}
