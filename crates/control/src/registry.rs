//! Every controller by name, with typed and checked options.
//!
//! [`ENTRIES`] are the controllers of this crate. A [`Registry`] is a value: it begins with them, a program adds its own
//! entries ([`Registry::add`]), and a [`Resolver`] may know controllers that no list has, such as those in a user's files.

use crate::spec::Factory;
use crate::{Controller, ControllerSpec, Init, OptionDoc, Options, SpecError};
use std::sync::Arc;
use thalweg_units::did_you_mean;

/// One controller of the registry.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Name, as written in scenarios.
    pub name: &'static str,
    /// Description in one line.
    pub title: &'static str,
    /// The document that it follows.
    pub source: &'static str,
    /// Options that may follow the name.
    pub options: &'static [OptionDoc],
    /// Makes one, bound to a flow.
    pub build: fn(&Options, &Init) -> Box<dyn Controller>,
}

/// The controllers of this crate, in display order.
pub static ENTRIES: &[Entry] = &[
    crate::c4::ENTRY,
    crate::cubic::ENTRY,
    crate::reno::ENTRY,
    crate::bbr::ENTRY,
    crate::bbr1::ENTRY,
    crate::prague::ENTRY,
    crate::cbr::ENTRY,
];

/// What others call a flow without congestion control.
const CALLED_CBR: [&str; 3] = ["constant", "udp", "unresponsive"];

/// Knows controllers that are not in a list, by texts that no entry could have.
pub trait Resolver: Send + Sync {
    /// The controller that `text` names; `None` if the text is not one of this resolver's.
    fn resolve(&self, text: &str) -> Option<Result<ControllerSpec, SpecError>>;
}

/// The controllers that scenarios can name.
///
/// ```
/// use thalweg_control::registry::{ENTRIES, Entry, Registry};
///
/// let mut registry = Registry::standard();
/// let ours = Entry { name: "mine", ..ENTRIES[0] };
/// registry.add(ours).unwrap();
/// assert!(registry.read("mine").is_ok() && registry.read("cubic:start=classic").is_ok());
/// assert!(registry.add(ours).is_err(), "the name is taken");
/// ```
#[derive(Clone)]
pub struct Registry {
    entries: Vec<Entry>,
    resolver: Option<Arc<dyn Resolver>>,
}

impl Registry {
    /// The controllers of this crate.
    pub fn standard() -> Self {
        Registry {
            entries: ENTRIES.to_vec(),
            resolver: None,
        }
    }

