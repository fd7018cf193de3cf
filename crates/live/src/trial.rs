//! One trial of a scenario with the kernel's TCP and the QUIC stack: outcomes and a trace as of the simulator.

use crate::emulator::Side;
use crate::emulator::series::Binned;
use crate::explain::Explain;
use crate::outcome::{Ended, data_link};
use crate::request::{Answer, Request};
use crate::scenario::flows_from_toml;
use crate::stage::Stage;
use crate::sys::clock::Clock;
use crate::sys::process::{self, Child};
use crate::traffic::FlowTrace;
use crate::traffic::{self, Drive, FlowPlan, TrafficResult};
use std::io::{self, Read, Seek, Write};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use thalweg_control::Registry;
use thalweg_units::{Duration, Instant};

/// Sampling period of the links in a trace.
const SAMPLE: Duration = Duration::from_millis(5);

/// Runs a trial.
pub(crate) fn run(
    request: &Request,
    trace: bool,
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
    let ports = traffic::FIRST_PORT..traffic::FIRST_PORT + count as u16;
    let sample = trace.then_some(SAMPLE);
    let mut stage = Stage::new(request, scenario, [1, 1], ports, sample)?;
    let limit = scenario.time_limit();
    if let Some(every) = scenario.sample() {
        let flows = plans.iter().enumerate();
        let connections = flows.flat_map(|(index, plan)| {
            let own = plan.transfers.iter();
            own.map(move |(_, transfer)| (index, data_link(transfer)))
        });
        let series = Binned::new(every, limit, plans.len(), connections.collect());
        stage.emulator.record_series(series);
    }
    let asked = Drive {
        scenario,
        plans: &plans,
        seed: request.seed,
        limit,
        record: trace,
    };
    let result = drive(&mut stage, &asked, explain, say)?;
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
        result,
    };
    let failure = ended.failure();
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
        let ends = [stage.first(Side::Left), stage.first(Side::Right)];
        let [Some(left), Some(right)] = ends else {
            return Err("there are no hosts".into());
        };
        let answer = &mut answer;
        process::spawn(Child::Plain, move || {
            let driven = catch_unwind(AssertUnwindSafe(|| {
                traffic::drive(asked, [left, right], |clock| {
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
    // A process that could not start has ended, and its answer says why.
    if heard.read_exact(&mut at).is_ok() {
        let at = Duration::from_nanos(u64::from_ne_bytes(at));
        stage.emulator.start_anew(Clock::started_at(at));
    }
    let end = stage.run(say, |signal| {
        Ok(match signal {
            Some(libc::SIGCHLD) => ControlFlow::Continue(()),
            Some(_) => {
                process::kill(traffic);
                ControlFlow::Break(None)
            }
            None => match process::ended(traffic)? {
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
