//! Profiles of cross traffic: bytes in bins, as a passive trace of a link gives them.
//!
//! # Format
//! A text with one whole number on each line, the bytes of a bin, where the scenario gives the length of all bins; or with two
//! whole numbers, apart from each other by a comma or a space: a time in microseconds, and the bytes from then until the time of
//! the next line. The last of these bins is as long as the one before it. Nothing is sent before the first time.

use thalweg_units::{Duration, Rate};

/// Bits of a byte in the unit of [`Bin::amount`].
const NANOBITS_PER_BYTE: u128 = 8_000_000_000;
/// Longest bin, and longest profile; catches typing mistakes.
const LONGEST: Duration = Duration::from_secs(86_400);
/// Most bytes of a bin: what 1 Tbps sends in the longest.
const MOST: u64 = 10_800_000_000_000_000;

/// What is sent in a span of time, evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bin {
    pub(crate) length: Duration,
    /// Billionths of bits: a rate in bits per second times a time in nanoseconds.
    pub(crate) amount: u128,
}

/// Bytes in bins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) bins: Vec<Bin>,
}

/// Why a text is not a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProfileError {
    /// Counted from 1.
    pub(crate) line: usize,
    /// What is wrong, and the accepted forms.
    pub(crate) problem: String,
}

/// Whether each line has one number or two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    Bytes,
    TimesAndBytes,
}

/// The form of a text, by its first line.
pub(crate) fn columns(text: &str) -> Columns {
    let first = text.lines().find(|line| !line.trim().is_empty());
    match first.map_or(1, |line| numbers(line).count()) {
        1 => Columns::Bytes,
        _ => Columns::TimesAndBytes,
    }
}

fn numbers(line: &str) -> impl Iterator<Item = &str> {
    line.split([',', ' ', '\t', '\r'])
        .filter(|word| !word.is_empty())
}

/// The numbers of a text of this form, line by line, as words.
pub(crate) fn read(text: &str, columns: Columns) -> Result<Vec<u64>, ProfileError> {
    let (count, accepted) = match columns {
        Columns::Bytes => (1, "a whole number of bytes on each line, such as 15000"),
        Columns::TimesAndBytes => (
            2,
            "a time in microseconds and a number of bytes on each line, such as 20000,15000",
        ),
    };
    let mut all = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let words: Option<Vec<u64>> = numbers(line).map(|word| word.parse().ok()).collect();
        let fits = |numbers: &Vec<u64>| numbers.len() == count && numbers[count - 1] <= MOST;
        let Some(words) = words.filter(fits) else {
            let line: String = line.trim().chars().take(40).collect();
            return Err(ProfileError {
                line: index + 1,
                problem: format!("\"{line}\" is not a line of a profile; accepted: {accepted}"),
            });
        };
        if let [time, _] = words[..] {
            let before = all
                .len()
                .checked_sub(2)
                .map(|position: usize| all[position]);
            let rises = before.is_none_or(|before| time > before);
            if !rises || Duration::from_micros(time.min(u64::MAX / 1000)) > LONGEST {
                return Err(ProfileError {
                    line: index + 1,
                    problem: format!(
                        "the time {time} does not rise, or is beyond a day; accepted: {accepted}"
                    ),
                });
            }
        }
        all.extend(words);
    }
    if all.len() < 2 * count - 1 {
        return Err(ProfileError {
            line: text.lines().count().max(1),
            problem: format!("there are too few bins; accepted: {accepted}"),
        });
    }
    Ok(all)
}

impl Profile {
    /// A profile of bins of one length.
    pub(crate) fn of_bytes(bytes: &[u64], length: Duration) -> Self {
        let bin = |bytes: &u64| bin(length, *bytes);
        Profile {
            bins: bytes.iter().map(bin).collect(),
        }
    }

    /// A profile from times and bytes, in turn.
    pub(crate) fn of_times_and_bytes(numbers: &[u64]) -> Self {
        let rows: Vec<(u64, u64)> = numbers
            .chunks_exact(2)
            .map(|row| (row[0], row[1]))
            .collect();
        let mut bins = Vec::with_capacity(rows.len() + 1);
        if let Some((first, _)) = rows.first().filter(|(first, _)| *first > 0) {
            bins.push(bin(Duration::from_micros(*first), 0));
        }
        let mut length = Duration::ZERO;
        for (index, (time, bytes)) in rows.iter().enumerate() {
            if let Some((next, _)) = rows.get(index + 1) {
                length = Duration::from_micros(next - time);
            }
            bins.push(bin(length, *bytes));
        }
        Profile { bins }
    }

