//! Places where the published code differs from its author's intent.
//!
//! The variants reproduce what was measured, so the slips are part of them. Each one is a switch here and
//! a branch that names it, so that its effect can be measured:
//! without the branches of the delay excess they are the "repaired version" of c4-history.md section 4.
//!
//! Slips that no switch can undo without inventing an algorithm are documented in place:
//! [`highest_acked`](super::era::highest_acked), [`MinRtt::limit`](super::min_rtt::MinRtt::limit),
//! the end of a pig war in [`recovery`](super::recovery), and the rate sample of
//! [`output`](super::output).

/// Which slips are in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slips {
    /// v1 to v3: the length of a cruise should grow with the logarithm of the window; an integer
    /// division makes it twice the window (section 2, `T(w)`).
    pub(crate) flat_cruise_target: bool,
    /// v2, v3: the excess adds the thresholds that it should subtract (section 4).
    pub(crate) excess_sign: bool,
    /// v2, v3: an RTT below the threshold, yet above the filter's floor, leaves the excess of an earlier
    /// sample in place (section 4).
    pub(crate) stale_excess: bool,
    /// v2, v3: the excess is cleared just before the decrease is computed from it, so that a delay event
    /// decreases nothing (section 4). Fixed upstream on 15 September 2025.
    pub(crate) excess_cleared_before_use: bool,
}

impl Slips {
    /// The code as it was published.
    pub(crate) const AS_PUBLISHED: Slips = Slips {
        flat_cruise_target: true,
        excess_sign: true,
        stale_excess: true,
        excess_cleared_before_use: true,
    };

    /// The repaired version of section 4: the sign is right, and the excess is cleared after use.
    #[cfg(test)]
    pub(crate) const REPAIRED: Slips = Slips {
        flat_cruise_target: true,
        excess_sign: false,
        stale_excess: false,
        excess_cleared_before_use: false,
    };
}
