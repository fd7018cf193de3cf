//! A flow: its controller, its workload and its transport.

use super::breaker::BreakerSpec;
use super::command::CommandSpec;
use super::library::FlowStack;
use super::media::{EncoderSpec, MediaSpec, ProbeSpec};
use super::schema::Gap;
use super::supply::Supply;
use crate::quic::StackController;
use thalweg_control::report::Every;
use thalweg_control::{ControllerSpec, MediaRates, Registry};
use thalweg_transport::{AckConduct, Role, TransportConfig};
use thalweg_units::{Bytes, Duration, Rate};

/// Prefix of congestion controls of the kernel.
pub(super) const KERNEL: &str = "kernel:";

/// The controller of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowController {
    /// A controller of the registry, for both stacks.
    Registry(ControllerSpec),
    /// A controller of the real stack, for flows of that stack.
    OfStack(StackController),
    /// A controller of the library that is the stack of the flow.
    OfLibrary(String),
    /// A congestion control of the kernel's TCP, as scenarios for real time write it: "kernel:cubic".
    Kernel(String),
    /// The programs of a flow in real time, which have their own: "command:curl".
    Command(String),
}

impl FlowController {
    /// The text it was parsed from.
    pub fn as_str(&self) -> &str {
        match self {
            FlowController::Registry(spec) => spec.as_str(),
            FlowController::OfStack(controller) => controller.as_str(),
            FlowController::OfLibrary(controller)
            | FlowController::Kernel(controller)
            | FlowController::Command(controller) => controller,
        }
    }

    /// The name of the kernel's congestion control: "cubic".
    pub fn kernel(&self) -> Option<&str> {
        match self {
            FlowController::Kernel(controller) => controller.strip_prefix(KERNEL),
            _ => None,
        }
    }

    /// Reads the controller of a flow that no kernel carries; the error names what is accepted.
    pub(super) fn read(text: &str, registry: &Registry) -> Result<Self, String> {
        if StackController::is_meant_by(text) {
            return text.parse().map(FlowController::OfStack);
        }
        let spec = registry.read(text);
        spec.map(FlowController::Registry)
            .map_err(|error| error.to_string())
    }
}

/// Rounds of downloads.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arrivals {
    /// Rounds of each user.
    pub(crate) count: u32,
    pub(crate) users: u32,
    /// Connections of a round.
    pub(crate) parallel: u32,
    /// Objects of a connection.
    pub(crate) objects: u32,
    pub(crate) pace: Pace,
    pub(crate) gap: Gap,
    pub(crate) lengths: Lengths,
    /// Size of the request for a download.
    pub(crate) request: Bytes,
}

/// When a round starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// A time after the start of the one before: an open loop.
    Open { mean_gap: Duration },
    /// A time after its end: a closed loop.
    Closed {
        mean_idle: Duration,
        /// Whether the first round has such a time before it.
        idle_first: bool,
    },
}

/// Distribution of the lengths of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lengths {
    /// With these percentiles.
    LogNormal { p5: Bytes, p95: Bytes },
    /// From and up to.
    Uniform { least: Bytes, most: Bytes },
}

impl Arrivals {
    /// All connections.
    pub(crate) fn connections(&self) -> u64 {
        u64::from(self.users) * u64::from(self.count) * u64::from(self.parallel)
    }

    /// A length that almost no object exceeds: of log-normal ones almost none is 100 times the 95th percentile.
    pub(crate) fn most(&self) -> u128 {
        match self.lengths {
            Lengths::LogNormal { p95, .. } => u128::from(p95.as_u64()) * 100,
            Lengths::Uniform { most, .. } => u128::from(most.as_u64()),
        }
    }
}

/// The workload of a flow.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Workload {
    /// From server to client, after a request.
    Download {
        bytes: Bytes,
        request: Bytes,
        streams: u32,
        /// How its data comes, if not all at once.
        supply: Option<Supply>,
    },
    /// From client to server.
    Upload { bytes: Bytes, streams: u32 },
    /// A media call.
    Call(Vec<MediaSpec>),
    /// Many downloads, one connection each.
    Requests(Arrivals),
}

