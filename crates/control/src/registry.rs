//! Every controller by name, with typed and checked options.
//!
//! [`ENTRIES`] are the controllers of this crate. A [`Registry`] is a value: it begins with them, a program adds its own
//! entries ([`Registry::add`]) and further variants of those that are there ([`Registry::add_variant`]), and a [`Resolver`]
//! may know controllers that no list has, such as those in a user's files.

use crate::realtime::rates::{MAX_RATE, MIN_RATE};
use crate::spec::Factory;
use crate::{
    Controller, ControllerSpec, Entry, Init, OptionDoc, OptionKind, Options, SpecError, Variant,
};
use std::fmt;
use std::sync::Arc;
use thalweg_units::{Rate, did_you_mean};

/// The controllers of this crate, in display order.
pub static ENTRIES: &[Entry] = &[
    crate::c4::ENTRY,
    crate::cubic::ENTRY,
    crate::reno::ENTRY,
    crate::bbr::ENTRY,
    crate::bbr1::ENTRY,
    crate::prague::ENTRY,
    crate::dctcp::ENTRY,
    crate::ledbat_pp::ENTRY,
    crate::screamv2::ENTRY,
    crate::nada::ENTRY,
    crate::gcc::ENTRY,
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
/// use thalweg_control::{Entry, Registry, registry::ENTRIES};
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
    variants: Vec<Variant>,
    resolver: Option<Arc<dyn Resolver>>,
}

impl Registry {
    /// The controllers of this crate.
    pub fn standard() -> Self {
        Registry {
            entries: ENTRIES.to_vec(),
            variants: Vec::new(),
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
                "\"{name}\" is not a name; accepted: letters, digits, - and _"
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

    /// This registry with the variants of a crate.
    ///
    /// # Panics
    /// Where [`add_variant`](Registry::add_variant) fails: crates name controllers that are here, and are free to choose names.
    #[must_use]
    pub fn with_variants(mut self, variants: &[Variant]) -> Registry {
        for &variant in variants {
            self.add_variant(variant)
                .expect("a controller that is here, and a name that is free");
        }
        self
    }

    /// Adds a variant of a controller that is here: a further value of its option `variant`.
    ///
    /// # Errors
    /// If the controller is not here or has no option `variant`, or if there is such a variant already.
    pub fn add_variant(&mut self, variant: Variant) -> Result<(), String> {
        let Variant {
            controller, name, ..
        } = variant;
        let entry = self.entries.iter().find(|entry| entry.name == controller);
        let versions = entry.and_then(|entry| {
            let mut options = entry.options.iter();
            options.find(|option| matches!(option.kind, OptionKind::Variant { .. }))
        });
        let (Some(entry), Some(versions)) = (entry, versions) else {
            return Err(format!(
                "there is no controller \"{controller}\" that has variants"
            ));
        };
        if self.choices(entry, versions).contains(&name) {
            return Err(format!(
                "there is a variant \"{name}\" of \"{controller}\" already; accepted: a name that is free"
            ));
        }
        self.variants.push(variant);
        Ok(())
    }

    /// The words that an option of an entry takes here, if it takes words: variants that were added among them.
    pub fn choices(&self, entry: &Entry, option: &OptionDoc) -> Vec<&'static str> {
        let added = self.variants.iter();
        let added = added.filter(|variant| variant.controller == entry.name);
        match option.kind {
            OptionKind::Choice(words) => words.to_vec(),
            OptionKind::Variant { here, .. } => here
                .iter()
                .copied()
                .chain(added.map(|variant| variant.name))
                .collect(),
            OptionKind::Flag
            | OptionKind::Number(..)
            | OptionKind::NumberOr(..)
            | OptionKind::Duration
            | OptionKind::Rate
            | OptionKind::RateOr(_) => Vec::new(),
        }
    }

    /// The accepted values of an option of an entry in words, variants that were added among them.
    pub fn accepted(&self, entry: &Entry, option: &OptionDoc) -> String {
        match self.choices(entry, option) {
            words if words.is_empty() => option.kind.accepted(),
            words => words.join(", "),
        }
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
        let options = self.read_options(&entry, rest)?;
        let added = self.variants.iter().find(|variant| {
            variant.controller == entry.name
                && options
                    .0
                    .get("variant")
                    .is_some_and(|is| is == variant.name)
        });
        let build = added.map_or(entry.build, |variant| variant.build);
        Ok(ControllerSpec::new(
            text,
            Arc::new(Chosen { build, options }),
        ))
    }

    /// The shortest text for the same controller with the same options, which are in a fixed order; `None` for a text that
    /// names none of the list.
    ///
    /// ```
    /// use thalweg_control::Registry;
    ///
    /// let normal = |text| Registry::standard().normal(text).unwrap();
    /// assert_eq!(normal("cubic:beta=0.70"), "cubic");
    /// assert_eq!(normal("cubic: c=0.5 ,beta=0.80"), normal("cubic:beta=0.8,c=0.5"));
    /// ```
    pub fn normal(&self, text: &str) -> Option<String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let entry = (self.entries.iter()).find(|entry| entry.name == name.trim())?;
        let options = self.read_options(entry, rest).ok()?;
        let changed = entry.options.iter().filter_map(|doc| {
            let value = doc.kind.normal(options.text(doc.name));
            (value != doc.kind.normal(doc.default)).then(|| format!("{}={value}", doc.name))
        });
        let changed: Vec<String> = changed.collect();
        Some(match changed.is_empty() {
            true => entry.name.to_owned(),
            false => format!("{}:{}", entry.name, changed.join(",")),
        })
    }