    /// Its length.
    pub(crate) fn period(&self) -> Duration {
        (self.bins.iter()).fold(Duration::ZERO, |sum, bin| sum + bin.length)
    }

    /// All bytes, rounded down.
    pub(crate) fn bytes(&self) -> u128 {
        self.total() / NANOBITS_PER_BYTE
    }

    fn total(&self) -> u128 {
        self.bins.iter().map(|bin| bin.amount).sum()
    }

    /// The bin with the largest rate, in bits per second.
    pub(crate) fn peak(&self) -> u128 {
        let rate = |bin: &Bin| bin.amount / u128::from(bin.length.as_nanos().max(1));
        self.bins.iter().map(rate).max().unwrap_or(0)
    }

    /// The same profile with another mean rate. Each bin is rounded down, to a billionth of a bit.
    pub(crate) fn scaled_to(mut self, rate: Rate) -> Self {
        let total = self.total().max(1) / NANOBITS_PER_BYTE;
        let wanted = u128::from(rate.as_bits_per_sec()) * u128::from(self.period().as_nanos());
        let (whole, rest) = (wanted / total, wanted % total);
        for bin in &mut self.bins {
            let bytes = bin.amount / NANOBITS_PER_BYTE;
            bin.amount = bytes * whole + bytes * rest / total;
        }
        self
    }
}

fn bin(length: Duration, bytes: u64) -> Bin {
    Bin {
        length,
        amount: u128::from(bytes) * NANOBITS_PER_BYTE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_bytes_of_a_bin_or_a_time_before_them() {
        let bytes = "1500\n\n0\n3000\n";
        assert_eq!(columns(bytes), Columns::Bytes);
        let read_bytes = read(bytes, Columns::Bytes).unwrap();
        let profile = Profile::of_bytes(&read_bytes, Duration::from_millis(10));
        assert_eq!(profile.period(), Duration::from_millis(30));
        assert_eq!(profile.bytes(), 4500);
        // 3000 B in 10 ms are 2.4 Mbps.
        assert_eq!(profile.peak(), 2_400_000);

        let times = "5000,1500\n15000 0\r\n20000,\t3000\n";
        assert_eq!(columns(times), Columns::TimesAndBytes);
        let profile = Profile::of_times_and_bytes(&read(times, Columns::TimesAndBytes).unwrap());
        let lengths: Vec<u64> = profile
            .bins
            .iter()
            .map(|bin| bin.length.as_micros())
            .collect();
        // Nothing for 5 ms, 1500 B in 10 ms, nothing in 5 ms, and 3000 B in as long a time as the bin before.
        assert_eq!(lengths, [5000, 10_000, 5000, 5000]);
        assert_eq!(profile.bytes(), 4500);
    }

    #[test]
    fn a_profile_that_is_scaled_has_the_mean_rate_asked_for() {
        let profile = Profile::of_bytes(&[1000, 0, 2001], Duration::from_millis(7));
        let rate = Rate::from_bits_per_sec(12_345_678);
        let scaled = profile.scaled_to(rate);
        // 12 345 678 bit/s for 21 ms are 259 259.238 bits; each of the two bins is rounded down.
        let wanted = 12_345_678 * 21_000_000;
        assert!(
            (wanted - 2..=wanted).contains(&scaled.total()),
            "{}",
            scaled.total()
        );
        assert_eq!(scaled.bins[1].amount, 0);
    }

    #[test]
    fn a_wrong_line_is_named() {
        let problem = |text: &str| {
            let error = read(text, columns(text)).unwrap_err();
            format!("{}: {}", error.line, error.problem)
        };
        insta::assert_snapshot!(
            [
                "1500\nfast\n",
                "1500\n-3\n",
                "10 20\n30\n",
                "10 20\n10 30\n",
                "10 20\n",
                "\n",
                "99999999999999999 4\n99999999999999999999 5\n",
            ]
            .map(problem)
            .join("\n"),
            @r##"
            2: "fast" is not a line of a profile; accepted: a whole number of bytes on each line, such as 15000
            2: "-3" is not a line of a profile; accepted: a whole number of bytes on each line, such as 15000
            2: "30" is not a line of a profile; accepted: a time in microseconds and a number of bytes on each line, such as 20000,15000
            2: the time 10 does not rise, or is beyond a day; accepted: a time in microseconds and a number of bytes on each line, such as 20000,15000
            1: there are too few bins; accepted: a time in microseconds and a number of bytes on each line, such as 20000,15000
            1: there are too few bins; accepted: a whole number of bytes on each line, such as 15000
            1: the time 99999999999999999 does not rise, or is beyond a day; accepted: a time in microseconds and a number of bytes on each line, such as 20000,15000
            "##
        );
    }
}
