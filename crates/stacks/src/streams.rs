//! What applications have written to streams and a library has not taken yet, and what it says has arrived: no more
//! than it has taken at the other end.

use crate::library::{Arrived, End, present::Call};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thalweg_transport::{Role, StreamId};
use thalweg_units::Instant;

/// What is left to write to a stream.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    bytes: u64,
    fin: bool,
}

/// Bytes of a stream in one direction so far, and whether these are all.
#[derive(Clone, Copy, Debug, Default)]
struct Course {
    bytes: u64,
    fin: bool,
}

/// What both ends of a connection have taken from their applications.
#[derive(Debug, Default)]
struct Taken {
    /// Streams that the client has opened.
    opened: u64,
    /// By the role of the end.
    of: [BTreeMap<StreamId, Course>; 2],
}

/// The streams of an end.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    left: BTreeMap<StreamId, Left>,
    /// What has arrived in order.
    arrived: BTreeMap<StreamId, Course>,
    taken: Arc<Mutex<Taken>>,
}

impl Streams {
    /// The streams of the other end of the connection.
    pub(crate) fn of_peer(&self) -> Streams {
        Streams {
            taken: Arc::clone(&self.taken),
            ..Streams::default()
        }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An application writes.
    pub(crate) fn write(&mut self, id: StreamId, bytes: u64, fin: bool) {
        let left = self.left.entry(id).or_default();
        left.bytes += bytes;
        left.fin |= fin;
    }

    /// Offers the library what is left.
    pub(crate) fn flush(&mut self, now: Instant, role: Role, end: &End) {
        let mut taken_so_far = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let Taken { opened, of } = &mut *taken_so_far;
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
            let Some(taken) = end.write(now, stream, all, left.fin) else {
                return true;
            };
            let course = of[role.index()].entry(*id).or_default();
            course.bytes += taken;
            course.fin |= left.fin && taken == all;
            left.bytes -= taken;
            taken < all
        });
    }

    /// Whether anything is left.
    pub(crate) fn has_left(&self) -> bool {
        !self.left.is_empty()
    }

    /// More bytes of a stream have arrived at the end with this role: which stream, and how many in all.
    ///
    /// # Errors
    /// What the library reports that cannot be.
    pub(crate) fn arrive(
        &mut self,
        role: Role,
        arrived: &Arrived,
    ) -> Result<(StreamId, u64), String> {
        let taken = self.taken();
        let &Arrived { stream, bytes, fin } = arrived;
        let id = StreamId::try_from(stream).ok();
        let Some(id) = id.filter(|_| stream < taken.opened) else {
            return Err(format!("reported stream {stream}, which nobody opened"));
        };
        let sent = taken.of[role.peer().index()].get(&id).copied();
        let sent = sent.unwrap_or_default();
        drop(taken);
        let course = self.arrived.entry(id).or_default();
        if course.fin {
            return Err(format!("reported more of stream {stream} after its end"));
        }
        let all = course.bytes.saturating_add(bytes);
        if all > sent.bytes {
            let written = sent.bytes;
            return Err(format!(
                "reported {all} bytes of stream {stream}, of which the other end has written {written}"
            ));
        }
        if fin && !(sent.fin && all == sent.bytes) {
            let ended = if sent.fin {
                "ended it after"
            } else {
                "written"
            };
            let written = sent.bytes;
            return Err(format!(
                "reported the end of stream {stream} after {all} bytes, but the other end has {ended} {written}"
            ));
        }
        *course = Course { bytes: all, fin };
        Ok((id, all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The client's streams when both ends have opened stream 0 and the server has taken these bytes of its answer.
    fn client(bytes: u64, fin: bool) -> Streams {
        let streams = Streams::default();
        let mut taken = streams.taken();
        taken.opened = 1;
        taken.of[Role::Server.index()].insert(0, Course { bytes, fin });
        drop(taken);
        streams
    }

    #[test]
    fn what_arrives_was_written_at_the_other_end() {
        let arrival = |stream, bytes, fin| Arrived { stream, bytes, fin };
        let mut streams = client(1000, true);
        assert_eq!(
            streams.arrive(Role::Client, &arrival(0, 400, false)),
            Ok((0, 400))
        );
        assert_eq!(
            streams.arrive(Role::Client, &arrival(0, 600, true)),
            Ok((0, 1000))
        );
        for (written, arrived, says) in [
            (
                (1000, true),
                arrival(0, 1001, true),
                "reported 1001 bytes of stream 0, of which the other end has written 1000",
            ),
            ((0, false), arrival(0, u64::MAX, true), "has written 0"),
            (
                (1000, true),
                arrival(1, 1, false),
                "reported stream 1, which nobody opened",
            ),
            (
                (1000, true),
                arrival(u64::MAX, 1, false),
                "which nobody opened",
            ),
            (
                (1000, true),
                arrival(0, 999, true),
                "after 999 bytes, but the other end has ended it after 1000",
            ),
            (
                (1000, false),
                arrival(0, 1000, true),
                "after 1000 bytes, but the other end has written 1000",
            ),
        ] {
            let error = client(written.0, written.1).arrive(Role::Client, &arrived);
            let error = error.unwrap_err();
            assert!(error.ends_with(says), "{error}");
        }
        let again = streams.arrive(Role::Client, &arrival(0, 0, true));
        assert_eq!(
            again,
            Err("reported more of stream 0 after its end".to_owned())
        );
        // The server has its own direction of the stream, in which nothing was written.
        let server = client(1000, true)
            .of_peer()
            .arrive(Role::Server, &arrival(0, 1, false));
        assert!(server.unwrap_err().ends_with("has written 0"));
    }
}
