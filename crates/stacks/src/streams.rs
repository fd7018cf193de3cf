//! What applications have written to streams and a library has not taken yet.

use crate::library::{End, present::Call};
use std::collections::BTreeMap;
use thalweg_transport::{Role, StreamId};
use thalweg_units::Instant;

/// What is left to write to a stream.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    bytes: u64,
    fin: bool,
}

/// The streams of an end.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// Streams that the client has opened.
    opened: u64,
    left: BTreeMap<StreamId, Left>,
    /// Bytes that have arrived in order.
    arrived: BTreeMap<StreamId, u64>,
}

impl Streams {
    /// An application writes.
    pub(crate) fn write(&mut self, id: StreamId, bytes: u64, fin: bool) {
        let left = self.left.entry(id).or_default();
        left.bytes += bytes;
        left.fin |= fin;
    }

    /// Offers the library what is left.
    pub(crate) fn flush(&mut self, now: Instant, role: Role, end: &End) {
        let opened = &mut self.opened;
        self.left.retain(|id, left| {
            while role == Role::Client && *opened <= u64::from(*id) {
                match end.open(now) {
                    Some(number) if number == *opened => *opened += 1,
                    Some(number) => {
                        let problem =
                            format!("answered {number} for stream {opened} of its connection");
                        end.fault(Call::Open, now, problem);
                    }
                    None => return true,
                }
            }
            let (stream, all) = (u64::from(*id), left.bytes);
            match end.write(now, stream, all, left.fin) {
                Some(taken) if taken == all => return false,
                Some(taken) => left.bytes -= taken,
                None => {}
            }
            true
        });
    }

    /// Whether anything is left.
    pub(crate) fn has_left(&self) -> bool {
        !self.left.is_empty()
    }

    /// More bytes of a stream have arrived: how many in all.
    pub(crate) fn arrive(&mut self, id: StreamId, bytes: u64) -> u64 {
        let all = self.arrived.entry(id).or_default();
        *all = all.saturating_add(bytes);
        *all
    }
}
