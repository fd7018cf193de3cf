//! Explicit Congestion Notification codepoints (RFC 3168 section 5, RFC 9331 section 2).

use std::fmt;

/// The two ECN bits of the IP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable: a congested queue can only drop the packet.
    #[default]
    NotEct = 0b00,
    /// ECN-capable, L4S identifier (RFC 9331).
    Ect1 = 0b01,
    /// ECN-capable, classic.
    Ect0 = 0b10,
    /// Congestion experienced: a queue marked the packet.
    Ce = 0b11,
}

impl Ecn {
    /// Whether a queue may mark the packet instead of dropping it.
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Ecn::NotEct
    }

    /// Whether RFC 9331 section 5.1 classifies the packet as L4S (ECT(1) or CE).
    #[inline]
    pub fn is_l4s(self) -> bool {
        matches!(self, Ecn::Ect1 | Ecn::Ce)
    }

    /// The codepoint of the two low bits of `tos`.
    pub fn from_bits(tos: u8) -> Ecn {
        match tos & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }
}

impl fmt::Display for Ecn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ecn::NotEct => "Not-ECT",
            Ecn::Ect1 => "ECT(1)",
            Ecn::Ect0 => "ECT(0)",
            Ecn::Ce => "CE",
        })
    }
}
