//! The passages of packets through links, and the limits of queues that they meet.

use crate::table::{Columns, Table};
use crate::trace::{at, reason};
use thalweg_path::Limit;
use thalweg_sim::{LimitRow, Passages};
use thalweg_units::Instant;

/// The tables of the passages of a part of a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassageTables {
    /// Packets, in the order in which they entered links.
    pub packets: Table,
    /// The limits of queues.
    pub limits: Table,
    /// Names of the links, down and up for each hop.
    pub links: Vec<String>,
    /// Up to when all packets have a row, in seconds.
    pub until_s: f64,
}

impl From<Passages> for PassageTables {
    fn from(passages: Passages) -> Self {
        let link = |index: usize| passages.link_names[index].as_str();
        let flow = |index: u64| passages.flow_names[index as usize].as_str();
        let packets = Columns::new(&passages.rows)
            .word("link", |row| link(row.link))
            .word("flow", |row| flow(row.passage.flow))
            .count("packet", |row| row.passage.number)
            .count("size_bytes", |row| row.passage.size.as_u64())
            .float("entered_s", |row| at(row.passage.entered))
            .float("marked_s", |row| known(row.passage.marked))
            .float("left_s", |row| at(row.passage.left))
            .float("sent_s", |row| known(row.passage.sent))
            .float("due_s", |row| known(row.passage.due))
            .float("arrived_s", |row| known(row.passage.end.ok()))
            .word("fate", |row| {
                row.passage.end.map_or_else(reason, |_| "delivered")
            })
            .finish();
        let limits = Columns::new(&passages.limits)
            .float("time_s", |row| at(row.time))
            .word("link", |row| link(row.link))
            .seconds("limit_s", |row| match row.limit {
                Limit::Time(time) => Some(time),
                _ => None,
            })
            .float("limit_bytes", |row| match row.limit {
                Limit::Bytes(bytes) => bytes.as_u64() as f64,
                _ => f64::NAN,
            })
            .float("limit_packets", limit_packets)
            .finish();
        PassageTables {
            packets,
            limits,
            links: passages.link_names,
            until_s: at(passages.until),
        }
    }
}

fn limit_packets(row: &LimitRow) -> f64 {
    match row.limit {
        Limit::Packets(packets) => packets as f64,
        _ => f64::NAN,
    }
}

/// Not a number where there is no time, or never will be.
fn known(time: Option<Instant>) -> f64 {
    time.filter(|time| *time != Instant::NEVER)
        .map_or(f64::NAN, at)
}
