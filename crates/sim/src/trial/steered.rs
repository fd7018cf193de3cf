//! Trials that flows are steered in from outside: the trial stops where a flow is to decide, and goes on with the decision.
//!
//! # Model
//! A steered flow reports what happened ([`Report`]) as often as asked, after the ACK or timeout that makes the report
//! due, as a controller with reports does. The event loop then pauses before the endpoint sends anything, and
//! [`SteeredTrial::decide`] applies the decision as if it had been made within that event. A controller that makes the
//! same decisions from the same reports therefore has the same trial, to the last event. The other end of the connection
//! sends no data and keeps its initial window ([`Fixed`]).
//!
//! # Limits
//! Flows of one connection, which one end sends, between modelled endpoints. Steered trials have no trace and no auditor.

use crate::outcome::trace::Record;
use crate::scenario::Workload;
use crate::scenario::library::FlowStack;
use crate::trial::network::{Network, Progressed};
use crate::{FlowController, FlowSpec, Outcome, Scenario};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thalweg_control::event::{Ack, Lost, RttSample, Sent, Timeout};
use thalweg_control::report::{Every, Report, Reporter};
use thalweg_control::{
    Context, Control, Controller, ControllerSpec, Factory, Fixed, Init, Observer, PathState,
};
use thalweg_transport::{Bundle, Reading, Role};
use thalweg_units::{Ecn, Instant};

/// A trial with flows that are steered from outside.
///
/// ```
/// use thalweg_control::report::Every;
/// use thalweg_sim::{Scenario, SteeredTrial, Stop};
/// use thalweg_units::Bytes;
///
/// let text = r#"
///     title = "A download"
///     [path]
///     rate = "20 Mbps"
///     rtt = "40 ms"
///     [[flow]]
///     name = "main"
///     controller = "cubic"
///     download = "1 MB"
/// "#;
/// let scenario = Scenario::from_toml(text.as_bytes(), "download.toml", &[], &[]).unwrap();
/// let mut trial = SteeredTrial::new(&scenario, 1, &[(0, Every::Rtts(1.0))]).unwrap();
/// let mut decisions = 0;
/// while let Stop::Asks(flow) = trial.advance(u64::MAX) {
///     let mut control = trial.control(flow);
///     control.window = Bytes::new(100_000); // the path and its queue hold 200 kB
///     trial.decide(control);
///     decisions += 1;
/// }
/// let outcome = trial.finish();
/// assert!(outcome.flows[0].completion.is_some() && decisions > 5);
/// ```
pub struct SteeredTrial {
    /// With the flows that are steered bound to their hands.
    scenario: Scenario,
    network: Network,
    flows: Vec<Steered>,
    /// The flow that is to decide.
    asks: Option<usize>,
}

/// Why a steered trial has stopped. Flows are numbered as they were given to [`SteeredTrial::new`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// This flow is to decide.
    Asks(usize),
    /// As many events as allowed have been handled.
    Unfinished,
    /// The trial is over.
    Ended,
}

/// A steered flow, as the trial sees it.
struct Steered {
    /// Its place in the scenario.
    flow: usize,
    connection: usize,
    /// The end that sends its data.
    sender: Role,
    desk: Arc<Mutex<Desk>>,
}

/// What a flow and its controller share.
struct Desk {
    reporter: Reporter,
    /// The report that waits for a decision.
    due: Option<Report>,
    control: Control,
}

impl Desk {
    fn ask(&mut self, cx: &Context<'_>) {
        if let Some(report) = self.reporter.due(cx) {
            self.due = Some(report);
        }
    }
}