impl Workload {
    /// Whether one end sends data of the application, and not only requests.
    pub(crate) fn is_sent_by(&self, role: Role) -> bool {
        match self {
            Workload::Download { .. } | Workload::Requests(_) => role == Role::Server,
            Workload::Upload { .. } => role == Role::Client,
            Workload::Call(media) => media.iter().any(|stream| stream.from == role),
        }
    }

    /// The rates of the encoders of an end, if it has some; packets have headers of this size. A controller that probes
    /// its path up to a `target` may use as much: one that its encoders limit to their most could learn no more.
    pub(crate) fn media_rates(
        &self,
        role: Role,
        header: Bytes,
        target: Option<Rate>,
    ) -> Option<MediaRates> {
        let Workload::Call(media) = self else {
            return None;
        };
        let mine = || media.iter().filter(|stream| stream.from == role);
        mine().find_map(MediaSpec::encoder)?;
        let total = |of: fn(&EncoderSpec) -> Rate| {
            let rates = mine()
                .filter_map(|one| Some(one.repair.with_fec(of(one.encoder()?), one.per_second)));
            Rate::from_bits_per_sec(rates.map(Rate::as_bits_per_sec).sum())
        };
        let besides = mine().map(|one| {
            let fixed = one.fixed_rate_with_fec().map_or(0, Rate::as_bits_per_sec);
            fixed + header.as_u64() * 8 * u64::from(one.per_second)
        });
        Some(MediaRates {
            least: total(|encoder| encoder.least),
            most: total(|encoder| encoder.most).max(target.unwrap_or(Rate::ZERO)),
            start: total(|encoder| encoder.start),
            besides: Rate::from_bits_per_sec(besides.sum()),
        })
    }

    /// The ends that send data of the application.
    pub(crate) fn senders(&self) -> impl Iterator<Item = Role> {
        (Role::BOTH.into_iter()).filter(|role| self.is_sent_by(*role))
    }
}

/// One flow of a scenario.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Name.
    pub name: String,
    /// Controller of its sender.
    pub controller: FlowController,
    /// The modelled endpoint, the real stack or the stack of a library.
    pub(crate) stack: FlowStack,
    /// When it starts.
    pub start: Duration,
    /// Whether a trial ends without waiting for it.
    pub background: bool,
    /// Name of the tunnel that carries it.
    pub(crate) tunnel: Option<String>,
    /// Indices of the hops that it crosses from server to client.
    pub(crate) route: Vec<usize>,
    pub(crate) workload: Workload,
    pub(crate) transport: TransportConfig,
    /// How its receiver of data reports what arrives.
    pub(crate) ack_conduct: AckConduct,
    /// Whether the controller of its sender hears of losses.
    pub(crate) ignores_loss: bool,
    /// How often the controller of its sender hears of acknowledgements, if not of each.
    pub(crate) reports: Option<Every>,
    /// What ends it when it congests its path for long.
    pub(crate) breaker: Option<BreakerSpec>,
    /// What the senders of its call probe their path with.
    pub(crate) probe: Option<ProbeSpec>,
    /// The programs that are its ends.
    pub command: Option<CommandSpec>,
}

impl FlowSpec {
    /// Whether its receiver of data acknowledges what has arrived, and nothing else. A sender that finds out closes the
    /// connection, which may then be closed before it is complete.
    pub fn has_honest_receiver(&self) -> bool {
        self.ack_conduct == AckConduct::Honest
    }

    /// Whether both ends send media.
    pub fn is_sent_by_both(&self) -> bool {
        self.workload.senders().count() == 2
    }

    /// The workload in words.
    pub fn workload(&self) -> String {
        match &self.workload {
            Workload::Download { bytes, .. } => format!("download {bytes}"),
            Workload::Upload { bytes, .. } => format!("upload {bytes}"),
            Workload::Requests(arrivals) => format!("{} requests", arrivals.connections()),
            Workload::Call(media) => {
                let names: Vec<_> = media.iter().map(|stream| stream.name.as_str()).collect();
                format!("call: {}", names.join(", "))
            }
        }
    }
}
