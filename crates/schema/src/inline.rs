//! What stands in the place of the name of a file, so that a scenario can be rerun from its text alone.
//!
//! The schema marks the keys that name files with `x-file`, a list of what their contents begin with when they stand in the
//! place of the name. Whatever confines or copies the files of a scenario finds its keys there.

/// Prefix of times instead of a file name: `trace = "ms: 3 3 7 10"`.
pub const INLINE: &str = "ms:";
/// Prefix of the times and delays of a jitter trace: `file = "us: 0 1350 20000 1280"`.
pub const INLINE_JITTER: &str = "us:";
/// Prefix of the bytes of a profile in bins of one length: `profile = "bytes: 1500 0 3000"`. The prefix of one with times is
/// [`INLINE_JITTER`].
pub const INLINE_BYTES: &str = "bytes:";
