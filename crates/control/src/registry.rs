//! Every controller by name, with typed and checked options.

use crate::{Controller, Init, OptionDoc, Options};
use std::fmt;
use std::str::FromStr;

/// One controller of the registry.
pub struct Entry {
    /// Name, as written in scenarios.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// The document that it follows.
    pub source: &'static str,
    /// Options that may follow the name.
    pub options: &'static [OptionDoc],
    /// Makes one, bound to a flow.
    pub build: fn(&Options, &Init) -> Box<dyn Controller>,
}

/// All controllers, in the order in which lists show them.
pub static ENTRIES: &[Entry] = &[
    crate::c4::ENTRY,
    crate::cubic::ENTRY,
    crate::reno::ENTRY,
    crate::bbr::ENTRY,
    crate::bbr1::ENTRY,
    crate::prague::ENTRY,
];

/// A controller and its options as a scenario names them: `cubic`, `c4:variant=v1`.
#[derive(Clone)]
pub struct ControllerSpec {
    entry: &'static Entry,
    options: Options,
    text: String,
}

impl ControllerSpec {
    /// The entry of the registry.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }
    /// Makes the controller.
    pub fn build(&self, init: &Init) -> Box<dyn Controller> {
        (self.entry.build)(&self.options, init)
    }
    /// The text that it was read from.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for ControllerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ControllerSpec({})", self.text)
    }
}
impl fmt::Display for ControllerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
impl PartialEq for ControllerSpec {
    fn eq(&self, other: &Self) -> bool {
        self.entry.name == other.entry.name && self.options == other.options
    }
}

/// Why a text names no controller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The name is not in the registry.
    #[error("unknown controller \"{name}\"; accepted: {accepted}")]
    Name {
        /// What was written.
        name: String,
        /// The names of the registry.
        accepted: String,
    },
    /// The controller has no such option.
    #[error("controller \"{controller}\" has no option \"{option}\"; accepted: {accepted}")]
    Option {
        /// The controller.
        controller: &'static str,
        /// What was written.
        option: String,
        /// The options that it has.
        accepted: String,
    },
    /// The option does not take that value.
    #[error("option \"{option}\" of \"{controller}\" cannot be \"{value}\"; accepted: {accepted}")]
    Value {
        /// The controller.
        controller: &'static str,
        /// The option.
        option: &'static str,
        /// What was written.
        value: String,
        /// The values that it takes.
        accepted: String,
    },
}

impl FromStr for ControllerSpec {
    type Err = SpecError;

    /// Reads `name` or `name:option=value,option=value`; a flag may stand alone for `=on`.
    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let entry = ENTRIES
            .iter()
            .find(|e| e.name == name.trim())
            .ok_or_else(|| {
                let names: Vec<_> = ENTRIES.iter().map(|e| e.name).collect();
                SpecError::Name {
                    name: name.to_owned(),
                    accepted: names.join(", "),
                }
            })?;
        let mut options = Options::default();
        for doc in entry.options {
            options.0.insert(doc.name, doc.default.to_owned());
        }
        for part in rest
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let (key, value) = part.split_once('=').unwrap_or((part, "on"));
            let (key, value) = (key.trim(), value.trim());
            let doc = entry
                .options
                .iter()
                .find(|doc| doc.name == key)
                .ok_or_else(|| {
                    let names: Vec<_> = entry.options.iter().map(|doc| doc.name).collect();
                    let accepted = if names.is_empty() {
                        "none".into()
                    } else {
                        names.join(", ")
                    };
                    SpecError::Option {
                        controller: entry.name,
                        option: key.to_owned(),
                        accepted,
                    }
                })?;
            if !doc.kind.accepts(value) {
                return Err(SpecError::Value {
                    controller: entry.name,
                    option: doc.name,
                    value: value.to_owned(),
                    accepted: doc.kind.accepted(),
                });
            }
            options.0.insert(doc.name, value.to_owned());
        }
        Ok(ControllerSpec {
            entry,
            options,
            text: text.trim().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_builds_with_its_defaults_and_with_every_choice() {
        let init = Init {
            now: thalweg_units::Instant::START,
            mtu: thalweg_units::Bytes::new(1440),
            initial_window: thalweg_units::Bytes::new(15_360),
        };
        for entry in ENTRIES {
            let spec: ControllerSpec = entry.name.parse().unwrap();
            assert!(
                spec.build(&init).control().window.as_u64() > 0,
                "{}",
                entry.name
            );
            for doc in entry.options {
                assert!(doc.kind.accepts(doc.default), "{}:{}", entry.name, doc.name);
                if let crate::OptionKind::Choice(words) = doc.kind {
                    for word in words {
                        let text = format!("{}:{}={word}", entry.name, doc.name);
                        text.parse::<ControllerSpec>().unwrap().build(&init);
                    }
                }
            }
        }
    }

    #[test]
    fn a_refused_name_lists_the_known_ones() {
        let error = "vegas".parse::<ControllerSpec>().unwrap_err().to_string();
        for entry in ENTRIES {
            assert!(error.contains(entry.name), "{error}");
        }
    }
}
