//! The catalogue of capacity, medium, policer, queue, jitter, ECN and loss models, for `thalweg list models`.

/// What a model describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// What the transmitter can send at which time.
    Capacity,
    /// How the two links of a hop share a medium.
    Medium,
    /// What is dropped or marked before the queue.
    Policer,
    /// A queue discipline.
    Queue,
    /// A distribution of extra delay.
    Jitter,
    /// What becomes of ECN codepoints.
    Ecn,
    /// A process of loss.
    Loss,
}

impl ModelKind {
    /// Its name in lists.
    pub fn name(&self) -> &'static str {
        match self {
            ModelKind::Capacity => "capacity",
            ModelKind::Medium => "medium",
            ModelKind::Policer => "policer",
            ModelKind::Queue => "queue",
            ModelKind::Jitter => "jitter",
            ModelKind::Ecn => "ecn",
            ModelKind::Loss => "loss",
        }
    }
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
    use ModelKind::{Capacity, Ecn, Jitter, Loss, Medium, Policer, Queue};
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
            Capacity,
            "schedule",
            "constant rates that change at given times, repeated or not",
            "-",
        ),
        model(
            Capacity,
            "trace",
            "opportunities of 1500 bytes at recorded milliseconds, repeated",
            "Mahimahi mm-link; Netravali et al. 2015, Winstein et al. 2013",
        ),
        model(
            Capacity,
            "noise",
            "a normal draw per interval on capacity and delay, truncated at 3 deviations",
            "Transient performance of congestion control, SIGCOMM 2021 poster",
        ),
        model(
            Medium,
            "half-duplex",
            "one direction transmits at a time; under load they take turns",
            "IEEE 802.11, constants of its distributed coordination function",
        ),
        model(
            Medium,
            "wifi",
            "access point, client and neighbours contend: backoff, collisions, aggregates, repeats",
            "IEEE 802.11-2020, 10.3 and 10.23; Bianchi 2000",
        ),
        model(Policer, "none", "no policer", "-"),
        model(
            Policer,
            "token-bucket",
            "drops or marks what exceeds a rate and a burst",
            "RFC 2697 section 3, with one bucket",
        ),
        model(
            Queue,
            "drop-tail",
            "first in, first out; drops what does not fit",
            "RFC 7567 section 2",
        ),
        model(
            Queue,
            "head-drop",
            "first in, first out; what does not fit displaces the oldest packets",
            "RFC 7567 section 2",
        ),
        model(
            Queue,
            "red",
            "drops with a probability linear in the average length of the queue",
            "Floyd and Jacobson 1993; gentle variant: Floyd 2000; RFC 2309",
        ),
        model(
            Queue,
            "codel",
            "drops from the head at a growing rate while the queue delay stays above a target",
            "RFC 8289",
        ),
        model(
            Queue,
            "fq-codel",
            "deficit round robin among flows, new ones first, each under CoDel",
            "RFC 8290",
        ),
        model(
            Queue,
            "cake",
            "a shaper, and deficit round robin among flows, each under CoDel and BLUE",
            "Høiland-Jørgensen et al. 2018; Linux, sch_cake.c",
        ),
        model(
            Queue,
            "pie",
            "drops with a probability controlled by the delay and its growth",
            "RFC 8033",
        ),
        model(
            Queue,
            "dualpi2",
            "a shallow queue for L4S coupled to a PI-squared queue for the rest",
            "RFC 9332 appendix A",
        ),
        model(
            Queue,
            "step",
            "marks every packet that finds more than a threshold waiting, for DCTCP",
            "RFC 8257 section 3.1",
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
            "normal, redrawn until it is between two bounds",
            "-",
        ),
        model(
            Jitter,
            "wifi",
            "Poisson of 1 ms steps, and rare Poisson of 7.5 ms steps around 90 ms; the mean sets how rare",
            "draft-huitema-ccwg-c4-test, Bad Wi-Fi test; picoquic sim_link.c",
        ),
        model(
            Jitter,
            "two-components",
            "wifi with explicit share of long delays and both scales",
            "fitted by thalweg probe analyze",
        ),
        model(
            Jitter,
            "trace",
            "a measured series of delays over time, replayed",
            "exported by thalweg probe export",
        ),
        model(
            Jitter,
            "bursts",
            "packets wait for the next release and come out together: aggregation",
            "-",
        ),
        model(
            Jitter,
            "nr-bpdv",
            "absolute value of a normal number, clipped, after which packets stay apart",
            "RFC 8868 section 4.5",
        ),
        model(
            Jitter,
            "reordering",
            "some packets are held until so many others have passed",
            "RFC 4737 section 4.2",
        ),
        model(Ecn, "keep", "codepoints arrive", "-"),
        model(Ecn, "bleach", "all packets arrive without a codepoint", "-"),
        model(
            Ecn,
            "hide-ce",
            "packets that carry CE arrive as if they were not marked",
            "RFC 3168 section 7",
        ),
        model(Ecn, "drop-ce", "packets that carry CE are lost", "-"),
        model(Loss, "none", "no loss", "-"),
        model(Loss, "random", "each packet independently", "-"),
        model(
            Loss,
            "gilbert-elliott",
            "bursts: a good and a bad state with their own loss rates",
            "Gilbert 1960; Elliott 1963; Hasslinger and Hohlfeld 2008; by packets or in time",
        ),
        model(
            Loss,
            "periodic",
            "one packet of so many",
            "RFC 9438 section 5.1, table 2",
        ),
        model(Loss, "scripted", "packets with given numbers", "-"),
    ];
    MODELS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_discipline_has_a_model_and_a_sample() {
        let of_queues = models()
            .iter()
            .filter(|model| model.kind == ModelKind::Queue);
        assert_eq!(of_queues.count(), crate::QueueConfig::samples().len());
    }

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
