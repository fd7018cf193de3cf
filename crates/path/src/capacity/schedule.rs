//! The schedule: settings in order, and the period with which they repeat.

use super::period::Period;
use super::trace::DeliveryTrace;
use crate::{JitterConfig, Limit, LinkConfig, LossConfig, QueueConfig};
use thalweg_units::{Duration, Instant, Rate};

/// Everything about a link that changes with time, in order, without noise.
#[derive(Clone, Debug, PartialEq)]
pub struct CapacitySchedule {
    /// Never empty; the first one starts at zero and the starts increase.
    pub(super) settings: Vec<Settings>,
    pub(super) jitters: Vec<JitterConfig>,
    losses: Vec<Spell<LossConfig>>,
    queues: Vec<Spell<QueueConfig>>,
    pub(super) period: Option<Period>,
    pub(super) least_delay: Duration,
    pub(super) trace: Option<DeliveryTrace>,
}

/// The settings of a link during one segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    /// Start, counted from the start of the cycle.
    pub(super) offset: Duration,
    pub(crate) rate: Rate,
    pub(crate) delay: Duration,
    pub(crate) limit: Limit,
    /// Index into the list of jitter models.
    pub(crate) jitter: usize,
    /// Index into the list of loss models.
    pub(crate) loss: u32,
    /// Index into the list of disciplines.
    queue: u32,
    /// Whether the queue is emptied when these settings begin.
    pub(crate) flush: bool,
}

/// What is in force from a change on, until the next spell.
#[derive(Clone, Debug, PartialEq)]
struct Spell<T> {
    /// When it begins, counted from the start of the cycle.
    offset: Duration,
    config: T,
}

impl<T: PartialEq> Spell<T> {
    /// The spell of the start, at the head of a list.
    fn first(config: T) -> Vec<Self> {
        let offset = Duration::ZERO;
        vec![Spell { offset, config }]
    }

    /// Adds one, unless its configuration is in force already; its index.
    fn begin(spells: &mut Vec<Self>, offset: Duration, config: T) -> u32 {
        // The last one of several at one time is the only one.
        spells.pop_if(|last| last.offset == offset);
        if spells.last().is_none_or(|last| last.config != config) {
            spells.push(Spell { offset, config });
        }
        spells.len() as u32 - 1
    }
}

/// A discipline in force.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reign<'a> {
    pub(crate) queue: &'a QueueConfig,
    /// How many disciplines came before it: a change to the same discipline does not count.
    pub(crate) number: u64,
    pub(crate) since: Instant,
}

impl CapacitySchedule {
    /// The schedule that a link with this configuration follows.
    pub fn new(config: &LinkConfig) -> Self {
        let length = config.repeat.filter(|length| !length.is_zero());
        let mut changes: Vec<_> = config
            .changes
            .iter()
            .filter(|change| length.is_none_or(|end| change.at < end))
            .collect();
        changes.sort_by_key(|change| change.at);

        let mut jitters = vec![config.jitter.clone()];
        let mut losses = Spell::first(config.loss.clone());
        let mut queues = Spell::first(config.queue.clone());
        let mut current = Settings {
            offset: Duration::ZERO,
            rate: config.rate,
            delay: config.delay,
            limit: config.limit,
            jitter: 0,
            loss: 0,
            queue: 0,
            flush: false,
        };
        let mut settings = vec![current];
        for change in changes {
            // Several changes at one time are one segment.
            current.flush = change.flush || current.flush && current.offset == change.at;
            current.offset = change.at;
            current.rate = change.rate.unwrap_or(current.rate);
            current.delay = change.delay.unwrap_or(current.delay);
            current.limit = change.limit.unwrap_or(current.limit);
            if let Some(jitter) = &change.jitter {
                // Keeps settings that recur soon only once; a search among all would be slow for thousands.
                let known = jitters.iter().rev().take(16);
                let again = known.zip(1..).find(|(known, _)| *known == jitter);
                current.jitter = match again {
                    Some((_, back)) => jitters.len() - back,
                    None => {
                        jitters.push(jitter.clone());
                        jitters.len() - 1
                    }
                };
            }
            if let Some(loss) = &change.loss {
                current.loss = Spell::begin(&mut losses, change.at, loss.clone());
            }
            if let Some(queue) = &change.queue {
                current.queue = Spell::begin(&mut queues, change.at, queue.clone());
            }
            if settings
                .last()
                .is_some_and(|last| last.offset == current.offset)
            {
                settings.pop();
            }
            settings.push(current);
        }

        let least_delay = settings
            .iter()
            .map(|s| s.delay)
            .min()
            .unwrap_or(config.delay);
        let mut schedule = CapacitySchedule {
            settings,
            jitters,
            losses,
            queues,
            period: None,
            least_delay,
            trace: config.trace.clone(),
        };
        schedule.period = length.map(|length| schedule.period(length));
        schedule
    }

