//! Pass criteria: a metric of a flow or of a link on its way, and its bound.

mod metric;
pub(crate) mod watch;

pub use metric::{Better, Metric, Unit};

use super::hop::LinkId;
use std::fmt;
use std::str::FromStr;
use thalweg_transport::LimitedBy;
use thalweg_units::{Bytes, Duration, Fraction, ParseError, Rate, quoted};
use watch::Watch;

/// The value of a bound, in the unit of its metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// A time.
    Time(Duration),
    /// A rate.
    Rate(Rate),
    /// A share.
    Share(Fraction),
    /// Bytes.
    Bytes(Bytes),
    /// A count.
    Count(u32),
    /// A number.
    Number(f64),
    /// A mean opinion score.
    Score(f64),
}

impl Amount {
    /// Reads a text in a unit.
    ///
    /// # Errors
    /// The message names the accepted forms.
    pub(crate) fn read(text: &str, unit: Unit) -> Result<Amount, ParseError> {
        Ok(match unit {
            Unit::Time => Amount::Time(Duration::from_str(text)?),
            Unit::Rate => Amount::Rate(Rate::from_str(text)?),
            Unit::Share => Amount::Share(Fraction::from_str(text)?),
            Unit::Bytes => Amount::Bytes(Bytes::from_str(text)?),
            Unit::Count => {
                let count = text.trim().parse();
                Amount::Count(count.map_err(|_| ParseError {
                    problem: format!("{} is not a count", quoted(text)),
                    accepted: "\"0\", \"3\"",
                })?)
            }
            Unit::Number => Amount::of_variable(text)?,
            Unit::Score => {
                let score = text.trim().parse().ok();
                let score = score.filter(|score| (1.0..=5.0).contains(score));
                Amount::Score(score.ok_or_else(|| ParseError {
                    problem: format!("{} is not a mean opinion score", quoted(text)),
                    accepted: "\"3.5\", from 1 to 5",
                })?)
            }
        })
    }

    /// Reads the bound of a variable: a number, or a quantity with a unit.
    fn of_variable(text: &str) -> Result<Amount, ParseError> {
        let number = text
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite());
        if let Some(number) = number {
            return Ok(Amount::Number(number));
        }
        let units = [Unit::Time, Unit::Rate, Unit::Bytes, Unit::Share];
        let read = units
            .into_iter()
            .find_map(|unit| Amount::read(text, unit).ok());
        read.ok_or_else(|| ParseError {
            problem: format!("{} is not a value of a variable", quoted(text)),
            accepted: "\"2\", \"40 ms\", \"20 Mbps\", \"64 kB\", \"50 %\"",
        })
    }

    /// Its unit.
    pub fn unit(self) -> Unit {
        match self {
            Amount::Time(_) => Unit::Time,
            Amount::Rate(_) => Unit::Rate,
            Amount::Share(_) => Unit::Share,
            Amount::Bytes(_) => Unit::Bytes,
            Amount::Count(_) => Unit::Count,
            Amount::Number(_) => Unit::Number,
            Amount::Score(_) => Unit::Score,
        }
    }

    /// In seconds, bits per second, parts of one, bytes, or as it is.
    pub fn as_f64(self) -> f64 {
        match self {
            Amount::Time(time) => time.as_secs_f64(),
            Amount::Rate(rate) => rate.as_bits_per_sec() as f64,
            Amount::Share(share) => share.as_f64(),
            Amount::Bytes(bytes) => bytes.as_u64() as f64,
            Amount::Count(count) => f64::from(count),
            Amount::Number(number) | Amount::Score(number) => number,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Time(time) => time.fmt(f),
            Amount::Rate(rate) => rate.fmt(f),
            Amount::Share(share) => share.fmt(f),
            Amount::Bytes(bytes) => bytes.fmt(f),
            Amount::Count(count) => count.fmt(f),
            Amount::Number(number) | Amount::Score(number) => number.fmt(f),
        }
    }
}

/// A bound, and on which side of it a metric must stay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// The metric may be as large as this.
    AtMost(Amount),
    /// It may be as small as this.
    AtLeast(Amount),
}

/// A pass criterion.
#[derive(Clone, Debug)]
pub struct Criterion {
    /// Index of the flow.
    pub flow: usize,
    /// What is bounded.
    pub metric: Metric,
    /// Which stream of media, for delays.
    pub stream: Option<String>,
    /// Which link, for metrics of links: its number, and its name.
    pub(crate) link: Option<(LinkId, String)>,
    /// What it looks at in the controller.
    pub watch: Option<Watch>,
    /// What limits the sender, for [`Metric::Limited`].
    pub by: Option<LimitedBy>,
    /// The bound.
    pub bound: Bound,
    /// The share of the trials that must keep it.
    pub within: Fraction,
    /// Where the bound comes from.
    pub source: Option<String>,
    /// Whether it is shown without deciding the verdict.
    pub informative: bool,
    /// The least value that physics allows, of a time that may not be larger than the bound.
    pub floor: Option<Duration>,
}

impl Bound {
    /// Its value.
    pub fn amount(self) -> Amount {
        match self {
            Bound::AtMost(amount) | Bound::AtLeast(amount) => amount,
        }
    }
}

impl Criterion {
    /// The metric in tables, with what it looks at: "entries Drain after Startup", "limited by flow-control",
    /// "link-airtime of air".
    pub fn title(&self) -> String {
        let name = self.metric.name();
        match (&self.watch, self.by, &self.link) {
            (Some(watch), ..) => watch.to_string(),
            (_, Some(by), _) => format!("{name} by {}", by.name()),
            (.., Some((_, link))) => format!("{name} of {link}"),
            _ => name.to_owned(),
        }
    }

    /// The unit of its values and its bound.
    pub fn unit(&self) -> Unit {
        self.bound.amount().unit()
    }

    /// The column of the outcomes that holds the metric: of the table of streams if it names one, else of the table of flows.
    pub fn column(&self) -> String {
        match (&self.watch, self.by) {
            (Some(watch), _) => watch.column(),
            (None, Some(by)) => by.column(),
            _ if self.link.is_some() => self.title(),
            (None, None) => self.metric.column(),
        }
    }
}
