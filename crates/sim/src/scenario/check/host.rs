//! The hosts of a flow.

use super::Checker;
use super::transport::LATEST_WAKEUP;
use crate::scenario::FlowController;
use crate::scenario::clock::Clock;
use crate::scenario::error::ScenarioError;
use crate::scenario::flow::FlowSpec;
use crate::scenario::hop::{Direction, Hop};
use crate::scenario::schema::{self, BUNDLES, BundleSize, HostModel, Reads, ScenarioFile};
use thalweg_control::report::Every;
use thalweg_path::Limit;
use thalweg_transport::{Bundle, Host, LARGEST_BUNDLE, Reading, Role, TransportConfig};
use thalweg_units::{Bytes, Duration};

/// The longest time after which a host reads, and the coarsest timer: longer ones would be seen as loss.
const LONGEST: Duration = Duration::from_millis(100);
/// `UDP_MAX_SEGMENTS` of Linux.
const MOST_PACKETS: u64 = 64;

impl Checker<'_> {
    /// How often a controller hears of acknowledgements, if its host reports them.
    pub(super) fn reports(
        &self,
        index: usize,
        flow: &schema::Flow,
        controller: &FlowController,
    ) -> Result<Option<Every>, ScenarioError> {
        let given = (flow.host.as_deref()).and_then(|host| host.reports.as_deref());
        let Some(text) = given.filter(|text| *text != "each") else {
            return Ok(None);
        };
        let key = format!("flow.{index}.host");
        if !matches!(controller, FlowController::Registry(_)) {
            let problem = "reports requires a controller of Thalweg, not one of the stack";
            return self.fail(&key, problem);
        }
        let read = Every::read(text).map_err(|problem| format!("reports {problem}, or \"each\""));
        match read {
            Ok(every) => Ok(Some(every)),
            Err(problem) => self.fail(&key, problem),
        }
    }

    /// Gives `config` the host of flow `index`, and what it says of pacing and wake-ups.
    pub(super) fn host(
        &self,
        index: usize,
        flow: &schema::Flow,
        file: &ScenarioFile,
        config: &mut TransportConfig,
    ) -> Result<(), ScenarioError> {
        let Some(given) = flow.host.as_deref() else {
            return Ok(());
        };
        let key = format!("flow.{index}.host");
        if !matches!(self.clock, Clock::Virtual) {
            let problem = "cannot be combined with real time, where the hosts are real";
            return self.fail(&key, problem);
        }
        let (model, paces) = match given.model {
            HostModel::OfRules => (config.host, config.pacing),
            HostModel::Ideal => (Host::IDEAL, config.pacing),
            HostModel::Linux => (Host::LINUX, file.transport.pacing.unwrap_or(false)),
            HostModel::Picoquic => (Host::PICOQUIC, config.pacing),
        };
        let short = |name: &str, span: Duration, longest: Duration| {
            if span <= longest {
                return Ok(span);
            }
            let problem = format!("{name} \"{span}\" is too long; accepted: at most \"{longest}\"");
            self.fail(&key, problem)
        };
        config.host = Host {
            reading: match given.reads {
                None => model.reading,
                Some(Reads::Each) => Reading::Each,
                Some(Reads::All) => Reading::All,
                // Whoever waits for no time reads what has arrived.
                Some(Reads::Within(span)) if span.is_zero() => Reading::All,
                Some(Reads::Within(span)) => Reading::Within(short("reads", span, LONGEST)?),
            },
            bundle: match given.bundle {
                None => model.bundle,
                Some(BundleSize::Auto) => Bundle::Autosized,
                Some(BundleSize::Packets(packets)) if packets <= MOST_PACKETS => {
                    Bundle::Packets(packets as u32)
                }
                Some(BundleSize::Bytes(bytes)) if bytes <= LARGEST_BUNDLE => Bundle::Bytes(bytes),
                Some(large) => {
                    let problem = format!(
                        "bundle \"{large}\" is larger than any device takes; accepted: {BUNDLES}, at most {MOST_PACKETS} packets and \"{LARGEST_BUNDLE}\""
                    );
                    return self.fail(&key, problem);
                }
            },
            timer: match given.timer {
                None => model.timer,
                Some(span) => short("timer", span, LONGEST)?,
            },
        };
        config.pacing = given.pacing.unwrap_or(paces);
        if let Some(span) = given.lateness {
            config.wakeup_noise = short("lateness", span, LATEST_WAKEUP)?;
        }
        Ok(())
    }

    /// A buffer that bundles pass whole must hold the smallest one, two full packets: a window that has come down to two
    /// packets, and the two probes of a timeout, leave as one.
    pub(super) fn check_bundles(
        &self,
        file: &ScenarioFile,
        flows: &[FlowSpec],
        hops: &[Hop],
        overhead: u32,
    ) -> Result<(), ScenarioError> {
        for flow in flows {
            let full = flow.transport.max_mtu;
            let bundles = match flow.transport.host.bundle {
                Bundle::Single => false,
                Bundle::Packets(packets) => packets > 1,
                Bundle::Bytes(bytes) => bytes >= full * 2,
                Bundle::Autosized => true,
            };
            let least = (full + Bytes::new(u64::from(overhead))) * 2;
            let whole = (flow.route.iter()).filter(|index| bundles && !hops[**index].splits);
            for (index, role) in
                whole.flat_map(|hop| flow.workload.senders().map(move |role| (*hop, role)))
            {
                let (direction, own) = match role {
                    Role::Server => (Direction::Down, ""),
                    Role::Client => (Direction::Up, "up."),
                };
                let Limit::Bytes(limit) = hops[index].links[direction].limit else {
                    continue;
                };
                if limit >= least {
                    continue;
                }
                let (table, path) = match &file.path {
                    Some(path) => ("path".to_owned(), path),
                    None => (format!("link.{index}"), &file.link[index]),
                };
                let is_own = path.up.as_ref().is_some_and(|up| up.buffer.is_some());
                let own = if is_own { own } else { "" };
                let problem = format!(
                    "\"{limit}\" holds no bundle of flow {}; accepted with splits = false: \"{least}\" or more, two full packets with their headers, or a number of packets",
                    flow.name
                );
                return self.fail(&format!("{table}.{own}buffer"), problem);
            }
        }
        Ok(())
    }
}
