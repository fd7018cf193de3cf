//! The passages of packets through links, on request: what an animation of packets shows.
//!
//! They are many: a [`Watch`] says from when on packets are wanted, and how many rows there may be. A trial repeats, so any
//! part of it can be had by playing it again. Nothing else is recorded meanwhile, and without a request there is no cost.
//!
//! # Limits
//! What waits at the end of a trial is played on for at most a minute to know when it would have left its queue. Packets
//! that even then wait, on a suspended link, have no row.

use crate::scenario::Scenario;
use crate::trial::connection::{self, Connection};
use thalweg_path::{Limit, Link, Packet, Passage};
use thalweg_units::{Duration, Instant};

/// Which passages are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The passages of packets that are on a link at this time, or later.
    pub from: Instant,
    /// At most this many: those that entered first.
    pub most: usize,
}

/// No trial is longer, in seconds.
const LATEST_S: f64 = 1e9;

impl Watch {
    /// From this time on, at most this many. Any number is a time: what is none is the start.
    pub fn from_seconds(from_s: f64, most: usize) -> Self {
        let from_s = if from_s > 0.0 {
            from_s.min(LATEST_S)
        } else {
            0.0
        };
        Watch {
            from: Instant::START + Duration::from_secs_f64(from_s),
            most,
        }
    }
}

/// The passage of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassageRow {
    /// Index of the link.
    pub link: usize,
    /// The packet; its flow is an index into the names.
    pub passage: Passage,
}

/// A limit of a queue that holds from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitRow {
    /// When a packet first met it.
    pub time: Instant,
    /// Index of the link.
    pub link: usize,
    /// The limit.
    pub limit: Limit,
}

/// The passages of a part of a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passages {
    /// In the order in which packets entered links.
    pub rows: Vec<PassageRow>,
    /// All packets that entered a link before this time, and were there at the start of the watch or later, have a row.
    pub until: Instant,
    /// The limits of queues.
    pub limits: Vec<LimitRow>,
    /// Names of the flows, as in [`crate::Trace`].
    pub flow_names: Vec<String>,
    /// Names of the links, down and up for each hop.
    pub link_names: Vec<String>,
}

/// How long what waits at the end is played on.
const AFTERWARDS: Duration = Duration::from_secs(60);

/// Records the passages of a running trial.
#[derive(Clone, Debug)]
pub(crate) struct PassageRecorder {
    watch: Watch,
    passages: Passages,
    limits: Vec<Option<Limit>>,
}

impl PassageRecorder {
    pub(crate) fn new(watch: Watch, scenario: &Scenario, connections: &[Connection]) -> Self {
        let hops = scenario.hops.iter();
        PassageRecorder {
            watch,
            passages: Passages {
                until: Instant::NEVER,
                flow_names: connection::names(scenario, connections),
                link_names: hops.flat_map(|hop| hop.names.iter().cloned()).collect(),
                ..Passages::default()
            },
            limits: vec![None; 2 * scenario.hops.len()],
        }
    }

    /// Takes what a link has logged.
    pub(crate) fn take<P: Packet>(
        &mut self,
        time: Instant,
        index: usize,
        link: &Link<P>,
        logged: Vec<Passage>,
    ) {
        let limit = link.limit();
        if self.limits[index] != Some(limit) {
            self.limits[index] = Some(limit);
            let row = LimitRow {
                time,
                link: index,
                limit,
            };
            self.passages.limits.push(row);
        }
        for passage in logged {
            if passage.gone() < self.watch.from || passage.entered >= self.passages.until {
                continue;
            }
            self.passages.rows.push(PassageRow {
                link: index,
                passage,
            });
            if self.passages.rows.len() >= self.watch.most.saturating_mul(2) {
                self.keep_the_first();
            }
        }
    }

    /// If there are more rows than wanted, the rows of the packets that entered first stay. A link logs a packet when its fate is
    /// known, which is when it is dropped for one, and long after it entered for another.
    fn keep_the_first(&mut self) {
        let (rows, most) = (&mut self.passages.rows, self.watch.most);
        if rows.len() <= most {
            return;
        }
        let mut times: Vec<_> = rows.iter().map(|row| row.passage.entered).collect();
        let (_, &mut until, _) = times.select_nth_unstable(most);
        self.passages.until = until;
        rows.retain(|row| row.passage.entered < until);
    }

    /// The passages of a trial that ended with these links.
    pub(crate) fn finish<P: Packet>(mut self, end: Instant, links: &mut [Link<P>]) -> Passages {
        for (index, link) in links.iter_mut().enumerate() {
            while link.queue().packets > 0
                && let Some(next) = link.next().filter(|next| *next <= end + AFTERWARDS)
            {
                link.pop(next);
            }
            let logged = link.take_passages();
            self.take(end, index, link, logged);
        }
        self.keep_the_first();
        let mut passages = self.passages;
        passages.rows.sort_by_key(|row| row.passage.entered);
        passages.until = passages.until.min(end);
        passages
    }
}
