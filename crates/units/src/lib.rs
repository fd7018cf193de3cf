//! Quantities of the laboratory: time, rates, sizes and ECN codepoints.
//!
//! Every quantity is an integer in one base unit, so that results are the same bits on every machine:
//!
//! | type | base unit | written as |
//! |---|---|---|
//! | [`Instant`] | nanoseconds since the start of the trial | `2.5 s` |
//! | [`Duration`] | nanoseconds | `80 ms` |
//! | [`Rate`] | bits per second | `20 Mbps` |
//! | [`Bytes`] | bytes | `1.5 MB` (1 500 000 bytes), `64 KiB` |
//! | [`Fraction`] | parts of one | `1 %`, `0.01` |
//!
//! Prefixes are decimal (k = 1000) unless they carry an `i` (Ki = 1024). A bare number is refused
//! wherever a unit is possible: `rate = 20` does not say what it means.
//!
//! # Limits
//! Durations reach 584 years, rates 18 Ebit/s. Arithmetic saturates instead of wrapping.

mod bytes;
mod ecn;
mod fraction;
mod parse;
mod rate;
#[cfg(feature = "serde")]
mod serde_text;
mod suggestion;
mod time;
mod visible;

pub use bytes::Bytes;
pub use ecn::Ecn;
pub use fraction::Fraction;
pub use parse::{ParseError, brief, quoted};
pub use rate::Rate;
pub use suggestion::did_you_mean;
pub use time::{Duration, Instant};
pub use visible::{find_obeyed, is_obeyed, visible, visible_lines};
