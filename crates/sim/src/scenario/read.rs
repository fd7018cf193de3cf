//! Reading a scenario: its text, the values of `--set` and `--controller`, the files that it names, and its check.

use super::check::Checker;
use super::error::{ScenarioError, with_sets};
use super::refusal::refused;
use super::schema::ScenarioFile;
use super::{FlowController, Scenario, overrides, trace_files};
use std::path::Path;

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
        let text = utf8(text, origin)?;
        Checker { text, origin }.check_text()?;
        let folder = Path::new(origin)
            .parent()
            .unwrap_or(Path::new(""))
            .to_owned();
        if sets.is_empty() && controllers.is_empty() {
            let mut file = typed(text, origin)?;
            let embedded = trace_files::embed(&mut file, &folder, text, origin)?;
            let toml = if embedded {
                toml::to_string(&file).unwrap_or_default()
            } else {
                text.to_owned()
            };
            return Checker { text, origin }.check(file, toml);
        }
        let mut table = Scenario::table(text.as_bytes(), origin, sets)?;
        for (flow, controller) in controllers {
            let flows = table.get("flow").and_then(toml::Value::as_array);
            let names = flows
                .into_iter()
                .flatten()
                .filter_map(|flow| flow.get("name"));
            let names: Vec<&str> = names.filter_map(toml::Value::as_str).collect();
            let option = format!("--controller {flow}={controller}");
            if !names.contains(&flow.as_str()) {
                let problem = format!(
                    "there is no flow \"{flow}\"; accepted: {}",
                    names.join(", ")
                );
                return Err(ScenarioError::of_option(option, problem));
            }
            if let Err(problem) = controller.parse::<FlowController>() {
                return Err(ScenarioError::of_option(option, problem));
            }
            let quoted = toml::Value::String(controller.clone()).to_string();
            overrides::set(&mut table, &format!("flow.{flow}.controller"), &quoted)?;
        }
        let changed = toml::to_string(&table).unwrap_or_default();
        // Lines of the changed text say nothing to its reader: errors name what was set instead.
        let origin = with_sets(origin, sets);
        let mut file: ScenarioFile = toml::from_str(&changed).map_err(|error| {
            let mut error = refused(&error, &changed, &origin);
            error.line = None;
            error
        })?;
        let embedded = trace_files::embed(&mut file, &folder, "", &origin)?;
        let toml = if embedded {
            toml::to_string(&file).unwrap_or_default()
        } else {
            changed
        };
        let (text, origin) = ("", origin.as_str());
        Checker { text, origin }.check(file, toml)
    }

    /// The tables of a scenario file with the values of `--set` in them, not checked yet. `--controller` comes after
    /// them: it has the last word on the controller of a flow.
    ///
    /// # Errors
    /// If the file is not a scenario, or if a key of `sets` leads nowhere.
    pub fn table(
        text: &[u8],
        origin: &str,
        sets: &[(String, String)],
    ) -> Result<toml::Table, ScenarioError> {
        let text = utf8(text, origin)?;
        Checker { text, origin }.check_text()?;
        typed(text, origin)?;
        let mut table = toml::from_str(text).map_err(|error| refused(&error, text, origin))?;
        for (key, value) in sets {
            overrides::set(&mut table, key, value)?;
        }
        Ok(table)
    }
}

/// The file with all its keys, if their types are right.
fn typed(text: &str, origin: &str) -> Result<ScenarioFile, ScenarioError> {
    toml::from_str(text).map_err(|error| refused(&error, text, origin))
}

fn utf8<'a>(text: &'a [u8], origin: &str) -> Result<&'a str, ScenarioError> {
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
