//! Options in the name of a controller: `c4:variant=v1`, `cubic:start=classic`.

use std::collections::BTreeMap;
use thalweg_units::{Duration, Ecn, Rate};

/// Where the variants of `thalweg-reference` are.
pub(crate) const IN_REFERENCE: &str = "the Python package has it, from the crate thalweg-reference";

/// The accepted values of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionKind {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A version of the controller.
    Variant {
        /// Those that its own crate has.
        here: &'static [&'static str],
        /// Those that another crate adds ([`Registry::add_variant`](crate::Registry::add_variant)).
        elsewhere: &'static [&'static str],
        /// Who has those, for whoever names one in a build without them.
        whence: &'static str,
    },
    /// `on` or `off`.
    Flag,
    /// A real number between two bounds, both included.
    Number(f64, f64),
    /// A real number between two bounds, or the name of the option whose number it has unless one is given.
    NumberOr(&'static str, f64, f64),
    /// A duration with its unit.
    Duration,
    /// A rate above zero with its unit.
    Rate,
    /// The same, or this word for what stands elsewhere.
    RateOr(&'static str),
}

/// Documentation and type of one option.
#[derive(Clone, Copy, Debug)]
pub struct OptionDoc {
    /// Name, as written before the `=`.
    pub name: &'static str,
    /// Accepted values.
    pub kind: OptionKind,
    /// Value when the option is not given.
    pub default: &'static str,
    /// What it does, in one line.
    pub meaning: &'static str,
}

impl OptionKind {
    /// The accepted values in words.
    pub fn accepted(&self) -> String {
        match self {
            OptionKind::Choice(words) | OptionKind::Variant { here: words, .. } => words.join(", "),
            OptionKind::Flag => "on, off".to_owned(),
            OptionKind::Number(low, high) => format!("a number from {low} to {high}"),
            OptionKind::NumberOr(option, low, high) => {
                format!("{option}, or a number from {low} to {high}")
            }
            OptionKind::Duration => "a duration such as 1 ms".to_owned(),
            OptionKind::Rate => "a rate above 0 such as 5 Mbps".to_owned(),
            OptionKind::RateOr(word) => format!("{word}, or a rate above 0 such as 5 Mbps"),
        }
    }

    /// One text for all that mean the same.
    pub(crate) fn normal(&self, value: &str) -> String {
        let found = match self {
            OptionKind::Number(..) | OptionKind::NumberOr(..) => {
                value.parse::<f64>().ok().map(|number| number.to_string())
            }
            OptionKind::Duration => value.parse::<Duration>().ok().map(|time| time.to_string()),
            OptionKind::Rate | OptionKind::RateOr(_) => {
                value.parse::<Rate>().ok().map(|rate| rate.to_string())
            }
            OptionKind::Choice(_) | OptionKind::Variant { .. } | OptionKind::Flag => None,
        };
        found.unwrap_or_else(|| value.to_owned())
    }

    pub(crate) fn accepts(&self, value: &str) -> bool {
        match self {
            OptionKind::Choice(words) | OptionKind::Variant { here: words, .. } => {
                words.contains(&value)
            }
            OptionKind::Flag => matches!(value, "on" | "off"),
            OptionKind::Number(low, high) => is_between(value, *low, *high),
            OptionKind::NumberOr(option, low, high) => {
                value == *option || is_between(value, *low, *high)
            }
            OptionKind::Duration => value.parse::<Duration>().is_ok(),
            OptionKind::Rate => value.parse::<Rate>().is_ok_and(|rate| !rate.is_zero()),
            OptionKind::RateOr(word) => value == *word || OptionKind::Rate.accepts(value),
        }
    }
}

fn is_between(value: &str, low: f64, high: f64) -> bool {
    value
        .parse::<f64>()
        .is_ok_and(|number| low <= number && number <= high)
}

/// Checked option values of one controller, defaults included. The getters panic only on names that the
/// controller's own [`OptionDoc`] list does not have, which the tests of the registry rule out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(pub(crate) BTreeMap<&'static str, String>);

impl Options {
    /// The value as text.
    pub fn text(&self, name: &str) -> &str {
        &self.0[name]
    }
    /// The value of a [`OptionKind::Flag`].
    pub fn flag(&self, name: &str) -> bool {
        self.text(name) == "on"
    }
    /// The codepoint of a Classic controller, by its flag `ecn`: ECT(0), or Not-ECT.
    pub(crate) fn classic_ecn(&self) -> Ecn {
        match self.flag("ecn") {
            true => Ecn::Ect0,
            false => Ecn::NotEct,
        }
    }
    /// The value of a [`OptionKind::Number`].
    pub fn number(&self, name: &str) -> f64 {
        self.text(name)
            .parse()
            .expect("checked when the option was read")
    }
    /// The value of a [`OptionKind::NumberOr`].
    pub fn number_or(&self, name: &str) -> f64 {
        let text = self.text(name);
        text.parse().unwrap_or_else(|_| self.number(text))
    }
    /// The value of a [`OptionKind::Duration`].
    pub fn duration(&self, name: &str) -> Duration {
        self.text(name)
            .parse()
            .expect("checked when the option was read")
    }
    /// The value of a [`OptionKind::RateOr`], unless it is the word.
    pub fn rate_or(&self, name: &str) -> Option<Rate> {
        self.text(name).parse().ok()
    }
    /// The value of a [`OptionKind::Rate`].
    pub fn rate(&self, name: &str) -> Rate {
        self.text(name)
            .parse()
            .expect("checked when the option was read")
    }
}
