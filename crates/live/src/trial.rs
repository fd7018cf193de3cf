//! One trial of a scenario with the kernel's TCP and the QUIC stack: outcomes and a trace in the columns of the simulator.

use crate::emulator::Side;
use crate::outcome::{Ended, data_link};
use crate::play::Stage;
use crate::request::{Answer, Request};
use crate::scenario::LiveScenario;
use crate::series::Binned;
use crate::sys::process::{self, Child};
use crate::traffic::{self, Drive, FlowPlan, TrafficResult};
use std::io::{self, Read, Seek, Write};
use std::ops::ControlFlow;
use thalweg_units::Duration;

/// How often the links are looked at for a trace.
const SAMPLE: Duration = Duration::from_millis(5);

/// Plays a trial.
pub(crate) fn play(request: &Request, trace: bool) -> Result<Answer, String> {
    let text = request.scenario.as_bytes();
    let live = LiveScenario::from_toml(text, &request.origin, &[], &[]);
    let live = live.map_err(|error| error.to_string())?;
    let scenario = &live.scenario;
    let plans: Vec<FlowPlan> = (scenario.flows.iter().enumerate())
        .zip(&live.carriers)
        .map(|((index, flow), carrier)| FlowPlan {
            transfers: flow.transfers(request.seed),
            carrier: carrier.clone(),
            awaited: scenario.is_awaited(index),
        })
        .collect();
    let count: usize = plans.iter().map(|plan| plan.transfers.len()).sum();
    if plans.len() > traffic::MOST_FLOWS || count > traffic::MOST_CONNECTIONS {
        return Err(format!(
            "{}: {count} connections; accepted: {} at most in real time, one port each",
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
        live: &live,
        plans: &plans,
        seed: request.seed,
        clock: stage.emulator.clock(),
        limit,
        record: trace,
    };
    let result = run(&mut stage, &asked)?;
    let host_dropped = result.host_dropped;
    let ended = Ended {
        live: &live,
        plans: &plans,
        links: scenario.path().ok_or("the path has several hops")?,
        result,
    };
    let outcome = Box::new(ended.outcome(&mut stage.emulator));
    let report = stage.report(host_dropped);
    Ok(Answer::Trial { outcome, report })
}

/// Drives the flows from a process of its own, and carries their packets meanwhile.
fn run(stage: &mut Stage, asked: &Drive<'_>) -> Result<TrafficResult, String> {
    let text = |error: io::Error| error.to_string();
    let mut answer = process::memory_file("traffic").map_err(text)?;
    let traffic = {
        let ends = [stage.first(Side::Left), stage.first(Side::Right)];
        let [Some(left), Some(right)] = ends else {
            return Err("there are no hosts".into());
        };
        process::spawn(Child::Plain, || {
            let result = traffic::drive(asked, [left, right]);
            let written = serde_json::to_vec(&result)
                .map_err(io::Error::other)
                .and_then(|text| answer.write_all(&text));
            u8::from(written.is_err())
        })
        .map_err(text)?
    };
    let signals = &stage.signals;
    let end = stage.emulator.run(|_| {
        while let Some(signal) = signals.next() {
            if signal != libc::SIGCHLD {
                process::kill(traffic);
                return Ok(ControlFlow::Break(None));
            }
        }
        Ok(match process::ended(traffic)? {
            Some(status) => ControlFlow::Break(Some(status)),
            None => ControlFlow::Continue(()),
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
        Some(status) => Err(format!("the traffic ended with status {status}")),
    }
}
