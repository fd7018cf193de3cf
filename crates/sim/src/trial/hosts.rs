//! The hosts at both ends of a connection, where they change times or packets: what has arrived and is not read, bundles,
//! and timers that tick (`thalweg_transport::Host`). They do the same for each stack.

use crate::trial::connection::Connection;
use crate::trial::stack::{Endpoint, Payload};
use thalweg_transport::{Bundle as BundleSize, Host, Reading, Role};
use thalweg_units::{Duration, Instant};

/// A packet of a bundle, or one that a host has not read.
pub(crate) struct Part {
    pub(crate) payload: Payload,
    /// Its number at the sender, if it has one in the application space.
    pub(crate) number: Option<u64>,
    /// Its size on links.
    pub(crate) size: u32,
}

/// Several packets that a link sees as one, in the order in which they were sent.
#[derive(Default)]
pub(crate) struct Bundle {
    pub(crate) parts: Vec<Part>,
}

/// Bundles that have been unpacked, for the next ones.
#[allow(clippy::vec_box)] // payloads hold the boxes, which are what is kept
pub(crate) type Spare = Vec<Box<Bundle>>;

impl Bundle {
    /// Its first packet.
    pub(crate) fn first(&self) -> Option<&Payload> {
        self.parts.first().map(|part| &part.payload)
    }

    /// UDP payload of its packets in bytes.
    #[inline(never)] // so that the size of a packet is read in place
    pub(crate) fn size(&self) -> u32 {
        self.parts.iter().map(|part| part.payload.size()).sum()
    }
}

/// The hosts of a connection, which are alike.
pub(crate) struct Hosts {
    host: Host,
    inboxes: [Inbox; 2],
}

/// What waits to be read.
#[derive(Default)]
struct Inbox {
    /// When it is read, while there is something.
    due: Option<Instant>,
    parts: Vec<Part>,
}

impl Hosts {
    /// None if they read at once, send each packet by itself, and have exact timers.
    pub(crate) fn new(host: Host) -> Option<Box<Self>> {
        let waits = matches!(host.reading, Reading::Within(_));
        let differs = waits || host.bundle != BundleSize::Single || !host.timer.is_zero();
        differs.then(|| {
            Box::new(Hosts {
                host,
                inboxes: Default::default(),
            })
        })
    }

    /// Whether they send several packets at once.
    pub(crate) fn bundles(&self) -> bool {
        self.host.bundle != BundleSize::Single
    }

    /// How long after the first arrival they read, if they wait.
    pub(crate) fn waits(&self) -> Option<Duration> {
        match self.host.reading {
            Reading::Within(wait) => Some(wait),
            Reading::Each | Reading::All => None,
        }
    }

    /// What arrives at one side is read at `due`, or when the rest is.
    pub(crate) fn keep(&mut self, side: Role, due: Instant, parts: impl Iterator<Item = Part>) {
        let inbox = &mut self.inboxes[side.index()];
        inbox.parts.extend(parts);
        inbox.due = Some(inbox.due.map_or(due, |before| before.min(due)));
    }

    /// What one side reads at `now` goes to `read`.
    pub(crate) fn take(&mut self, side: Role, now: Instant, read: &mut Vec<Part>) {
        let inbox = &mut self.inboxes[side.index()];
        if inbox.due.is_some_and(|due| due <= now) {
            inbox.due = None;
            read.append(&mut inbox.parts);
        }
    }

    /// When a timer fires of a connection that began at `start`.
    pub(crate) fn fires(&self, due: Instant, start: Instant) -> Instant {
        self.host.fires(due, start)
    }

    /// When one side is to be called whose endpoint asks for `due`.
    pub(crate) fn next(&self, side: Role, due: Instant, start: Instant) -> Instant {
        let fires = self.fires(due, start);
        let reads = self.inboxes[side.index()].due;
        reads.map_or(fires, |reads| reads.min(fires))
    }

    /// How many packets an endpoint sends at once.
    pub(crate) fn bundle_of(&self, endpoint: &Endpoint) -> usize {
        self.host.bundle.of(endpoint.control(), endpoint.path()) as usize
    }
}

impl Connection {
    /// One end, and the hosts.
    pub(crate) fn endpoint_and_hosts(&mut self, side: Role) -> (&mut Endpoint, Option<&mut Hosts>) {
        let endpoint = match side {
            Role::Client => &mut self.client,
            Role::Server => &mut self.server,
        };
        (endpoint, self.hosts.as_deref_mut())
    }

    /// When one end is to be called again.
    #[inline]
    pub(crate) fn next(&self, side: Role) -> Instant {
        let due = match side {
            Role::Client => self.client.next(),
            Role::Server => self.server.next(),
        };
        match &self.hosts {
            None => due,
            Some(hosts) => hosts.next(side, due, self.start),
        }
    }
}
