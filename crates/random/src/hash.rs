//! Hashes of 64 bits.

/// FNV-1a (draft-eastlake-fnv).
#[derive(Clone, Copy, Debug)]
pub struct Fnv1a(u64);

impl Fnv1a {
    /// The hash of no bytes.
    pub const EMPTY: Fnv1a = Fnv1a(0xcbf2_9ce4_8422_2325);

    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> u64 {
        Fnv1a::EMPTY.and(bytes).value()
    }

    /// The hash of the bytes so far, and these.
    #[must_use]
    pub fn and(self, bytes: &[u8]) -> Self {
        Fnv1a(bytes.iter().fold(self.0, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }))
    }

    /// The hash.
    pub fn value(self) -> u64 {
        self.0
    }
}

/// The odd number nearest to 2^64 over the golden ratio, the increment of splitmix64.
pub const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads neighbouring numbers over the whole range (the finaliser of [`splitmix64`]).
#[inline]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The next number of the generator of Steele, Lea and Flood 2014.
#[inline]
pub fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(GOLDEN_GAMMA);
    mix(*state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv_1a_gives_the_published_hashes() {
        // Test vectors of draft-eastlake-fnv for 64 bits.
        assert_eq!(Fnv1a::of(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(Fnv1a::of(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(Fnv1a::of(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(
            Fnv1a::EMPTY.and(b"foo").and(b"bar").value(),
            Fnv1a::of(b"foobar")
        );
    }

    #[test]
    fn splitmix64_gives_the_published_numbers() {
        // The first outputs of the published splitmix64.c for the seed 1234567.
        let mut state = 1_234_567;
        assert_eq!(splitmix64(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(splitmix64(&mut state), 3_203_168_211_198_807_973);
    }
}
