//! Cases of targets without a file format: a line for each step, a word and numbers.
//!
//! What is missing counts as 0, so that any lines of a case are a case as well: that is what makes it small.

/// One step.
pub(crate) struct Line<'a> {
    pub(crate) word: &'a str,
    rest: Vec<&'a str>,
}

impl<'a> Line<'a> {
    /// The steps of a case; lines that begin with `#` are none.
    pub(crate) fn all(text: &'a [u8]) -> Vec<Line<'a>> {
        let text = std::str::from_utf8(text).unwrap_or_default();
        text.lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| {
                let mut words = line.split_whitespace();
                Some(Line {
                    word: words.next()?,
                    rest: words.collect(),
                })
            })
            .collect()
    }

    /// Number `position` after the word.
    pub(crate) fn number(&self, position: usize) -> u64 {
        let word = self.rest.get(position).and_then(|word| word.parse().ok());
        word.unwrap_or(0)
    }

    /// Text number `position` after the word.
    pub(crate) fn text(&self, position: usize) -> &'a str {
        self.rest.get(position).copied().unwrap_or_default()
    }
}

/// Writes a step.
pub(crate) fn step(script: &mut String, word: &str, numbers: &[u64]) {
    script.push_str(word);
    for number in numbers {
        script.push(' ');
        script.push_str(&number.to_string());
    }
    script.push('\n');
}
