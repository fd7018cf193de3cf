//! Setting up: hosts, and the path between them.

use crate::emulator::{Emulator, Setup, Side, burst};
use crate::host::{self, Host};
use crate::report::{BOUND, Report, Scheduling};
use crate::request::{Answer, Request};
use crate::sys::clock::Clock;
use crate::sys::process;
use crate::sys::signals::Signals;
use crate::sys::{namespace, scheduler};
use std::io;
use std::ops::{ControlFlow, Range};
use thalweg_sim::Scenario;
use thalweg_units::Duration;

/// What the emulator waits for in addition to packets.
const SIGNALS: u32 = 0;

/// Hosts, and the path between them.
pub(crate) struct Stage {
    pub(crate) hosts: Vec<Host>,
    pub(crate) emulator: Emulator,
    pub(crate) signals: Signals,
    bound: Duration,
    scheduling: Scheduling,
    pub(crate) in_user_namespace: bool,
}

impl Stage {
    /// Creates the hosts, left and right, and an emulator that distinguishes flows by their ports, and `of_programs`
    /// connections more. Its time starts now.
    pub(crate) fn new(
        request: &Request,
        scenario: &Scenario,
        hosts: [u8; 2],
        flows: Range<u16>,
        of_programs: usize,
        sample: Option<Duration>,
    ) -> Result<Stage, String> {
        let links = scenario.path().ok_or_else(|| {
            let origin = &request.origin;
            format!(
                "{origin}: real time requires a path with one hop: a [path], or a single [[link]]"
            )
        })?;
        let bound = match &request.bound {
            Some(text) => text.parse().map_err(|error| format!("the bound {error}"))?,
            None => BOUND,
        };
        let in_user_namespace = !namespace::is_root();
        host::take_rights()?;
        // Last, because a change of credentials clears it.
        process::die_with_parent().map_err(|error| error.to_string())?;
        if process::parent() != request.parent {
            return Err("the requesting process has ended".into());
        }
        let told = [
            libc::SIGCHLD,
            libc::SIGINT,
            libc::SIGQUIT,
            libc::SIGTERM,
            libc::SIGHUP,
            libc::SIGUSR1,
        ];
        let signals = Signals::hold(&told).map_err(|error| error.to_string())?;
        let mut made = Vec::new();
        let mut ports = Vec::new();
        for (side, count) in [Side::Left, Side::Right].into_iter().zip(hosts) {
            for number in 1..=count {
                let burst = burst::largest(links[side.outbound()]);
                let (host, port) = Host::new(side, number, burst)?;
                made.push(host);
                ports.push(port);
            }
        }
        let setup = Setup {
            links,
            seeds: scenario.path_seeds(request.seed),
            bound,
            flows,
            of_programs,
            sample,
        };
        let emulator = Emulator::new(Clock::start(), &setup, ports).map_err(|e| e.to_string())?;
        emulator
            .also_wait_for(&signals, SIGNALS)
            .map_err(|error| error.to_string())?;
        let mut scheduling = Scheduling::default();
        if request.realtime {
            match scheduler::become_realtime() {
                Ok(()) => scheduling.realtime = true,
                Err(error) => scheduling.refused = Some(error.to_string()),
            }
        }
        scheduler::be_punctual();
        scheduling.waited = scheduler::waited_for_core();
        Ok(Stage {
            hosts: made,
            emulator,
            signals,
            bound,
            scheduling,
            in_user_namespace,
        })
    }

    /// The same without flows to distinguish.
    pub(crate) fn of_hosts(
        request: &Request,
        scenario: &Scenario,
        hosts: [u8; 2],
    ) -> Result<Stage, String> {
        Stage::new(request, scenario, hosts, 0..0, 0, None)
    }

    /// The first host of a side.
    pub(crate) fn first(&self, side: Side) -> Option<&Host> {
        self.hosts.iter().find(|host| host.side == side)
    }

    /// Hosts of a side, in their order.
    pub(crate) fn side(&self, side: Side) -> impl Iterator<Item = &Host> {
        self.hosts.iter().filter(move |host| host.side == side)
    }

    /// The report of the run. `dropped` are packets that the hosts dropped outside their devices, down and up.
    pub(crate) fn report(&self, mut dropped: [u64; 2]) -> Report {
        for host in &self.hosts {
            let [sent, received] = host.dropped();
            dropped[host.side.outbound()] += sent;
            dropped[1 - host.side.outbound()] += received;
        }
        Report::of(&self.emulator, self.bound, &self.scheduling, dropped)
    }

    /// Forwards packets until `hear` says to stop: it gets each signal, or `None` after any other event.
    /// SIGUSR1 requests the state of the run.
    pub(crate) fn run<T>(
        &mut self,
        say: &mut dyn FnMut(&Answer) -> io::Result<()>,
        mut hear: impl FnMut(Option<i32>) -> io::Result<ControlFlow<T>>,
    ) -> io::Result<T> {
        // What ended before has sent its signal before.
        if let ControlFlow::Break(end) = hear(None)? {
            return Ok(end);
        }
        loop {
            let signals = &self.signals;
            let end = self.emulator.run(|_| {
                let mut asked = false;
                while let Some(signal) = signals.next() {
                    if signal == libc::SIGUSR1 {
                        asked = true;
                    } else if let ControlFlow::Break(end) = hear(Some(signal))? {
                        return Ok(ControlFlow::Break(Some(end)));
                    }
                }
                Ok(match hear(None)? {
                    ControlFlow::Break(end) => ControlFlow::Break(Some(end)),
                    ControlFlow::Continue(()) if asked => ControlFlow::Break(None),
                    ControlFlow::Continue(()) => ControlFlow::Continue(()),
                })
            })?;
            match end {
                Some(end) => return Ok(end),
                None => say(&Answer::Statistics(self.report([0, 0])))?,
            }
        }
    }
}
