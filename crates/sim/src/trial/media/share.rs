//! What congestion control allows the encoders of one sender.

use crate::scenario::media::MediaSpec;
use crate::trial::stack::Endpoint;
use thalweg_transport::Role;
use thalweg_transport::packet::full_packet_payload;
use thalweg_units::Rate;

/// What the encoders of one sender are allowed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    /// Rates of streams whose frames have fixed sizes.
    fixed: Rate,
    /// Streams with an encoder.
    encoders: u64,
}

impl Share {
    pub(super) fn of(specs: &[MediaSpec], role: Role) -> Share {
        let mine = || specs.iter().filter(|spec| spec.from == role);
        let rates = mine().filter_map(MediaSpec::fixed_rate_with_fec);
        let sum = rates
            .map(Rate::as_bits_per_sec)
            .fold(0, u64::saturating_add);
        Share {
            fixed: Rate::from_bits_per_sec(sum),
            encoders: mine().filter(|spec| spec.encoder().is_some()).count() as u64,
        }
    }

    /// What `sender` allows each encoder, if it knows.
    pub(super) fn allowed(self, sender: &Endpoint) -> Option<Rate> {
        if self.encoders == 0 {
            return None;
        }
        let mtu = sender.path().mtu;
        let payload = full_packet_payload(mtu);
        let rate = sender.media_rate()?;
        let rate = rate
            .mul_div(payload.as_u64(), mtu.as_u64())
            .as_bits_per_sec();
        let left = rate.saturating_sub(self.fixed.as_bits_per_sec());
        Some(Rate::from_bits_per_sec(left / self.encoders))
    }
}
