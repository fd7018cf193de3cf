//! Carrying out a request: hosts, emulator, and what happens on the path.

use crate::emulator::{Emulator, Setup, Side};
use crate::host::{self, Host};
use crate::report::{BOUND, Report, Scheduling};
use crate::request::{Answer, HostAnswer, Request, Task};
use crate::sys::clock::Clock;
use crate::sys::process::{self, Pid, Status};
use crate::sys::signals::{self, Signals};
use crate::sys::{namespace, scheduler};
use crate::trial;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::ops::{ControlFlow, Range};
use std::os::unix::ffi::OsStringExt;
use thalweg_sim::Scenario;
use thalweg_units::Duration;

/// What the emulator waits for besides packets.
const SIGNALS: u32 = 0;

/// Reads a request from one descriptor and answers on another. The process must have a single thread; it is
/// in namespaces of its own afterwards and should end.
///
/// # Errors
/// If the descriptors cannot be read and written. What is wrong with the request is an answer.
pub fn serve(request: i32, answer: i32) -> io::Result<()> {
    let (mut request_file, mut answer) =
        (process::inherited(request)?, process::inherited(answer)?);
    let mut text = String::new();
    request_file.read_to_string(&mut text)?;
    let mut say = |line: &Answer| -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        answer.write_all(&text)
    };
    let request: Request = serde_json::from_str(&text)?;
    let last = play(&request, &mut say).unwrap_or_else(Answer::Error);
    say(&last)
}

type Say<'a> = dyn FnMut(&Answer) -> io::Result<()> + 'a;

fn play(request: &Request, say: &mut Say<'_>) -> Result<Answer, String> {
    if let Task::Trial { trace } = request.task {
        return trial::play(request, trace);
    }
    let text = request.scenario.as_bytes();
    let scenario =
        Scenario::from_toml(text, &request.origin, &[], &[]).map_err(|e| e.to_string())?;
    match &request.task {
        Task::Shell { command, peer } => {
            let mut stage = Stage::new(request, &scenario, [1, 1], 0..0, None)?;
            let status = shell(&mut stage, command, peer.as_deref()).map_err(|e| e.to_string())?;
            let report = stage.report([0, 0]);
            Ok(Answer::Ended { status, report })
        }
        Task::Rig { left, right } => {
            let counts = [*left, *right];
            if counts.iter().any(|count| !(1..=host::MOST).contains(count)) {
                return Err(format!("accepted: 1 to {} hosts on each side", host::MOST));
            }
            let mut stage = Stage::new(request, &scenario, counts, 0..0, None)?;
            rig(&mut stage, say).map_err(|e| e.to_string())?;
            let report = stage.report([0, 0]);
            Ok(Answer::Ended { status: 0, report })
        }
        Task::Trial { .. } => Err("a trial is played elsewhere".into()),
    }
}

/// Hosts, and the path between them.
pub(crate) struct Stage {
    pub(crate) hosts: Vec<Host>,
    pub(crate) emulator: Emulator,
    pub(crate) signals: Signals,
    bound: Duration,
    scheduling: Scheduling,
    in_user_namespace: bool,
}

