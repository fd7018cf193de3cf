//! A controller with its options, as scenarios and command lines name it: `cubic`, `c4:variant=v1`.

use crate::registry::Registry;
use crate::{Controller, Init};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Makes the controllers of one algorithm with one set of options.
pub trait Factory: Send + Sync {
    /// Makes the controller of one end of a connection.
    fn build(&self, init: &Init) -> Box<dyn Controller>;

    /// Makes the controller of an end which sends no data of the application, where transports know it.
    fn build_for_receiver(&self, init: &Init) -> Box<dyn Controller> {
        self.build(init)
    }
}

/// A controller and its options, and the text that names them. Two are equal if their texts are.
#[derive(Clone)]
pub struct ControllerSpec {
    text: String,
    factory: Arc<dyn Factory>,
}

impl ControllerSpec {
    /// What `text` stands for.
    pub fn new(text: &str, factory: Arc<dyn Factory>) -> Self {
        ControllerSpec {
            text: text.trim().to_owned(),
            factory,
        }
    }
    /// Makes the controller.
    pub fn build(&self, init: &Init) -> Box<dyn Controller> {
        self.factory.build(init)
    }
    /// Makes the controller of an end which sends no data of the application.
    pub fn build_for_receiver(&self, init: &Init) -> Box<dyn Controller> {
        self.factory.build_for_receiver(init)
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
        self.text == other.text
    }
}

impl FromStr for ControllerSpec {
    type Err = SpecError;

    /// Looks `text` up among the controllers of this crate, as [`Registry::read`] does.
    fn from_str(text: &str) -> Result<Self, SpecError> {
        Registry::standard().read(text)
    }
}

/// Why a text names no controller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The name is not in the registry.
    #[error("unknown controller \"{name}\"{hint}; accepted: {accepted}")]
    Name {
        /// What was written.
        name: String,
        /// What was meant, if a name is close.
        hint: String,
        /// The names of the registry.
        accepted: String,
    },
    /// The controller has no such option.
    #[error("controller \"{controller}\" has no option \"{option}\"{hint}; accepted: {accepted}")]
    Option {
        /// The controller.
        controller: &'static str,
        /// What was written.
        option: String,
        /// What was meant, if an option is close.
        hint: String,
        /// The options that it has.
        accepted: String,
    },
    /// The option has two values.
    #[error("option \"{option}\" of \"{controller}\" is given twice")]
    Twice {
        /// The controller.
        controller: &'static str,
        /// The option.
        option: &'static str,
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
    /// The variant is in another crate, and not in this registry.
    #[error(
        "the variant \"{variant}\" of \"{controller}\" is not in this build: {whence}; accepted here: {accepted}"
    )]
    Elsewhere {
        /// The controller.
        controller: &'static str,
        /// What was written.
        variant: String,
        /// Who has it.
        whence: &'static str,
        /// The variants that are here.
        accepted: String,
    },
    /// What a [`Resolver`](crate::registry::Resolver) has to say, in its own words.
    #[error("{0}")]
    Unresolved(String),
}
