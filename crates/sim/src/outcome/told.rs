//! What a sender is told of the rate of its path, against the capacity of its links.
//!
//! # Model
//! Congestion control tells a sender a rate in one of three ways ([`Estimate`]), and the capacity of its path at an
//! instant is the lowest rate of the links that carry its data. A packet of the link is larger than what the sender counts:
//! the capacity is the part of it that is left for UDP payload in packets of full size. An estimate is *off* if it differs
//! from the capacity by more than a fifth ([`TOLERANCE`]); it holds until the controller is next informed of something.
//!
//! A change of the capacity is *noticed* when the estimate is first no longer off. One that is not noticed before the
//! next change never is. Changes before the first estimate have nobody to notice them.
//!
//! # Limits
//! The capacity is of the links, whoever uses it: with other flows no estimate of the whole is right. Policers and shapers
//! do not count. A suspended link has no rate: its time counts neither way, and what changes is the rate that it has
//! again, if that is another one.

use crate::scenario::criterion::watch::{Estimate, Told};
use crate::scenario::hop::{Direction, Hop};
use crate::trial::stack::Endpoint;
use thalweg_path::CapacitySchedule;
use thalweg_units::{Duration, Instant, Rate};

/// A share of the capacity.
const TOLERANCE: f64 = 0.2;
/// So many settings of links are looked through for a change of the rate.
const MOST_SETTINGS: usize = 100_000;

/// The capacity of a path in one direction.
#[derive(Clone, Debug)]
pub(crate) struct Capacity(Vec<CapacitySchedule>);

impl Capacity {
    /// The capacity of a route.
    pub(crate) fn new(hops: &[Hop], route: &[usize], direction: Direction) -> Self {
        let links = route.iter().map(|hop| &hops[*hop].links[direction]);
        Capacity(links.map(CapacitySchedule::new).collect())
    }

    /// The lowest rate of the links.
    pub(crate) fn rate_at(&self, at: Instant) -> Rate {
        let rates = self.0.iter().map(|link| link.rate_at(at));
        rates.min().unwrap_or(Rate::ZERO)
    }

    /// When the settings of a link next change, if they do.
    fn next_settings(&self, after: Instant) -> Option<Instant> {
        let next = |link: &CapacitySchedule| Some(link.segments(after).nth(1)?.start);
        self.0.iter().filter_map(next).min()
    }

    /// Whether the lowest rate changes from `from` on and before `until`, as far as [`MOST_SETTINGS`] tell.
    pub(crate) fn changes(&self, from: Instant, until: Instant) -> bool {
        let before = from - Duration::from_nanos(1);
        let times = std::iter::successors(Some(before), |at| self.next_settings(*at));
        let counted = times.take_while(|at| *at < until).take(MOST_SETTINGS);
        let mut rates = counted
            .map(|at| self.rate_at(at))
            .filter(|rate| !rate.is_zero());
        let first = rates.next();
        rates.any(|rate| Some(rate) != first)
    }
}

/// One number of one end of a flow, so far.
#[derive(Clone, Debug)]
pub(crate) struct ToldSoFar {
    told: Told,
    capacity: Capacity,
    /// What counts begins and ends here.
    from: Instant,
    until: Instant,
    /// All before has been counted.
    now: Instant,
    /// The last capacity that did not belong to a suspended link.
    capacity_before: Option<Rate>,
    /// In bits per second of the links.
    estimate: Option<f64>,
    off: Duration,
    total: Duration,
    /// A change that is not noticed yet.
    pending: Option<Instant>,
    /// The longest time until a change was noticed; infinite if one was not.
    longest: Option<f64>,
}

impl ToldSoFar {
    pub(crate) fn new(told: Told, capacity: Capacity, (from, until): (Instant, Instant)) -> Self {
        ToldSoFar {
            told,
            capacity,
            from,
            until,
            now: Instant::START,
            capacity_before: None,
            estimate: None,
            off: Duration::ZERO,
            total: Duration::ZERO,
            pending: None,
            longest: None,
        }
    }

    /// The controller has been informed of something.
    pub(crate) fn sample(&mut self, now: Instant, endpoint: &Endpoint, overhead: u32) {
        self.advance(now);
        let path = endpoint.path();
        let rate = match self.told.estimate() {
            Estimate::Window => path
                .has_rtt()
                .then(|| Rate::over(endpoint.control().window, path.smoothed_rtt)),
            Estimate::Pacing => endpoint.pacing_rate().filter(|_| path.has_rtt()),
            Estimate::Media => endpoint.media_rate(),
        };
        let mtu = path.mtu.as_u64() as f64;
        let larger = (mtu + f64::from(overhead)) / mtu;
        self.estimate = rate.map(|rate| rate.as_bits_per_sec() as f64 * larger);
        self.notice(now);
    }

    /// Whether this end was told anything.
    fn was_told(&self) -> bool {
        self.estimate.is_some()
    }

    /// The value at the end; none if nothing was told, or nothing changed, infinite if a change was not noticed.
    pub(crate) fn value(mut self, end: Instant) -> Option<f64> {
        self.advance(end);
        match self.told {
            Told::RateError(_) => {
                let total = self.total.as_secs_f64();
                (total > 0.0).then(|| self.off.as_secs_f64() / total)
            }
            Told::TimeToNotice(_) => match self.pending {
                Some(since) if since < end => Some(f64::INFINITY),
                _ => self.longest,
            },
        }
    }

    /// Counts the time up to `now`, in which the estimate stayed.
    fn advance(&mut self, now: Instant) {
        while self.now < now {
            let next = self.capacity.next_settings(self.now);
            let end = next.map_or(now, |next| next.min(now));
            let counted = end.min(self.until).since(self.now.max(self.from));
            let rate = self.capacity.rate_at(self.now);
            if let Some(estimate) = self.estimate.filter(|_| !rate.is_zero()) {
                self.total += counted;
                if is_off(estimate, rate) {
                    self.off += counted;
                }
            }
            if !rate.is_zero() {
                self.capacity_before = Some(rate);
            }
            self.now = end;
            if next == Some(end) {
                self.change();
            }
        }
    }

    /// The capacity may have changed.
    fn change(&mut self) {
        let rate = self.capacity.rate_at(self.now);
        if rate.is_zero() || self.capacity_before.is_none_or(|before| before == rate) {
            return;
        }
        if self.pending.take().is_some() {
            self.longest = Some(f64::INFINITY);
        }
        if self.from <= self.now && self.now < self.until && self.was_told() {
            self.pending = Some(self.now);
            self.notice(self.now);
        }
    }

    fn notice(&mut self, now: Instant) {
        let (Some(since), Some(estimate)) = (self.pending, self.estimate) else {
            return;
        };
        let rate = self.capacity.rate_at(now);
        if !rate.is_zero() && !is_off(estimate, rate) {
            let time = now.since(since).as_secs_f64();
            self.longest = Some(self.longest.map_or(time, |longest| longest.max(time)));
            self.pending = None;
        }
    }
}

fn is_off(estimate: f64, capacity: Rate) -> bool {
    let capacity = capacity.as_bits_per_sec() as f64;
    (estimate - capacity).abs() > TOLERANCE * capacity
}
