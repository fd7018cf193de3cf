//! Limits of scenarios, checked before anything is allocated, so that a trial ends, or can
//! be stopped, and fits into memory. The table of docs/reference/scenarios.md lists them.

/// Bytes of a scenario file, traces in it included.
pub(super) const TEXT: usize = 80 << 20;
/// Keys, tables and list entries of a scenario file.
pub(super) const KEYS: usize = 1_000_000;
/// Bytes of one file with a trace.
pub(super) const TRACE: u64 = 32 << 20;
/// Bytes of all files with traces.
pub(super) const TRACES: u64 = 64 << 20;
/// Hops of the path, `[[link]]` tables.
pub(super) const LINKS: usize = 1_000;
/// `[[path.change]]` tables of all hops.
pub(super) const CHANGES: usize = 100_000;
/// Changes of one hop in a trial, those that repeat included.
pub(super) const CHANGES_IN_TRIAL: u64 = 10_000_000;
/// Queues of all links with fair queueing.
pub(super) const QUEUES: u64 = 1 << 20;
/// Queues of fair queueing of a hop that repeated changes of its discipline make in a trial.
pub(super) const QUEUES_IN_TRIAL: u64 = 100_000_000;
/// Intervals of noise of one link in a trial.
pub(super) const NOISE_INTERVALS: u64 = 1_000_000_000;
/// Updates of an active queue management in a trial.
pub(super) const UPDATES: u64 = 10_000_000;
/// `[[flow]]` tables.
pub(super) const FLOWS: usize = 10_000;
/// Connections: flows, and each request.
pub(super) const CONNECTIONS: u64 = 100_000;
/// Connections times links: each link counts the packets of each connection.
pub(super) const COUNTERS: u64 = 4_000_000;
/// `[[traffic]]` tables.
pub(super) const TRAFFIC: usize = 1_000;
/// Streams of one flow, and of all flows.
pub(super) const STREAMS: u32 = 10_000;
pub(super) const ALL_STREAMS: u64 = 200_000;
/// Streams of one flow of the real stack, which visits all of them for each write.
pub(super) const REAL_STREAMS: u32 = 1_000;
/// Streams of media of one flow.
pub(super) const MEDIA: usize = 100;
/// Frames of all streams of media.
pub(super) const FRAMES: f64 = 10_000_000.0;
/// Numbers in the series of a trial.
pub(super) const SERIES: u64 = 30_000_000;
/// Packets that can be inside the network at one time.
pub(super) const INSIDE: u64 = 50_000_000;
/// Packets that the links can carry in a trial.
pub(super) const PACKETS: u64 = 1_000_000_000_000;
