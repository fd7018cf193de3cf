//! The constants of C4, those apart that are options ([`super::options`]).
//!
//! Values come from the reference code (picoquic `main`; 2026-08-16 unless a comment says otherwise). Comments say where the
//! text of draft-huitema-ccwg-c4-spec differs.

use crate::coefficient::Coefficient;
use thalweg_units::{Bytes, Duration, Rate};

/// Coefficient of Initial: twice the nominal rate ("Setting pacing rate, congestion window and quantum").
pub(super) const ALPHA_INITIAL: Coefficient = Coefficient::new(2048);
/// Coefficient of Recovery: 15/16.
pub(super) const ALPHA_RECOVERY: Coefficient = Coefficient::new(960);
/// Coefficient of Recovery after a second congestion signal: 7/8. Reference code only.
pub(super) const ALPHA_RECOVERY_DEEP: Coefficient = Coefficient::new(896);
/// Coefficient of a Recovery that drains: 7/8 (the draft after -04, "Recovery state").
pub(super) const ALPHA_DRAINING: Coefficient = Coefficient::new(896);
/// Coefficient of a Recovery with more than [`DRAIN_DEEPLY`] to drain: 74 %. Code of October 2026 only.
pub(super) const ALPHA_DRAINING_DEEPLY: Coefficient = Coefficient::new(758);
/// Debt up to which Recovery does not drain: what it leaves out anyway. Code of October 2026 only.
pub(super) const DRAIN_AT_ALL: Coefficient = Coefficient::new(64);
/// Debt up to which Recovery drains at [`ALPHA_DRAINING`]: what that leaves out. Code of October 2026 only.
pub(super) const DRAIN_DEEPLY: Coefficient = Coefficient::new(128);
/// Coefficient of Cruising: the nominal rate itself.
pub(super) const ALPHA_CRUISING: Coefficient = Coefficient::ONE;
/// Coefficient of Probing after an excess of CE marks: 33/32 ("Probing state").
pub(super) const ALPHA_PROBING_LOW: Coefficient = Coefficient::new(1056);
/// Coefficient of Probing otherwise: 17/16 ("Probing state").
pub(super) const ALPHA_PROBING: Coefficient = Coefficient::new(1088);
/// Coefficient of Resuming for the growth test; its pacing comes from the seed.
pub(super) const ALPHA_RESUMING: Coefficient = Coefficient::new(3072);

/// Acknowledgements and loss events that must be counted before loss may end Initial ("Initial state").
pub(super) const INITIAL_EVENTS_BEFORE_LOSS_EXIT: u64 = 20;
/// Eras without growth that end Initial ("Initial state").
pub(super) const INITIAL_ERAS_WITHOUT_GROWTH: u32 = 3;
/// Least pacing rate of Initial: 131 072 B/s ("Setting pacing rate, congestion window and quantum").
pub(super) const INITIAL_PACING_FLOOR: Rate = Rate::from_bytes_per_sec(131_072);

/// Cruising eras between two probes ("Cruising state").
pub(super) const CRUISING_ERAS: u32 = 2;
/// Cruising eras between two probes at probe level 0. Reference code only.
pub(super) const CRUISING_ERAS_AFTER_CE: u32 = 1;
/// Eras that the seed holds ("Resuming state").
pub(super) const RESUMING_ERAS: u32 = 2;

/// Probe level after an excess of CE marks.
pub(super) const PROBE_LEVEL_AFTER_CE: u32 = 0;
/// Probe level at first, and after a probe that found nothing.
pub(super) const PROBE_LEVEL_DEFAULT: u32 = 1;
/// Above this level the rate has grown so often that Initial is faster ("Recovery state").
pub(super) const PROBE_LEVEL_MAX: u32 = 3;

/// Recoveries in a row with congestion and without growth that make congestion persistent
/// ("Reaction to persistent congestion").
pub(super) const PERSISTENT_CONGESTION_CYCLES: u32 = 2;

/// Most that is added to the max RTT to size the window ("Setting pacing rate, congestion window and
/// quantum"); a quarter of the max RTT if that is less.
pub(super) const RTT_MARGIN_MAX: Duration = Duration::from_millis(15);
/// Floor of the nominal max RTT ("Nominal max RTT on low latency links"); option `rtt_floor`.
pub(super) const MAX_RTT_FLOOR: Duration = Duration::from_millis(1);
/// Most that the nominal max RTT may exceed the running min RTT by ("Nominal max RTT").
pub(super) const MAX_JITTER: Duration = Duration::from_millis(250);
/// Below this smoothed RTT, Cruising paces faster ("Pacing and CPU load"); option `submillisecond_bonus`. Up to it, the
/// code of October 2026 does not trim.
pub(super) const SUBMILLISECOND: Duration = Duration::from_millis(1);

/// Nominal max RTT of a new connection from the draft after -04 on: the initial RTT of picoquic, whose
/// smoothed RTT it is before the first sample. Reference code only.
pub(super) const INITIAL_MAX_RTT: Duration = Duration::from_millis(250);

/// Jitter sends C4 back to Initial only above this nominal max RTT. Reference code only.
pub(super) const JITTER_RESTART_MIN_MAX_RTT: Duration = Duration::from_millis(50);
/// Jitter sends C4 back to Initial only below this nominal rate. Reference code only.
pub(super) const JITTER_RESTART_RATE: Rate = Rate::from_bytes_per_sec(1_000_000);

/// Least time between the end of the first Recovery after Initial and the next return to Initial because of jitter.
/// Code of the draft after -04; its text says nothing.
pub(super) const JITTER_RESTART_WAIT: Duration = Duration::from_secs(1);

/// Upper limit of the send quantum: 64 KiB ("Setting pacing rate, congestion window and quantum").
pub(super) const QUANTUM_MAX: Bytes = Bytes::new(65_536);
/// Time whose data makes the send quantum. The text says 4 ms; the reference code takes 4/1024 s.
pub(super) const QUANTUM_SPAN: Duration = Duration::from_nanos(3_906_250);
