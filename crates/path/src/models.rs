//! The catalogue of queue, jitter and loss models, for `thalweg list models`.

/// What a model describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// A queue discipline.
    Queue,
    /// A distribution of extra delay.
    Jitter,
    /// A process of loss.
    Loss,
}

/// One entry of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// What it describes.
    pub kind: ModelKind,
    /// The name in a scenario.
    pub name: &'static str,
    /// What it does, in a line.
    pub title: &'static str,
    /// Where it is defined.
    pub source: &'static str,
}

/// Every model that a link knows.
pub fn models() -> &'static [Model] {
    use ModelKind::{Jitter, Loss, Queue};
    const fn model(
        kind: ModelKind,
        name: &'static str,
        title: &'static str,
        source: &'static str,
    ) -> Model {
        Model {
            kind,
            name,
            title,
            source,
        }
    }
    const MODELS: &[Model] = &[
        model(
            Queue,
            "drop-tail",
            "first in, first out; drops what does not fit",
            "RFC 7567 section 1",
        ),
        model(
            Queue,
            "codel",
            "drops or marks at the head while the wait stays above 5 ms for 100 ms",
            "RFC 8289",
        ),
        model(
            Queue,
            "fq-codel",
            "a queue for each flow, served in turn, each under CoDel",
            "RFC 8290",
        ),
        model(
            Queue,
            "pie",
            "drops or marks at the tail by a controller of the delay, 15 ms",
            "RFC 8033",
        ),
        model(
            Queue,
            "dualpi2",
            "two coupled queues: low latency for ECT(1), 15 ms for the rest",
            "RFC 9332",
        ),
        model(
            Queue,
            "red",
            "drops or marks at random by the average length of the queue",
            "Floyd and Jacobson 1993",
        ),
        model(Jitter, "none", "no jitter", "-"),
        model(Jitter, "uniform", "uniform between two delays", "-"),
        model(
            Jitter,
            "normal",
            "normal, negative values replaced by zero; mean J and deviation J/3 in the reference",
            "picoquic sim_link.c",
        ),
        model(
            Jitter,
            "truncated-normal",
            "normal, redrawn until it lies between two bounds",
            "-",
        ),
        model(
            Jitter,
            "wifi",
            "Poisson of 1 ms steps, and rare Poisson of 7.5 ms steps around 90 ms; the mean sets how rare",
            "draft-huitema-ccwg-c4-test, Bad Wi-Fi test; picoquic sim_link.c",
        ),
        model(Loss, "none", "no loss", "-"),
        model(Loss, "random", "each packet independently", "-"),
        model(
            Loss,
            "gilbert-elliott",
            "bursts: a good and a bad state with their own loss rates",
            "Gilbert 1960; Elliott 1963; Hasslinger and Hohlfeld 2008",
        ),
    ];
    MODELS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_models_of_a_kind_share_a_name() {
        for (i, a) in models().iter().enumerate() {
            assert!(
                !models()[..i]
                    .iter()
                    .any(|b| (a.kind, a.name) == (b.kind, b.name)),
                "{}",
                a.name
            );
        }
    }
}
