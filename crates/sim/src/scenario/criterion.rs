//! Pass criteria: which number of which flow, and its bound.

use thalweg_units::Duration;

/// A number of a flow that a criterion can bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The last byte is delivered to the application.
    Completion,
    /// The close exchange that follows is over.
    Closed,
    /// Mean delay of a stream of media.
    MeanDelay,
    /// Its 95th percentile.
    P95Delay,
    /// Its 99th percentile.
    P99Delay,
    /// The largest.
    MaxDelay,
    /// Mean delay with the frames before the start of measurement.
    MeanDelayFromStart,
    /// The largest, with them.
    MaxDelayFromStart,
}

impl Metric {
    /// The name in scenario files.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Completion => "completion",
            Metric::Closed => "closed",
            Metric::MeanDelay => "mean-delay",
            Metric::P95Delay => "p95-delay",
            Metric::P99Delay => "p99-delay",
            Metric::MaxDelay => "max-delay",
            Metric::MeanDelayFromStart => "mean-delay-from-start",
            Metric::MaxDelayFromStart => "max-delay-from-start",
        }
    }
    /// What it measures, in a line.
    pub fn meaning(self) -> &'static str {
        match self {
            Metric::Completion => "from the start of the trial to the last byte delivered",
            Metric::Closed => "completion and the close exchange that follows",
            Metric::MeanDelay => "mean delay of the counted frames",
            Metric::P95Delay => "95th percentile of their delays",
            Metric::P99Delay => "99th percentile of their delays",
            Metric::MaxDelay => "largest of their delays",
            Metric::MeanDelayFromStart => {
                "mean delay of all frames, those before the start of measurement too"
            }
            Metric::MaxDelayFromStart => "largest delay of all frames",
        }
    }

    /// All of them.
    pub const ALL: [Metric; 8] = [
        Metric::Completion,
        Metric::Closed,
        Metric::MeanDelay,
        Metric::P95Delay,
        Metric::P99Delay,
        Metric::MaxDelay,
        Metric::MeanDelayFromStart,
        Metric::MaxDelayFromStart,
    ];
    /// Whether it is a number of one stream of media.
    pub fn is_of_media(self) -> bool {
        !matches!(self, Metric::Completion | Metric::Closed)
    }
    /// Whether frames before the start of measurement count as well.
    pub(crate) fn counts_from_start(self) -> bool {
        matches!(self, Metric::MeanDelayFromStart | Metric::MaxDelayFromStart)
    }
    pub(crate) fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name)
    }
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
    /// The bound.
    pub at_most: Duration,
    /// Where the bound comes from.
    pub source: Option<String>,
    /// Whether it is shown without deciding the verdict.
    pub informative: bool,
    /// The least value that physics allows.
    pub floor: Option<Duration>,
}

impl Criterion {
    /// The column of the outcomes that holds the metric, in seconds.
    pub fn column(&self) -> String {
        let metric = self.metric.name().replace('-', "_");
        match &self.stream {
            Some(stream) => format!("{}_{metric}_s", column_name(stream)),
            None => format!("{metric}_s"),
        }
    }
}

/// A name as part of a column name.
pub fn column_name(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect()
}
