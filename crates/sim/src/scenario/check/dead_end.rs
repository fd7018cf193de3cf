//! Flows that can never finish, because a link of their route stops, or loses every packet, before they complete.

use super::Checker;
use crate::scenario::error::ScenarioError;
use crate::scenario::hop::{Direction, Hop, PerDirection};
use crate::scenario::schema::{self, ScenarioFile};
use crate::scenario::{FlowSpec, Workload};
use thalweg_path::{CapacitySchedule, Change, LinkConfig, LossConfig};
use thalweg_units::{Bytes, Instant, Rate};

/// A link on which a flow can never finish.
struct DeadEnd {
    hop: usize,
    direction: Direction,
    /// Bytes that it would have to transmit, and the most that it ever can from the start of the flow.
    asked: Bytes,
    most: Bytes,
    /// From when on its capacity stays zero, if that is why.
    ends: Option<Instant>,
    /// From when on every packet is lost, if that is why.
    loses: Option<Instant>,
}

/// From when on every packet on a link is lost; `None` if some may always arrive.
fn loses_all(link: &LinkConfig) -> Option<Instant> {
    let mut since = link.loss.is_certain().then_some(Instant::START);
    for change in &link.changes {
        match change.loss.as_ref().map(LossConfig::is_certain) {
            Some(true) => since = since.or(Some(Instant::START + change.at)),
            Some(false) if link.repeat.is_some() => return None,
            Some(false) => since = None,
            None => {}
        }
    }
    // The initial loss returns with each period.
    since.filter(|since| link.repeat.is_none() || *since == Instant::START)
}

/// The link with the capacity that can bring a packet to the other end: none from `since` on.
fn without_losses(link: &LinkConfig, since: Option<Instant>) -> LinkConfig {
    let mut link = link.clone();
    let Some(since) = since else { return link };
    let at = since - Instant::START;
    if at.is_zero() {
        link.trace = None;
        link.rate = Rate::ZERO;
    }
    let later = link.changes.iter_mut().filter(|change| change.at >= at);
    later.for_each(|change| change.rate = None);
    link.changes.push(Change {
        at,
        rate: Some(Rate::ZERO),
        ..Change::default()
    });
    link
}

/// The link, if any, that can never transmit what a flow needs. The data goes in one direction; in
/// the other at least one byte must get through.
fn dead_end(hops: &[Hop], flow: &FlowSpec) -> Option<DeadEnd> {
    let least = Bytes::new(1);
    let asked = match flow.workload {
        Workload::Download { bytes, .. } => PerDirection {
            down: bytes.max(least),
            up: least,
        },
        Workload::Upload { bytes, .. } => PerDirection {
            down: least,
            up: bytes.max(least),
        },
        Workload::Call(_) | Workload::Requests(_) => PerDirection {
            down: least,
            up: least,
        },
    };
    let start = Instant::START + flow.start;
    let links =
        (flow.route.iter()).flat_map(|hop| Direction::BOTH.map(|direction| (*hop, direction)));
    links.into_iter().find_map(|(hop, direction)| {
        let link = &*hops[hop].at_most(direction);
        let schedule = CapacitySchedule::new(link);
        let loses = loses_all(link);
        let arriving = CapacitySchedule::new(&without_losses(link, loses));
        let asked = asked[direction];
        arriving
            .time_to_send(asked, start)
            .is_none()
            .then(|| DeadEnd {
                hop,
                direction,
                asked,
                most: in_whole_gb(schedule.bytes_between(start, Instant::NEVER)),
                ends: schedule.ends(),
                loses: loses.filter(|_| schedule.time_to_send(asked, start).is_some()),
            })
    })
}

/// Rounded down for display.
fn in_whole_gb(size: Bytes) -> Bytes {
    let gb = 1_000_000_000;
    Bytes::new(size.as_u64() / gb * gb).max(Bytes::new(gb).min(size))
}

impl Checker<'_> {
    /// A flow on a path that stays suspended would never end: an error of the scenario.
    pub(super) fn check_can_finish(
        &self,
        index: usize,
        flow: &FlowSpec,
        file: &ScenarioFile,
        hops: &[Hop],
    ) -> Result<(), ScenarioError> {
        let Some(dead) = dead_end(hops, flow) else {
            return Ok(());
        };
        let direction = if dead.direction == Direction::Up {
            "from client to server"
        } else {
            "from server to client"
        };
        let name = &flow.name;
        let (table, path) = match &file.path {
            Some(path) => ("path".to_owned(), path),
            None => (format!("link.{}", dead.hop), &file.link[dead.hop]),
        };
        let kind = table.split('.').next().unwrap_or_default();
        let is_up = dead.direction == Direction::Up;
        if let Some(loses) = dead.loses {
            let key = loss_key(&table, path, is_up, loses);
            let lost = if loses == Instant::START {
                "always lost".to_owned()
            } else {
                format!("lost from {} on", loses - Instant::START)
            };
            return self.fail(&key, format!("every packet {direction} is {lost}, so flow \"{name}\" (flow.{index}) can never finish; accepted: a loss below \"100 %\", or a later [[{kind}.change]] to one"));
        }
        let Some(ends) = dead.ends else {
            let key = match flow.workload {
                Workload::Upload { .. } => "upload",
                _ => "download",
            };
            let problem = format!(
                "\"{}\" is more than the path carries {direction} in 584 years; accepted: at most \"{}\"",
                dead.asked, dead.most
            );
            return self.fail(&format!("flow.{index}.{key}"), problem);
        };
        let own = |change: &schema::Change| is_up && change.up_rate.is_some();
        // The last word on the capacity.
        let changes = path.change.iter().enumerate().rev();
        let last = changes
            .filter(|(_, change)| Instant::START + change.at() <= ends)
            .find(|(_, change)| own(change) || change.rate.is_some());
        let key = match last {
            Some((position, change)) if own(change) => format!("{table}.change.{position}.up_rate"),
            Some((position, _)) => format!("{table}.change.{position}.rate"),
            None if is_up && path.up.as_ref().is_some_and(|up| up.rate.is_some()) => {
                format!("{table}.up.rate")
            }
            None => format!("{table}.rate"),
        };
        let since = if ends == Instant::START {
            "always".to_owned()
        } else {
            format!("from {} on", ends - Instant::START)
        };
        self.fail(&key, format!("the capacity {direction} is 0 {since}, so flow \"{name}\" (flow.{index}) can never finish; accepted: a rate above 0, or a later [[{kind}.change]] to one"))
    }
}

/// The key that makes every packet of a link be lost from `since` on.
fn loss_key(table: &str, path: &schema::Path, is_up: bool, since: Instant) -> String {
    let changes = path.change.iter().enumerate().rev();
    let mut until = changes.filter(|(_, change)| Instant::START + change.at() <= since);
    let last = until.find_map(|(position, change)| {
        let own = is_up && change.up_loss.is_some();
        let key = if own { "up_loss" } else { "loss" };
        (own || change.loss.is_some()).then(|| format!("{table}.change.{position}.{key}"))
    });
    let own = is_up && path.up.as_ref().is_some_and(|up| up.loss.is_some());
    last.unwrap_or_else(|| format!("{table}.{}", if own { "up.loss" } else { "loss" }))
}
