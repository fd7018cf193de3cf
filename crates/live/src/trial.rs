//! One trial of a scenario with the kernel's TCP and the QUIC stack: outcomes and a trace as of the simulator.

use crate::emulator::capture::Capture;
use crate::emulator::outside::Outside;
use crate::emulator::programs::{CONNECTIONS, Programs};
use crate::emulator::series::Binned;
use crate::emulator::{DataLinks, Side};
use crate::explain::Explain;
use crate::host::MOST;
use crate::outcome::Ended;
use crate::request::{Answer, Request};
use crate::scenario::flows_from_toml;
use crate::stage::Stage;
use crate::sys::clock::Clock;
use crate::sys::process::{self, Child};
use crate::traffic::FlowTrace;
use crate::traffic::{self, AllHosts, Drive, FlowPlan, TrafficResult};
use std::io::{self, Read, Seek, Write};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use thalweg_control::Registry;
use thalweg_units::{Duration, Instant};

/// Sampling period of the links in a trace.
const SAMPLE: Duration = Duration::from_millis(5);

/// How often a signal is looked for while servers get ready: less than a person notices.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(20);

/// What a trial is asked to record.
pub(crate) struct Asked<'a> {
    /// Whether to record time series.
    pub(crate) trace: bool,
    /// A folder for what programs say.
    pub(crate) logs: Option<&'a Path>,
    /// A file for the packets.
    pub(crate) capture: Option<&'a Path>,
}

/// Runs a trial.
pub(crate) fn run(
    request: &Request,
    asked: &Asked<'_>,
    registry: &Registry,
    explain: Explain<'_>,
    say: &mut dyn FnMut(&Answer) -> io::Result<()>,
) -> Result<Answer, String> {
    let text = request.scenario.as_bytes();
    let scenario = flows_from_toml(text, &request.origin, &[], &[], registry);
    let scenario = &scenario.map_err(|error| error.to_string())?;
    let plans: Vec<FlowPlan> = (scenario.flows.iter().enumerate())
        .map(|(index, flow)| FlowPlan {
            transfers: flow.transfers(request.seed),
            awaited: scenario.is_awaited(index),
        })
        .collect();
    let count: usize = plans.iter().map(|plan| plan.transfers.len()).sum();
    if plans.len() > traffic::MOST_FLOWS || count > traffic::MOST_CONNECTIONS {
        return Err(format!(
            "{}: {count} connections; accepted: at most {} in real time, one port each",
            request.origin,
            traffic::MOST_CONNECTIONS
        ));
    }
    let programs: Vec<usize> = (scenario.flows.iter().enumerate())
        .filter_map(|(index, flow)| flow.command.is_some().then_some(index))
        .collect();
    if programs.len() >= usize::from(MOST) {
        return Err(format!(
            "{}: {} flows with [flow.command]; accepted: at most {}",
            request.origin,
            programs.len(),
            MOST - 1
        ));
    }
    let ports = traffic::FIRST_PORT..traffic::FIRST_PORT + count as u16;
    let sample = asked.trace.then_some(SAMPLE);
    let hosts = [1 + programs.len() as u8; 2];
    let of_programs = CONNECTIONS * programs.len();
    let mut stage = Stage::new(request, scenario, hosts, ports, of_programs, sample)?;
    // Each connection with its flow and the links of its data; after them the connections of programs.
    let data = |flow: usize| (flow, scenario.flows[flow].data_links());
    let flows = plans.iter().enumerate();
    let planned = flows.flat_map(|(flow, plan)| plan.transfers.iter().map(move |_| data(flow)));
    let mut told_apart: Vec<(usize, DataLinks)> = planned.collect();
    for flow in &programs {
        told_apart.extend([data(*flow); CONNECTIONS]);
    }
    stage.emulator.count_waits(&told_apart);
    if !programs.is_empty() {
        let numbers = Programs::new(programs.len(), count);
        let outside = Outside::new(plans.len(), told_apart.clone());
        stage.emulator.programs = Some(numbers);
        stage.emulator.observers.outside = Some(outside);
    }
    if let Some(file) = asked.capture {
        let created = Capture::new(file);
        let created = created.map_err(|error| format!("{}: {error}", file.display()))?;
        stage.emulator.observers.capture = Some(created);
    }
    let limit = scenario.time_limit();
    if let Some(every) = scenario.sample() {
        let series = Binned::new(every, limit, plans.len(), told_apart.clone());
        stage.emulator.observers.series = Some(series);
    }
    let driven = Drive {
        scenario,
        plans: &plans,
        seed: request.seed,
        limit,
        record: asked.trace,
        logs: asked.logs,
    };
    let result = drive(&mut stage, &driven, explain, say)?;
    let capture = stage.emulator.observers.capture.take();
    let written = capture.map_or(Ok(()), Capture::end);
    written.map_err(|error| error.to_string())?;
    let mut report = stage.report(result.host_dropped);
    let connections = result.connections.iter();
    let begun = connections.filter(|connection| connection.start.is_some());
    let late = begun.map(|connection| connection.start_lateness);
    report.note_starts(late);
    report.trace_cut = result.trace.as_ref().and_then(FlowTrace::cut);
    let ended = Ended {
        scenario,
        seed: request.seed,
        plans: &plans,
        links: scenario.path().ok_or("the path has several hops")?,
        flow_of: told_apart.iter().map(|(flow, _)| *flow).collect(),
        result,
    };
    let failure = ended.failure(stage.emulator.observers.outside.as_ref());
    let has_failed = failure.is_some();
    let answer = Answer::Trial { report, failure };
    if has_failed {
        return Ok(answer);
    }
    say(&answer).map_err(|error| error.to_string())?;
    let measured = ended.measured(&mut stage.emulator);
    Ok(Answer::Measured(Box::new(measured)))
}

