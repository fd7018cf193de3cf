//! The event loop of a server: receive, run connections, wait.

use super::Server;
use super::config::{ServeError, Served, Totals};
use super::connection::Connection;
use crate::peer::{Sender, Sending};
use crate::request::STOPPING;
use crate::udp::{Readiness, Received};
use noq_proto::{Endpoint, EndpointConfig};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use thalweg_units::Duration;

/// Longest time between two checks of the stop flag.
const ATTENTION: std::time::Duration = std::time::Duration::from_millis(50);
/// How long a stopping server waits for its CONNECTION_CLOSE to be sent.
const FAREWELL: std::time::Duration = std::time::Duration::from_millis(300);
/// Receive calls before connections are served.
const RECEPTIONS: usize = 4;

impl Server {
    /// Serves until `stop` is set, `duration` has passed, or, with `once`, the first request has ended. Reports
    /// every connection with a request at its end.
    ///
    /// # Errors
    /// If the socket fails.
    pub fn serve(
        &mut self,
        stop: &AtomicBool,
        duration: Option<Duration>,
        once: bool,
        on_served: &mut dyn FnMut(Served),
    ) -> Result<Totals, ServeError> {
        let template = self.template(&Sender::new(
            &self.config.controller,
            self.config.limits.idle,
            None,
        ));
        let stack = Endpoint::new(
            Arc::new(EndpointConfig::default()),
            Some(Arc::new(template)),
            true,
        );
        let mut serving = Serving {
            server: self,
            stack,
            clients: BTreeMap::new(),
            totals: Totals::default(),
            is_stopping: false,
            on_served,
        };
        let end = duration.map(|duration| Instant::now() + std::time::Duration::from(duration));
        let mut buffer = Vec::with_capacity(1 << 16);
        loop {
            let now = Instant::now();
            // Checked before the socket: datagrams that arrived before the stop are still processed.
            let is_stopped = stop.load(Ordering::Relaxed);
            serving.receive(now, &mut buffer)?;
            serving.turn(Instant::now(), &mut buffer);
            let is_enough = once && serving.totals.completed + serving.totals.failed > 0;
            if is_stopped || end.is_some_and(|end| now >= end) || is_enough {
                break;
            }
            serving.wait(end)?;
        }
        serving.say_farewell(&mut buffer)?;
        Ok(serving.totals)
    }
}

pub(super) struct Serving<'a> {
    pub(super) server: &'a mut Server,
    pub(super) stack: Endpoint,
    pub(super) clients: BTreeMap<usize, Connection>,
    pub(super) totals: Totals,
    pub(super) is_stopping: bool,
    pub(super) on_served: &'a mut dyn FnMut(Served),
}

impl Serving<'_> {
    pub(super) fn receive(&mut self, now: Instant, buffer: &mut Vec<u8>) -> io::Result<()> {
        for _ in 0..RECEPTIONS {
            let mut trains: Vec<Received> = Vec::new();
            match self.server.udp.receive(|train| trains.push(train)) {
                Ok(0) => break,
                Ok(_) => {}
                // A client has gone (ICMP); its connection will time out.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => continue,
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => continue,
                Err(error) => return Err(error),
            }
            for mut train in trains {
                while !train.data.is_empty() {
                    let length = train.stride.min(train.data.len());
                    let datagram = train.data.split_to(length);
                    self.take_in(now, &train, datagram, buffer);
                }
            }
        }
        Ok(())
    }

    /// Runs every connection that has something to do.
    pub(super) fn turn(&mut self, now: Instant, buffer: &mut Vec<u8>) {
        let patience = self.server.config.limits.patience;
        let mut gone = Vec::new();
        for (handle, client) in &mut self.clients {
            if client
                .peer
                .connection
                .poll_timeout()
                .is_some_and(|at| at <= now)
            {
                client.peer.connection.handle_timeout(now);
                client.is_awake = true;
            }
            client.is_awake |= client.deadline.is_some_and(|at| at <= now)
                || client.service.next().is_some_and(|at| at <= now);
            if !client.is_awake && client.sending == Sending::Done {
                continue;
            }
            client.is_awake = false;
            let is_drained = client.act(now, patience, &self.server.udp, &mut self.stack, buffer);
            if client.is_over() && !client.is_told {
                client.is_told = true;
                match client.result(now) {
                    Some(served) => {
                        let counter = match served.error {
                            None => &mut self.totals.completed,
                            Some(_) => &mut self.totals.failed,
                        };
                        *counter += 1;
                        (self.on_served)(served);
                    }
                    None => self.totals.abandoned += 1,
                }
            }
            if is_drained {
                gone.push(*handle);
            }
        }
        for handle in gone {
            self.clients.remove(&handle);
        }
    }

    pub(super) fn wait(&self, end: Option<Instant>) -> io::Result<()> {
        let now = Instant::now();
        let mut next = now + ATTENTION;
        let mut readiness = Readiness::Readable;
        for client in self.clients.values() {
            match client.sending {
                Sending::More => return Ok(()),
                Sending::Full => readiness = Readiness::ReadableOrWritable,
                Sending::Done => {}
            }
            let times = [
                client.peer.connection.poll_timeout(),
                client.deadline,
                client.service.next(),
                end,
            ];
            next = times.into_iter().flatten().fold(next, Instant::min);
        }
        let patience = next.saturating_duration_since(now);
        self.server.udp.wait(readiness, patience)
    }

    /// Closes all connections, and waits briefly until the clients are informed.
    pub(super) fn say_farewell(&mut self, buffer: &mut Vec<u8>) -> Result<(), ServeError> {
        self.is_stopping = true;
        let now = Instant::now();
        for client in self.clients.values_mut() {
            if !client.is_over() {
                client.error = Some("the server was stopped".to_owned());
                let reason = bytes::Bytes::from_static(b"the server was stopped");
                client.peer.connection.close(now, STOPPING, reason);
                client.is_awake = true;
            }
        }
        let end = now + FAREWELL;
        self.turn(now, buffer);
        while Instant::now() < end && !self.clients.is_empty() {
            self.receive(Instant::now(), buffer)?;
            self.turn(Instant::now(), buffer);
            self.wait(Some(end))?;
        }
        Ok(())
    }
}