impl Stage {
    /// Makes the hosts, left and right, and an emulator whose time begins now.
    pub(crate) fn new(
        request: &Request,
        scenario: &Scenario,
        hosts: [u8; 2],
        flows: Range<u16>,
        sample: Option<Duration>,
    ) -> Result<Stage, String> {
        let links = scenario.path().ok_or_else(|| {
            let origin = &request.origin;
            format!("{origin}: in real time a path has one hop; accepted: a [path], or a single [[link]]")
        })?;
        let bound = match &request.bound {
            Some(text) => text.parse().map_err(|error| format!("the bound {error}"))?,
            None => BOUND,
        };
        let in_user_namespace = !namespace::is_root();
        host::take_rights()?;
        // Only now: new rights would take it back.
        process::die_with_parent().map_err(|error| error.to_string())?;
        if process::parent() != request.parent {
            return Err("whoever asked is gone".into());
        }
        let told = [
            libc::SIGCHLD,
            libc::SIGINT,
            libc::SIGQUIT,
            libc::SIGTERM,
            libc::SIGHUP,
        ];
        let signals = Signals::hold(&told).map_err(|error| error.to_string())?;
        let mut made = Vec::new();
        let mut ports = Vec::new();
        for (side, count) in [Side::Left, Side::Right].into_iter().zip(hosts) {
            for number in 1..=count {
                let (host, port) = Host::new(side, number)?;
                made.push(host);
                ports.push(port);
            }
        }
        let setup = Setup {
            links,
            seeds: scenario.path_seeds(request.seed),
            bound,
            flows,
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

    /// The first host of a side.
    pub(crate) fn first(&self, side: Side) -> Option<&Host> {
        self.hosts.iter().find(|host| host.side == side)
    }

    /// What the run has to say of itself. `dropped` are packets that the hosts dropped elsewhere than in their
    /// devices, down and up.
    pub(crate) fn report(&self, mut dropped: [u64; 2]) -> Report {
        for host in &self.hosts {
            let [sent, received] = host.dropped();
            dropped[host.side.outbound()] += sent;
            dropped[1 - host.side.outbound()] += received;
        }
        Report::of(&self.emulator, self.bound, &self.scheduling, dropped)
    }

    /// Carries packets until the process ends, or until this one is told to end.
    pub(crate) fn run_until_ended(&mut self, pid: Pid) -> io::Result<Status> {
        let signals = &self.signals;
        self.emulator.run(|_| {
            while let Some(signal) = signals.next() {
                if matches!(signal, libc::SIGTERM | libc::SIGHUP) {
                    process::kill(pid);
                    return Ok(ControlFlow::Break(128 + signal as Status));
                }
            }
            // Ctrl-C is for the command: it has it from the terminal. Its end is what counts here.
            Ok(match process::ended(pid)? {
                Some(status) => ControlFlow::Break(status),
                None => ControlFlow::Continue(()),
            })
        })
    }
}

/// Runs a command on the left host, and perhaps another on the right.
fn shell(stage: &mut Stage, command: &[Vec<u8>], peer: Option<&[Vec<u8>]>) -> io::Result<Status> {
    let words = |words: &[Vec<u8>]| -> Vec<OsString> {
        words.iter().cloned().map(OsString::from_vec).collect()
    };
    let missing = || io::Error::other("there is no host");
    let left = stage.first(Side::Left).ok_or_else(missing)?;
    let right = stage.first(Side::Right).ok_or_else(missing)?;
    let peer = match peer {
        Some(peer) => Some(right.start_command(&words(peer), &variables(right, left))?),
        None => None,
    };
    let command = left.start_command(&words(command), &variables(left, right))?;
    let status = stage.run_until_ended(command)?;
    if let Some(peer) = peer {
        process::kill(peer);
        process::wait_for(peer)?;
    }
    Ok(status)
}

/// What a command is told of its host and of the host at the other end.
fn variables(own: &Host, other: &Host) -> Vec<(String, String)> {
    let mut variables = vec![
        ("THALWEG_ADDRESS".to_owned(), own.v4.to_string()),
        ("THALWEG_PEER".to_owned(), other.v4.to_string()),
    ];
    if own.has_v6 && other.has_v6 {
        variables.push(("THALWEG_ADDRESS6".to_owned(), own.v6.to_string()));
        variables.push(("THALWEG_PEER6".to_owned(), other.v6.to_string()));
    }
    variables
}

/// Holds the hosts until told to stop.
fn rig(stage: &mut Stage, say: &mut Say<'_>) -> io::Result<()> {
    let mut processes = Vec::new();
    let mut hosts = Vec::new();
    let mut numbers = [0; 2];
    for host in &stage.hosts {
        let process = host.start(|| signals::sleep_until_killed())?;
        processes.push(process);
        let number = &mut numbers[host.side.outbound()];
        *number += 1;
        hosts.push(HostAnswer {
            side: match host.side {
                Side::Left => "left",
                Side::Right => "right",
            },
            number: *number,
            address: host.v4.to_string(),
            address6: host.has_v6.then(|| host.v6.to_string()),
            process,
            in_user_namespace: stage.in_user_namespace,
        });
    }
    say(&Answer::Hosts(hosts))?;
    let signals = &stage.signals;
    stage.emulator.run(|_| {
        while let Some(signal) = signals.next() {
            if signal != libc::SIGCHLD {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    for process in processes {
        process::kill(process);
        process::wait_for(process)?;
    }
    Ok(())
}
