//! Reading a scenario: its text, the values of `--set` and `--controller`, the files that it names, and its check.

use super::check::Checker;
use super::check::characters;
use super::check::counts::check_text;
use super::error::{ScenarioError, with_sets};
use super::refusal::refused;
use super::schema::ScenarioFile;
use super::schema::names_library;
use super::{Clock, FlowController, Scenario, library, overrides, trace_files};
use std::path::Path;
use thalweg_control::Registry;
use thalweg_units::did_you_mean;

impl Scenario {
    /// Reads and checks a scenario. `origin` is the file name that errors show; `sets` are pairs of
    /// `--set` (key, value), `controllers` pairs of `--controller` (flow, controller).
    ///
    /// # Errors
    /// A [`ScenarioError`] with file, line, key, value and accepted forms.
    pub fn from_toml(
        text: &[u8],
        origin: &str,
        sets: &[(String, String)],
        controllers: &[(String, String)],
    ) -> Result<Scenario, ScenarioError> {
        let registry = Registry::standard();
        Scenario::read(text, origin, sets, controllers, Clock::Virtual, &registry)
    }

    /// The same for any clock, and with the controllers of any registry.
    ///
    /// # Errors
    /// As [`Scenario::from_toml`], and if a flow is not supported under this clock.
    pub fn read(
        text: &[u8],
        origin: &str,
        sets: &[(String, String)],
        controllers: &[(String, String)],
        clock: Clock,
        registry: &Registry,
    ) -> Result<Scenario, ScenarioError> {
        let table = Scenario::table(text, origin, sets)?;
        let text = utf8(text, origin)?;
        let folder = Path::new(origin).parent().unwrap_or(Path::new(""));
        let (mut file, toml, origin) = match (sets, controllers) {
            ([], []) => (typed(text, origin)?, text.to_owned(), origin.to_owned()),
            _ => changed(table.clone(), origin, sets, controllers, |text| {
                clock.controller(text, registry)
            })?,
        };
        let origin = origin.as_str();
        // Lines of a text that `--set` has changed are meaningless: errors name the options instead.
        let text = if sets.is_empty() { text } else { "" };
        let refuse = |key: &str, problem: &str| ScenarioError::at(text, origin, &[], key, problem);
        clock.choose_stacks(&mut file, &table, refuse)?;
        let embedded = trace_files::embed(&mut file, folder, text, origin)?
            | library::embed(&mut file, folder);
        let toml = if embedded {
            file.to_toml().unwrap_or_default()
        } else {
            toml
        };
        let checker = Checker {
            text,
            origin,
            clock,
            registry,
            controllers,
        };
        checker.check(file, toml)
    }

    /// The tables of a scenario file with the values of `--set`, unchecked. `--controller` applies after
    /// them.
    ///
    /// # Errors
    /// If the file is not a scenario, or a key of `sets` does not exist.
    fn table(
        text: &[u8],
        origin: &str,
        sets: &[(String, String)],
    ) -> Result<toml::Table, ScenarioError> {
        let text = utf8(text, origin)?;
        check_text(text, origin)?;
        characters::check_text(text, origin)?;
        let mut table = toml::from_str(text).map_err(|error| refused(&error, text, origin))?;
        characters::check_values(&table, text, origin)?;
        typed(text, origin)?;
        for (key, value) in sets {
            overrides::set(&mut table, key, value)?;
        }
        if !sets.is_empty() {
            characters::check_values(&table, "", &with_sets(origin, sets))?;
        }
        Ok(table)
    }
}

/// The file with all its keys, if their types are right.
fn typed(text: &str, origin: &str) -> Result<ScenarioFile, ScenarioError> {
    ScenarioFile::from_toml(text).map_err(|error| refused(&error, text, origin))
}

/// A file with the changes of `--set` and `--controller`, its text, and its name in errors. `table` already has the
/// values of `--set`. `read` parses the controller of a flow.
fn changed(
    mut table: toml::Table,
    origin: &str,
    sets: &[(String, String)],
    controllers: &[(String, String)],
    read: impl Fn(&str) -> Result<FlowController, String>,
) -> Result<(ScenarioFile, String, String), ScenarioError> {
    for (flow, controller) in controllers {
        let flows = table.get("flow").and_then(toml::Value::as_array);
        let names = (flows.iter())
            .copied()
            .flatten()
            .filter_map(|flow| flow.get("name"));
        let names: Vec<&str> = names.filter_map(toml::Value::as_str).collect();
        let option = format!("--controller {flow}={controller}");
        if !names.contains(&flow.as_str()) {
            let hint = did_you_mean(flow, names.iter().copied());
            let problem = format!(
                "there is no flow \"{flow}\"{hint}; accepted: {}",
                names.join(", ")
            );
            return Err(ScenarioError::of_option(option, problem));
        }
        // A library has controllers of its own, which are checked with the flow.
        let stack = (flows.into_iter().flatten())
            .find(|one| one.get("name").and_then(toml::Value::as_str) == Some(flow))
            .and_then(|one| one.get("stack")?.as_str());
        if !stack.is_some_and(names_library)
            && let Err(problem) = read(controller)
        {
            return Err(ScenarioError::of_option(option, problem));
        }
        let quoted = toml::Value::String(controller.clone()).to_string();
        overrides::set(&mut table, &format!("flow.{flow}.controller"), &quoted)?;
    }
    let changed = toml::to_string(&table).unwrap_or_default();
    let origin = with_sets(origin, sets);
    let file = ScenarioFile::from_toml(&changed).map_err(|error| {
        let mut error = refused(&error, &changed, &origin);
        error.line = None;
        error
    })?;
    Ok((file, changed, origin))
}

pub(super) fn utf8<'a>(text: &'a [u8], origin: &str) -> Result<&'a str, ScenarioError> {
    std::str::from_utf8(text).map_err(|error| {
        let valid = String::from_utf8_lossy(&text[..error.valid_up_to()]);
        ScenarioError {
            origin: origin.to_owned(),
            line: Some(valid.matches('\n').count() + 1),
            key: None,
            problem: "is not UTF-8; accepted: a TOML text in UTF-8".into(),
        }
    })
}
