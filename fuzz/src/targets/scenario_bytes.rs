//! Shipped scenarios with bytes and lines changed, removed, doubled and exchanged.

use super::{Plays, Target};
use crate::random::Random;
use crate::{shipped, trial};

pub(super) const TARGET: Target = Target {
    name: "scenario-bytes",
    ending: "toml",
    plays: Plays::Engine {
        make,
        check: trial::check,
    },
};

const WORDS: &[&str] = &[
    "\"",
    "\"\"\"",
    "[[",
    "]]",
    "[",
    "]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "#",
    "\n",
    "\r",
    "\t",
    "\0",
    "\u{feff}",
    "é",
    "0",
    "9",
    "-",
    "+",
    "e",
    "inf",
    "nan",
    "0x",
    "1979-05-27",
    "ms",
    " s",
    " us",
    "kbps",
    "Gbps",
    "GB",
    "%",
    "h",
    "[path]",
    "[[flow]]",
    "[[link]]",
    "[[path.change]]",
    "0 bps",
    "0 s",
    "99999999999999999999",
];

fn make(random: &mut Random) -> Vec<u8> {
    let files = shipped::scenarios();
    let mut text = random.choose(files).clone().into_bytes();
    for _ in 0..random.magnitude(1, 20) {
        let length = text.len() as u64;
        let position = random.below(length + 1) as usize;
        let end = (position + random.magnitude(1, 60) as usize).min(text.len());
        match random.below(9) {
            0 => drop(text.drain(position..end)),
            1 => text.insert(position, random.any() as u8),
            2 if position < text.len() => text[position] ^= 1 << random.below(8),
            3 => {
                let copy = text[position..end].to_vec();
                let at = random.below(length + 1) as usize;
                text.splice(at..at, copy);
            }
            4 => {
                // A digit becomes another, a value stays a value.
                let digits: Vec<usize> = (0..text.len())
                    .filter(|i| text[*i].is_ascii_digit())
                    .collect();
                if !digits.is_empty() {
                    text[*random.choose(&digits)] = b'0' + random.below(10) as u8;
                }
            }
            5 => {
                let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
                let (a, b) = (
                    random.below(lines.len() as u64),
                    random.below(lines.len() as u64),
                );
                lines.swap(a as usize, b as usize);
                text = lines.join(&b'\n');
            }
            6 => {
                let other = random.choose(files).as_bytes();
                let from = random.below(other.len() as u64) as usize;
                let to = (from + random.magnitude(1, 200) as usize).min(other.len());
                text.splice(position..position, other[from..to].iter().copied());
            }
            _ => {
                let word = random.choose(WORDS).bytes();
                text.splice(position..position, word);
            }
        }
    }
    text
}