    /// The least and the largest rate that a text gives a controller of real-time media, where it gives them.
    pub fn given_rates(&self, text: &str) -> [(&'static str, Option<Rate>); 2] {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let entry = self.entries.iter().find(|entry| entry.name == name.trim());
        let options = entry.and_then(|entry| self.read_options(entry, rest).ok());
        [MIN_RATE, MAX_RATE].map(|doc| {
            let given = |options: &Options| options.0.get(doc.name)?.parse().ok();
            (doc.name, options.as_ref().and_then(given))
        })
    }

    /// Options by their text, defaults included.
    fn read_options(&self, entry: &Entry, text: &str) -> Result<Options, SpecError> {
        let defaults = entry.options.iter();
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
            let found = entry.options.iter().find(|doc| doc.name == key);
            let doc = found.ok_or_else(|| SpecError::Option {
                controller: entry.name,
                option: key.to_owned(),
                hint: did_you_mean(key, entry.options.iter().map(|doc| doc.name)),
                accepted: names(entry.options.iter().map(|doc| doc.name)),
            })?;
            if !doc.kind.accepts(value) && !self.choices(entry, doc).contains(&value) {
                return Err(self.refused(entry, doc, value));
            }
            if given.contains(&doc.name) {
                return Err(SpecError::Twice {
                    controller: entry.name,
                    option: doc.name,
                });
            }
            given.push(doc.name);
            options.0.insert(doc.name, value.to_owned());
        }
        Ok(options)
    }

    /// Why the option does not take that value.
    fn refused(&self, entry: &Entry, option: &OptionDoc, value: &str) -> SpecError {
        let accepted = self.accepted(entry, option);
        match option.kind {
            OptionKind::Variant {
                elsewhere, whence, ..
            } if elsewhere.contains(&value) => SpecError::Elsewhere {
                controller: entry.name,
                variant: value.to_owned(),
                whence,
                accepted,
            },
            _ => SpecError::Value {
                controller: entry.name,
                option: option.name,
                value: value.to_owned(),
                accepted,
            },
        }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.entries.iter().map(|entry| entry.name);
        f.debug_list().entries(names).finish()
    }
}

impl Default for Registry {
    fn default() -> Self {
        Registry::standard()
    }
}

/// A controller with its options.
struct Chosen {
    build: fn(&Options, &Init) -> Box<dyn Controller>,
    options: Options,
}

impl Factory for Chosen {
    fn build(&self, init: &Init) -> Box<dyn Controller> {
        (self.build)(&self.options, init)
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
            media: None,
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
                for word in Registry::standard().choices(entry, doc) {
                    let text = format!("{}:{}={word}", entry.name, doc.name);
                    text.parse::<ControllerSpec>().unwrap().build(&init);
                }
                if let OptionKind::Number(low, high) | OptionKind::NumberOr(_, low, high) = doc.kind
                {
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
            let said = "option \"beta\" of \"cubic\" is given twice";
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
    fn a_variant_of_another_crate_is_a_value_of_the_option_once_it_is_added() {
        let added = Variant {
            controller: "cubic",
            name: "picoquic",
            build: |_, init| Box::new(crate::Fixed::new(init)),
        };
        let mut registry = Registry::standard();
        let error = registry.read("cubic:variant=picoquic").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the variant \"picoquic\" of \"cubic\" is not in this build: the Python package has it, from the crate \
             thalweg-reference; accepted here: rfc9438, cuback, linux"
        );
        registry.add_variant(added).unwrap();
        assert!(registry.read("cubic:variant=picoquic").is_ok());
        let error = registry
            .read("cubic:variant=vegas")
            .unwrap_err()
            .to_string();
        assert!(
            error.ends_with("accepted: rfc9438, cuback, linux, picoquic"),
            "{error}"
        );
        assert!(registry.add_variant(added).is_err(), "it is there already");
        let name = "rfc9438";
        assert!(registry.add_variant(Variant { name, ..added }).is_err());
        for controller in ["vegas", "prague"] {
            let of_none = Variant {
                controller,
                ..added
            };
            assert!(registry.add_variant(of_none).is_err(), "{controller}");
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