    fn period(&self, length: Duration) -> Period {
        let mut period = Period {
            length,
            work: 0,
            active: Duration::ZERO,
        };
        let ends = self.settings[1..]
            .iter()
            .map(|next| next.offset)
            .chain([length]);
        for (segment, end) in self.settings.iter().zip(ends) {
            let span = end - segment.offset;
            period.work += u128::from(segment.rate.as_bits_per_sec()) * u128::from(span.as_nanos());
            if !segment.rate.is_zero() {
                period.active += span;
            }
        }
        period
    }

    /// Whether a delivery trace stands for the rates.
    pub(crate) fn is_traced(&self) -> bool {
        self.trace.is_some()
    }

    pub(crate) fn jitters(&self) -> &[JitterConfig] {
        &self.jitters
    }

    pub(crate) fn losses(&self) -> impl Iterator<Item = &LossConfig> {
        self.losses.iter().map(|spell| &spell.config)
    }

    /// Whether the discipline ever changes.
    pub(crate) fn changes_queue(&self) -> bool {
        self.queues.len() > 1
    }

    /// The discipline in the segment `index` of the cycle that starts at `cycle`.
    pub(crate) fn reign(&self, index: usize, cycle: Instant) -> Reign<'_> {
        let spell = self.settings[index].queue as usize;
        let Spell { offset, config } = &self.queues[spell];
        let last = &self.queues[self.queues.len() - 1];
        // The next cycle goes on with the same discipline or returns to the first one.
        let goes_on = last.config == self.queues[0].config;
        let each = self.queues.len() as u64 - u64::from(goes_on);
        let (cycles, length) = match self.period {
            Some(Period { length, .. }) => (cycle.as_nanos() / length.as_nanos(), length),
            None => (0, Duration::ZERO),
        };
        let since = if spell == 0 && cycles > 0 && goes_on {
            cycle - length + last.offset
        } else {
            cycle + *offset
        };
        Reign {
            queue: config,
            number: cycles * each + spell as u64,
            since,
        }
    }

    /// Settings number `index`.
    #[inline]
    pub(crate) fn settings(&self, index: usize) -> &Settings {
        &self.settings[index]
    }

    /// The rate for limits in time and delays: the rate of the settings, or the mean of the
    /// trace.
    #[inline]
    pub(crate) fn nominal(&self, index: usize) -> Rate {
        match &self.trace {
            None => self.settings[index].rate,
            Some(trace) => trace.mean_rate(),
        }
    }

    pub(crate) fn segments_per_cycle(&self) -> usize {
        self.settings.len()
    }

    /// When segment `index` of the cycle that started at `cycle` ends; never for the last one.
    pub(super) fn segment_end(&self, index: usize, cycle: Instant) -> Instant {
        match (self.settings.get(index + 1), self.period) {
            (Some(next), _) => cycle + next.offset,
            (None, Some(period)) => cycle + period.length,
            (None, None) => Instant::NEVER,
        }
    }

    /// The segment after this one, which ends.
    pub(super) fn segment_after(&self, index: usize, cycle: Instant) -> (usize, Instant) {
        if index + 1 < self.settings.len() {
            (index + 1, cycle)
        } else {
            (0, self.segment_end(index, cycle))
        }
    }

    /// The segment that holds at `at`, and the start of its cycle.
    pub(super) fn segment_at(&self, at: Instant) -> (usize, Instant) {
        let (cycle, offset) = match self.period {
            Some(Period { length, .. }) => {
                let offset = at.as_nanos() % length.as_nanos();
                (
                    Instant::from_nanos(at.as_nanos() - offset),
                    Duration::from_nanos(offset),
                )
            }
            None => (Instant::START, at - Instant::START),
        };
        // The first segment starts at offset zero: the partition point is at least one.
        let index = self
            .settings
            .partition_point(|segment| segment.offset <= offset)
            - 1;
        (index, cycle)
    }

    /// Propagation delay at `at`, without jitter.
    pub fn delay_at(&self, at: Instant) -> Duration {
        self.settings(self.segment_at(at).0).delay
    }

    /// From when on the capacity stays zero; `None` if it never does.
    pub fn ends(&self) -> Option<Instant> {
        if self.trace.is_some() {
            return None;
        }
        if let Some(period) = self.period {
            return (period.work == 0).then_some(Instant::START);
        }
        let dead = self.settings.iter().rev();
        let first = dead.take_while(|settings| settings.rate.is_zero()).last()?;
        Some(Instant::START + first.offset)
    }
}