    /// Adds a controller under a name of its own.
    ///
    /// # Errors
    /// If the name is taken, or if texts could not name it: names are letters, digits, `-` and `_`.
    pub fn add(&mut self, entry: Entry) -> Result<(), String> {
        let name = entry.name;
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(fits) {
            return Err(format!(
                "\"{name}\" is no name; accepted: letters, digits, - and _"
            ));
        }
        if self.entries.iter().any(|known| known.name == name) {
            return Err(format!(
                "there is a controller \"{name}\" already; accepted: a name that is free"
            ));
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Has `resolver` asked first for every text.
    pub fn with_resolver(mut self, resolver: Arc<dyn Resolver>) -> Self {
        self.resolver = Some(resolver);
        self
    }

    /// The controllers that have a name here, in the order in which lists show them.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Reads `name` or `name:option=value,option=value`; a flag may stand alone for `=on`.
    ///
    /// # Errors
    /// If there is no such controller, or if it has no such option or value.
    pub fn read(&self, text: &str) -> Result<ControllerSpec, SpecError> {
        let resolver = self.resolver.as_ref();
        if let Some(resolved) = resolver.and_then(|resolver| resolver.resolve(text)) {
            return resolved;
        }
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let found = self.entries.iter().find(|entry| entry.name == name.trim());
        let entry = *found.ok_or_else(|| SpecError::Name {
            name: name.to_owned(),
            hint: match CALLED_CBR.contains(&name.trim()) {
                true => format!(" (did you mean \"{}\"?)", crate::cbr::ENTRY.name),
                false => did_you_mean(name, self.entries.iter().map(|entry| entry.name)),
            },
            accepted: names(self.entries.iter().map(|entry| entry.name)),
        })?;
        let options = entry.read_options(rest)?;
        Ok(ControllerSpec::new(
            text,
            Arc::new(Chosen { entry, options }),
        ))
    }
}

impl Default for Registry {
    fn default() -> Self {
        Registry::standard()
    }
}

/// An entry with its options.
struct Chosen {
    entry: Entry,
    options: Options,
}

impl Factory for Chosen {
    fn build(&self, init: &Init) -> Box<dyn Controller> {
        (self.entry.build)(&self.options, init)
    }
}

impl Entry {
    /// Options by their text, defaults included.
    fn read_options(&self, text: &str) -> Result<Options, SpecError> {
        let defaults = self.options.iter();
        let mut options = Options(
            defaults
                .map(|doc| (doc.name, doc.default.to_owned()))
                .collect(),
        );
        let mut given = Vec::new();
        let parts = text.split(',').map(str::trim);
        for part in parts.filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, "on"));
            let (key, value) = (key.trim(), value.trim());
            let found = self.options.iter().find(|doc| doc.name == key);
            let doc = found.ok_or_else(|| SpecError::Option {
                controller: self.name,
                option: key.to_owned(),
                hint: did_you_mean(key, self.options.iter().map(|doc| doc.name)),
                accepted: names(self.options.iter().map(|doc| doc.name)),
            })?;
            if !doc.kind.accepts(value) {
                return Err(SpecError::Value {
                    controller: self.name,
                    option: doc.name,
                    value: value.to_owned(),
                    accepted: doc.kind.accepted(),
                });
            }
            if given.contains(&doc.name) {
                return Err(SpecError::Twice {
                    controller: self.name,
                    option: doc.name,
                });
            }
            given.push(doc.name);
            options.0.insert(doc.name, value.to_owned());
        }
        Ok(options)
    }
}

fn names(all: impl Iterator<Item = &'static str>) -> String {
    let all: Vec<_> = all.collect();
    match all.is_empty() {
        true => "none".to_owned(),
        false => all.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_builds_with_its_defaults_every_choice_and_every_bound() {
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
                if let crate::OptionKind::Number(low, high) = doc.kind {
                    for number in [low, high] {
                        let text = format!("{}:{}={number}", entry.name, doc.name);
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

    #[test]
    fn an_option_that_is_given_twice_is_refused() {
        for text in ["cubic:beta=0.5,beta=0.8", "cubic:beta=0.5, beta=0.5"] {
            let error = text.parse::<ControllerSpec>().unwrap_err().to_string();
            let said = "option \"beta\" of \"cubic\" is given twice; accepted: each option once";
            assert_eq!(error, said, "{text}");
        }
        assert!("cubic:beta=0.5,c=0.4".parse::<ControllerSpec>().is_ok());
    }

    #[test]
    fn a_name_that_no_text_could_have_is_refused() {
        for name in ["", "a:b", "a b", "./a", "cubic"] {
            let entry = Entry { name, ..ENTRIES[0] };
            assert!(Registry::standard().add(entry).is_err(), "{name}");
        }
    }

    #[test]
    fn a_resolver_is_asked_before_the_list_and_only_for_what_is_its_own() {
        struct Renamed;
        impl Resolver for Renamed {
            fn resolve(&self, text: &str) -> Option<Result<ControllerSpec, SpecError>> {
                let name = text.strip_prefix("our:")?;
                Some(name.parse())
            }
        }
        let registry = Registry::standard().with_resolver(Arc::new(Renamed));
        assert!(registry.read("our:reno").is_ok() && registry.read("reno").is_ok());
        assert!(registry.read("our:none").is_err() && registry.read("their:reno").is_err());
    }
}
