//! Links: queue disciplines, capacity schedules, delay, jitter and loss.
//!
//! A [`Link`] is one direction of one hop. Packets wait in a queue discipline, are transmitted at the
//! capacity of the moment, may be lost, and travel for the propagation delay plus jitter:
//!
//! ```text
//! push -> policer -> [ queue discipline ] -> transmitter -> loss -> delay + jitter -> pop
//!                      limit, AQM            capacity                in order by default
//! ```
//!
//! A link has no clock. Its driver passes the time, and a late call replays what should
//! have happened before: the same code serves virtual time and real devices.
//!
//! ```
//! use thalweg_path::{Link, LinkConfig, Limit, Packet};
//! use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};
//!
//! struct Datagram(Ecn);
//! impl Packet for Datagram {
//!     fn size(&self) -> Bytes { Bytes::new(1250) }
//!     fn ecn(&self) -> Ecn { self.0 }
//!     fn set_ecn(&mut self, ecn: Ecn) { self.0 = ecn }
//!     fn flow(&self) -> u64 { 0 }
//! }
//!
//! let mut config = LinkConfig::new(Rate::from_bits_per_sec(10_000_000), Duration::from_millis(20));
//! config.limit = Limit::Time(Duration::from_millis(80));
//! let mut link = Link::new(&config, 1, 1);
//! link.push(Instant::START, Datagram(Ecn::NotEct));
//! // 1250 bytes at 10 Mbps take 1 ms, the journey takes 20 ms.
//! let arrival = Instant::START + Duration::from_millis(21);
//! assert_eq!(link.next(), Some(arrival));
//! assert!(link.pop(arrival).is_some());
//! ```
//!
//! # Limits
//! No bit errors (a damaged packet is a lost packet), no duplication, no size limit (MTU). Two links share a [`Medium`] at
//! most.

mod buffer;
mod capacity;
mod config;
mod counters;
mod flight;
mod jitter;
mod limit;
mod link;
mod loss;
mod medium;
mod models;
mod packet;
mod passage;
mod policer;
mod port;
mod queue;
mod random;
mod stats;
mod store;
#[cfg(any(test, feature = "test-packet"))]
pub mod test_packet;
mod transmission_time;
mod transmitter;
mod waits;

pub use capacity::{CapacitySchedule, DeliveryTrace, NoiseConfig, Segment, Segments, TraceError};
pub use config::{Change, LinkConfig};
pub use jitter::{JitterConfig, JitterTrace, JitterTraceError, WifiFormula};
pub use limit::Limit;
pub use link::{EcnConfig, Link};
pub use loss::{LossConfig, LossScript};
pub use medium::wifi;
pub use medium::{HalfDuplex, HalfDuplexConfig, Medium, MediumConfig};
pub use models::{Model, ModelKind, models};
pub use packet::Packet;
pub use passage::Passage;
pub use policer::PolicerConfig;
pub use queue::{
    AckFilter, CakeConfig, Cells, CodelConfig, DualPi2Config, DualPi2Scheduler, FqCodelConfig,
    Framing, PieConfig, QueueConfig, RedConfig, StepConfig,
};
pub use random::{BLOCK, BlockSeeds};
pub use stats::{Count, DropCause, Dropped, FlowLinkStats, LinkProgress, LinkStats, Transmitted};
