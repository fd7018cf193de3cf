//! Jitter that does not reorder: NR-BPDV of RFC 8868 section 4.5.
//!
//! # Model
//! The n-th packet is delayed by |z(n)|, z a normal number of mean zero, clipped at `clip` standard deviations before its sign
//! is taken away, not redrawn. It arrives no earlier than the one before it and the time that this takes at the capacity of the
//! link: j(n) = max(j(n), j(n-1) + serial(n-1)). The mean delay of the model is the delay of the link.
//!
//! # Limits
//! The capacity is the capacity of this link; RFC 8868 section 4.5 means the lowest of the path.

use super::normal::{below, density, from_nanos};
use rand_pcg::Pcg64Mcg;
use thalweg_random::standard_normal;
use thalweg_units::Duration;

/// The distribution of |z|.
#[derive(Debug)]
pub(crate) struct Clipped {
    pub(super) sd: Duration,
    /// In standard deviations.
    pub(super) clip: f64,
}

impl Clipped {
    pub(super) fn draw(&self, rng: &mut Pcg64Mcg) -> Duration {
        let deviations = standard_normal(rng).abs().min(self.clip);
        from_nanos(self.sd.as_nanos() as f64 * deviations)
    }

    /// Mean of min(|N|, c) standard deviations: 2 (phi(0) - phi(c)) + 2 c (1 - Phi(c)).
    pub(super) fn mean(&self) -> Duration {
        let within = 2.0 * (density(0.0) - density(self.clip));
        let beyond = 2.0 * self.clip * below(-self.clip);
        from_nanos(self.sd.as_nanos() as f64 * (within + beyond))
    }
}
