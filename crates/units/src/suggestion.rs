//! Suggestions for mistyped names.

/// How similar two words must be, from 0 (nothing in common) to 1: at most two edits in five letters.
const ALIKE: f64 = 0.6;

/// ` (did you mean "cubic"?)` after a word that is almost a known one; empty where none is close.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    // A word much longer than any name cannot match and is slow to compare.
    if word.len() > 60 {
        return String::new();
    }
    let word = word.trim().to_lowercase();
    let alike = |name: &str| strsim::normalized_damerau_levenshtein(&word, &name.to_lowercase());
    let close = known.into_iter().map(|name| (alike(name), name));
    let close = close.filter(|(alike, _)| *alike >= ALIKE);
    // The first of equally close names.
    let best = close.reduce(|best, other| if other.0 > best.0 { other } else { best });
    best.map_or_else(String::new, |(_, name)| {
        format!(" (did you mean \"{name}\"?)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_name_is_suggested_and_none_where_none_is_close() {
        let names = ["c4", "cubic", "reno", "bbr", "bbr1", "prague"];
        let cubic = " (did you mean \"cubic\"?)";
        for (word, hint) in [
            ("cubik", cubic),
            ("CUBIC", cubic),
            ("cubci", cubic),
            ("bbr2", " (did you mean \"bbr\"?)"),
            ("vegas", ""),
            ("", ""),
        ] {
            assert_eq!(did_you_mean(word, names), hint, "{word}");
        }
        assert_eq!(did_you_mean(&"cubic".repeat(1_000_000), names), "");
    }
}
