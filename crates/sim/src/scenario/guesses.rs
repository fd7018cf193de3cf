//! What keys and metrics are called elsewhere, by newcomers who guess.

use thalweg_units::did_you_mean;

/// A word, the key or metric of ours that means it, and what to know about that.
const GUESSES: [(&str, &str, &str); 32] = [
    ("bandwidth", "rate", ""),
    ("bw", "rate", ""),
    ("capacity", "rate", ""),
    ("goodput", "rate", ""),
    ("throughput", "rate", ""),
    ("delay", "rtt", ", of both directions together"),
    ("latency", "rtt", ", of both directions together"),
    ("owd", "rtt", ", of both directions together"),
    ("ping", "rtt", ""),
    ("rtt", "delay", ", one way"),
    ("latency", "delay", ", one way"),
    ("owd", "delay", ", one way"),
    ("up_rtt", "up_delay", ", one way"),
    ("up_latency", "up_delay", ", one way"),
    ("aqm", "queue", ""),
    ("qdisc", "queue", ""),
    ("buffer_size", "buffer", ""),
    ("queue_size", "buffer", ""),
    ("packet_loss", "loss", ""),
    ("plr", "loss", ""),
    ("retransmissions", "loss", ""),
    ("algorithm", "controller", ""),
    ("cc", "controller", ""),
    ("congestion_control", "controller", ""),
    ("bytes", "download", ""),
    ("size", "download", ""),
    ("duration", "time_limit", ""),
    ("fct", "completion", ""),
    ("duration", "completion", ""),
    ("fairness", "share", ""),
    ("less_than", "at_most", ""),
    ("more_than", "at_least", ""),
];

/// ` (did you mean "rate"?)` after a word that is not among the known ones: one that is called like this elsewhere, or
/// one that is spelled almost alike. Empty if there is none.
pub(crate) fn hint<'k>(word: &str, known: impl IntoIterator<Item = &'k str> + Clone) -> String {
    match guessed(word, |ours| {
        known.clone().into_iter().any(|one| one == ours)
    }) {
        Some((ours, remark)) => format!(" (did you mean \"{ours}\"{remark}?)"),
        None => did_you_mean(word, known),
    }
}

/// Which of ours a word stands for where `is_known` has it, and what to know about that.
pub(crate) fn guessed(
    word: &str,
    is_known: impl Fn(&str) -> bool,
) -> Option<(&'static str, &'static str)> {
    let word = word.trim().to_lowercase().replace('-', "_");
    let guesses = GUESSES.iter().filter(|(guess, _, _)| *guess == word);
    let mut known = guesses.filter(|(_, ours, _)| is_known(ours));
    known.next().map(|(_, ours, remark)| (*ours, *remark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_elsewhere_stands_for_ours_where_that_is_known() {
        let path = ["rate", "rtt", "queue"];
        let rate = " (did you mean \"rate\"?)";
        for (word, said) in [
            ("bandwidth", rate),
            ("Throughput", rate),
            ("rat", rate),
            (
                "delay",
                " (did you mean \"rtt\", of both directions together?)",
            ),
            ("fct", ""),
            ("nonsense", ""),
        ] {
            assert_eq!(hint(word, path), said, "{word}");
        }
        assert_eq!(hint("packet-loss", ["loss"]), " (did you mean \"loss\"?)");
    }
}