/// Drives the flows in another process, and forwards their packets by the clock that it starts.
fn drive(
    stage: &mut Stage,
    asked: &Drive<'_>,
    explain: Explain<'_>,
    say: &mut dyn FnMut(&Answer) -> io::Result<()>,
) -> Result<TrafficResult, String> {
    let text = |error: io::Error| error.to_string();
    let mut answer = process::memory_file("traffic").map_err(text)?;
    let (mut heard, mut start) = process::pipe().map_err(text)?;
    let traffic = {
        let mut pairs = stage.side(Side::Left).zip(stage.side(Side::Right));
        let Some((left, right)) = pairs.next() else {
            return Err("there are no hosts".into());
        };
        let hosts = AllHosts {
            shared: [left, right],
            of_programs: pairs.map(|(left, right)| [left, right]).collect(),
        };
        let answer = &mut answer;
        process::spawn(Child::Plain, move || {
            let driven = catch_unwind(AssertUnwindSafe(|| {
                traffic::drive(asked, &hosts, |clock| {
                    let at = clock.absolute(Instant::START).as_nanos();
                    start.write_all(&at.to_ne_bytes())
                })
            }));
            let result = driven.unwrap_or_else(|payload| {
                Err(explain(payload, asked.seed).unwrap_or_else(|other| resume_unwind(other)))
            });
            let written = serde_json::to_vec(&result)
                .map_err(io::Error::other)
                .and_then(|text| answer.write_all(&text));
            u8::from(written.is_err())
        })
        .map_err(text)?
    };
    let mut at = [0; 8];
    // Servers get ready meanwhile, which may take long.
    while !process::is_readable(&heard, PATIENCE).map_err(text)? {
        while let Some(signal) = stage.signals.next() {
            if !matches!(signal, libc::SIGCHLD | libc::SIGUSR1) {
                process::kill(traffic.pid);
                process::wait_for(traffic.pid).map_err(text)?;
                return Err("interrupted".into());
            }
        }
    }
    // A process that could not start has ended, and its answer says why.
    if heard.read_exact(&mut at).is_ok() {
        let at = Duration::from_nanos(u64::from_ne_bytes(at));
        stage.emulator.start_anew(Clock::started_at(at));
    }
    let end = stage.run(say, |signal| {
        Ok(match signal {
            Some(libc::SIGCHLD) => ControlFlow::Continue(()),
            Some(_) => {
                process::kill(traffic.pid);
                ControlFlow::Break(None)
            }
            None => match process::ended(traffic.pid)? {
                Some(status) => ControlFlow::Break(Some(status)),
                None => ControlFlow::Continue(()),
            },
        })
    });
    match end.map_err(text)? {
        None => Err("interrupted".into()),
        Some(0) => {
            let mut text_of = String::new();
            answer.rewind().map_err(text)?;
            answer.read_to_string(&mut text_of).map_err(text)?;
            serde_json::from_str::<Result<TrafficResult, String>>(&text_of)
                .map_err(|error| error.to_string())?
        }
        Some(status) => Err(format!("the traffic process ended with status {status}")),
    }
}