fn open(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SteeredTrial {
    /// The trial of a scenario with a seed, at its start; `steered` are flows by their place in the scenario, and how often
    /// each decides.
    ///
    /// # Errors
    /// Which flow cannot be steered, and which can.
    pub fn new(scenario: &Scenario, seed: u64, steered: &[(usize, Every)]) -> Result<Self, String> {
        if scenario.hops.iter().any(|hop| !hop.tied.is_empty()) {
            let problem = "a change of the path that follows a state cannot be combined with decisions from outside";
            return Err(problem.to_owned());
        }
        let keeps_whole = scenario.hops.iter().any(|hop| !hop.splits);
        let mut scenario = scenario.clone();
        let mut desks = Vec::with_capacity(steered.len());
        for &(flow, every) in steered {
            let Some(spec) = scenario.flows.get_mut(flow) else {
                return Err(format!("the scenario has no flow number {flow}"));
            };
            refuse_unsteerable(spec, keeps_whole)?;
            let init = Init {
                now: Instant::START,
                mtu: spec.transport.initial_mtu,
                initial_window: spec.transport.initial_window,
                media: None,
            };
            let desk = Arc::new(Mutex::new(Desk {
                reporter: Reporter::new(every),
                due: None,
                control: Fixed::new(&init).control(),
            }));
            let hands = Arc::new(Hands(Arc::clone(&desk)));
            let steered = ControllerSpec::new(spec.controller.as_str(), hands);
            spec.controller = FlowController::Registry(steered);
            desks.push((flow, desk));
        }
        let network = Network::new(&scenario, seed, Record::Nothing, &AtomicBool::new(false));
        let network = network.ok_or("the trial was stopped")?.steered();
        let flows = desks.into_iter().map(|(flow, desk)| Steered {
            flow,
            connection: network.connection_of(flow),
            sender: sender_of(&scenario.flows[flow]),
            desk,
        });
        Ok(SteeredTrial {
            flows: flows.collect(),
            scenario,
            network,
            asks: None,
        })
    }

    /// Goes on until a flow is to decide, for at most this many events. A flow that is to decide keeps the trial where it
    /// is until it has decided.
    pub fn advance(&mut self, events: u64) -> Stop {
        match self.network.advance(events, &AtomicBool::new(false)) {
            Ok(Progressed::Unfinished) => Stop::Unfinished,
            Ok(Progressed::Ended) => Stop::Ended,
            Err(_) => unreachable!("steered trials are neither stopped nor audited"),
            Ok(Progressed::Paused(connection)) => {
                let mut flows = self.flows.iter();
                let asks = flows.position(|flow| flow.connection == connection);
                self.asks = asks;
                asks.map_or(Stop::Ended, Stop::Asks)
            }
        }
    }

    /// The report that asks for a decision of this flow; otherwise what happened since the last one.
    pub fn report(&self, flow: usize) -> Report {
        let desk = open(&self.flows[flow].desk);
        let so_far = || desk.reporter.so_far(self.path(flow));
        desk.due.unwrap_or_else(so_far)
    }

    /// What the transport of this flow has measured.
    pub fn path(&self, flow: usize) -> &PathState {
        let Steered {
            connection, sender, ..
        } = self.flows[flow];
        self.network.path(connection, sender)
    }

    /// Simulated time.
    pub fn now(&self) -> Instant {
        self.network.now()
    }

    /// The decision in force.
    pub fn control(&self, flow: usize) -> Control {
        open(&self.flows[flow].desk).control
    }

    /// The decision of the flow that is to decide; nothing if none is.
    pub fn decide(&mut self, control: Control) {
        if let Some(flow) = self.asks.take() {
            let mut desk = open(&self.flows[flow].desk);
            desk.control = control;
            desk.due = None;
            drop(desk);
            self.network.resume();
        }
    }

    /// Whether the connection of this flow has closed.
    pub fn is_closed(&self, flow: usize) -> bool {
        self.network.is_closed(self.flows[flow].flow)
    }

    /// The outcome, once the trial has ended; before, the outcome of a trial which ends now.
    pub fn finish(self) -> Outcome {
        let finished = self.network.finish(&self.scenario, &AtomicBool::new(false));
        match finished {
            Some((outcome, _)) => outcome,
            None => unreachable!("nobody stops it"),
        }
    }
}

/// Refuses a flow that cannot be steered, on a path that `keeps_whole` the bundles of hosts or splits them.
fn refuse_unsteerable(spec: &FlowSpec, keeps_whole: bool) -> Result<(), String> {
    let refused = |what: &str| {
        let name = &spec.name;
        Err(format!(
            "flow {name} {what}; a policy requires a download, an upload, or a call whose media one end sends, with stack = \"model\", hosts that read at once, and splits = true where they bundle"
        ))
    };
    match (&spec.workload, &spec.stack) {
        (_, FlowStack::Quic) => {
            refused("runs on the QUIC stack, which does not wait for decisions")
        }
        (_, FlowStack::Library(_)) => {
            refused("runs on the stack of a library, which has controllers of its own")
        }
        (Workload::Requests(_), _) => refused("has a connection for each of its requests"),
        _ if matches!(spec.transport.host.reading, Reading::Within(_)) => {
            refused("has hosts that wait before they read")
        }
        _ if keeps_whole && spec.transport.host.bundle != Bundle::Single => {
            refused("has hosts that send in bundles, on a path with splits = false")
        }
        _ if spec.is_sent_by_both() => refused("is a call whose media both ends send"),
        _ => Ok(()),
    }
}

/// The only end that sends data of a flow.
fn sender_of(spec: &FlowSpec) -> Role {
    spec.workload.senders().next().unwrap_or(Role::Server)
}

/// Makes the controllers of a steered flow.
struct Hands(Arc<Mutex<Desk>>);

impl Factory for Hands {
    fn build(&self, _init: &Init) -> Box<dyn Controller> {
        Box::new(Hand(Arc::clone(&self.0)))
    }

    fn build_for_receiver(&self, init: &Init) -> Box<dyn Controller> {
        Box::new(Fixed::new(init))
    }
}

/// The controller of the sending end: it sums up events, and waits for decisions.
struct Hand(Arc<Mutex<Desk>>);

impl Controller for Hand {
    fn on_sent(&mut self, event: &Sent, cx: &mut Context<'_>) {
        open(&self.0).reporter.on_sent(event, cx.now);
    }

    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        let mut desk = open(&self.0);
        desk.reporter.on_ack(event, cx.now);
        desk.ask(cx);
    }

    fn on_lost(&mut self, event: &Lost, _cx: &mut Context<'_>) {
        open(&self.0).reporter.on_lost(event);
    }

    fn on_timeout(&mut self, _event: &Timeout, cx: &mut Context<'_>) {
        let mut desk = open(&self.0);
        desk.reporter.on_timeout();
        desk.ask(cx);
    }

    fn on_rtt(&mut self, event: &RttSample, _cx: &mut Context<'_>) {
        open(&self.0).reporter.on_rtt(event);
    }

    fn control(&self) -> Control {
        open(&self.0).control
    }

    fn is_undecided(&self) -> bool {
        open(&self.0).due.is_some()
    }

    /// Reports have marks.
    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn observe(&self, _out: &mut dyn Observer) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, run_trial};
    use proptest::prelude::*;
    use thalweg_control::{Registry, Resolver, SpecError};
    use thalweg_units::{Bytes, Rate};

    /// A decision out of a report: less after a loss or half a base RTT of queue, more otherwise.
    fn decided(report: &Report, path: &PathState, before: Control, paced: bool) -> Control {
        let queue = report.mean_rtt().unwrap_or(0.0) / path.min_rtt.as_secs_f64();
        let is_full = report.lost > Bytes::ZERO || report.timeouts > 0 || queue > 1.5;
        let window = match is_full {
            true => before.window.as_u64() * 7 / 10,
            false => before.window.as_u64() + report.delivered.as_u64() / 4,
        };
        let window = Bytes::new(window.max(2 * path.mtu.as_u64()));
        let rate = Rate::over(window, path.smoothed_rtt).mul_div(6, 5);
        Control {
            window,
            pacing: paced.then_some(rate),
            ..before
        }
    }

    /// The same decisions by a controller with reports.
    struct Within {
        reporter: Reporter,
        control: Control,
        paced: bool,
    }

    impl Within {
        fn report(&mut self, cx: &Context<'_>) {
            if let Some(report) = self.reporter.due(cx) {
                self.control = decided(&report, cx.path, self.control, self.paced);
            }
        }
    }

    impl Controller for Within {
        fn on_sent(&mut self, event: &Sent, cx: &mut Context<'_>) {
            self.reporter.on_sent(event, cx.now);
        }
        fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
            self.reporter.on_ack(event, cx.now);
            self.report(cx);
        }
        fn on_lost(&mut self, event: &Lost, _cx: &mut Context<'_>) {
            self.reporter.on_lost(event);
        }
        fn on_timeout(&mut self, _event: &Timeout, cx: &mut Context<'_>) {
            self.reporter.on_timeout();
            self.report(cx);
        }
        fn on_rtt(&mut self, event: &RttSample, _cx: &mut Context<'_>) {
            self.reporter.on_rtt(event);
        }
        fn control(&self) -> Control {
            self.control
        }
        fn ecn(&self) -> Ecn {
            Ecn::Ect0
        }

        fn observe(&self, _out: &mut dyn Observer) {}
    }

    #[derive(Clone, Copy)]
    struct WithReports(Every, bool);

    impl Factory for WithReports {
        fn build(&self, init: &Init) -> Box<dyn Controller> {
            Box::new(Within {
                reporter: Reporter::new(self.0),
                control: Fixed::new(init).control(),
                paced: self.1,
            })
        }
        fn build_for_receiver(&self, init: &Init) -> Box<dyn Controller> {
            Box::new(Fixed::new(init))
        }
    }

    impl Resolver for WithReports {
        fn resolve(&self, text: &str) -> Option<Result<ControllerSpec, SpecError>> {
            (text == "mine").then(|| Ok(ControllerSpec::new(text, Arc::new(*self))))
        }
    }

    fn read(text: &str, of: WithReports) -> Scenario {
        let registry = Registry::standard().with_resolver(Arc::new(of));
        Scenario::read(
            text.as_bytes(),
            "one.toml",
            &[],
            &[],
            Clock::Virtual,
            &registry,
        )
        .unwrap()
    }

    fn steer(mut trial: SteeredTrial, paced: bool, events: u64) -> (Outcome, usize) {
        let mut decisions = 0;
        loop {
            match trial.advance(events) {
                Stop::Ended => return (trial.finish(), decisions),
                Stop::Unfinished => {}
                Stop::Asks(flow) => {
                    let report = trial.report(flow);
                    let control = trial.control(flow);
                    let control = decided(&report, trial.path(flow), control, paced);
                    trial.decide(control);
                    decisions += 1;
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Decisions from outside and decisions of a controller are the same trial, to the last event; steps of any size too.
        #[test]
        fn a_steered_trial_is_that_of_a_controller_that_decides_the_same(
            seed in 0_u64..1000,
            rate in 1_u32..80,
            rtt in 5_u32..200,
            buffer in 2_u32..200,
            loss in 0_u32..3,
            jittery: bool,
            both: bool,
            rules in prop_oneof![Just("rfc"), Just("picoquic")],
            host in prop_oneof![Just("ideal"), Just("linux"), Just("picoquic")],
            kind in prop_oneof![Just("download"), Just("upload")],
            paced: bool,
            every in prop_oneof![
                Just(Every::Rtts(1.0)),
                Just(Every::Rtts(0.3)),
                Just(Every::Time(thalweg_units::Duration::from_millis(20))),
            ],
            events in prop_oneof![Just(1_u64), Just(1000)],
        ) {
            let jitter = if jittery { "jitter = { model = \"wifi\", mean = \"7 ms\" }\n" } else { "" };
            let other = if both { "mine" } else { "cubic" };
            let text = format!(
                "title = \"one\"\ntime_limit = \"20 s\"\n[path]\nrate = \"{rate} Mbps\"\nrtt = \"{rtt} ms\"\n\
                 buffer = \"{buffer} packets\"\nloss = \"{loss} %\"\n{jitter}[transport]\nrules = \"{rules}\"\n\
                 [[flow]]\nname = \"main\"\ncontroller = \"mine\"\nhost = \"{host}\"\n{kind} = \"1 MB\"\n\
                 [[flow]]\nname = \"other\"\ncontroller = \"{other}\"\nstart = \"300 ms\"\ndownload = \"1 MB\"\n"
            );
            let scenario = read(&text, WithReports(every, paced));
            let mut flows = vec![(0, every)];
            flows.extend(both.then_some((1, every)));
            let trial = SteeredTrial::new(&scenario, seed, &flows).unwrap();
            let (outcome, decisions) = steer(trial, paced, events);
            prop_assert!(decisions > 3);
            prop_assert_eq!(outcome, run_trial(&scenario, seed, false).0);
        }
    }

    #[test]
    fn what_cannot_be_steered_is_refused_in_words() {
        let on = |path: &str, flow: &str| {
            let text = format!(
                "title = \"one\"\n[path]\nrate = \"5 Mbps\"\nrtt = \"40 ms\"\n{path}[[flow]]\nname = \"main\"\n\
                 controller = \"cubic\"\n{flow}\n"
            );
            let scenario = read(&text, WithReports(Every::Rtts(1.0), false));
            let trial = SteeredTrial::new(&scenario, 1, &[(0, Every::Rtts(1.0))]);
            trial.err().unwrap_or_default()
        };
        let with = |flow: &str| on("", flow);
        let whole = on("splits = false\n", "download = \"1 MB\"\nhost = \"linux\"");
        assert!(whole.contains("splits = false"), "{whole}");
        assert_eq!(with("download = \"1 MB\""), "");
        let error = with("download = \"1 MB\"\nstack = \"quic\"");
        assert!(
            error.starts_with("flow main runs on the QUIC stack"),
            "{error}"
        );
        let waits = with("download = \"1 MB\"\nhost = { reads = \"1 ms\" }");
        assert!(waits.contains("hosts that wait"), "{waits}");
        assert_eq!(with("download = \"1 MB\"\nhost = \"linux\""), "");
    }
}
