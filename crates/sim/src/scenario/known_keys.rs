//! The keys that a scenario file can have, out of its schema: where each of them stands, and what it accepts.

use super::schema::json_schema;
use serde_json::{Map, Value};

/// The schema of a scenario file.
pub(crate) struct KnownKeys {
    root: Map<String, Value>,
    /// The keys of the top that a file needs.
    needed: Vec<Value>,
    /// Tables and choices by the name of their type.
    types: Map<String, Value>,
}

impl KnownKeys {
    pub(crate) fn new() -> Self {
        let schema = json_schema();
        let object = |value: Option<&Value>| value.and_then(Value::as_object).cloned();
        let needed = schema.get("required").and_then(Value::as_array);
        KnownKeys {
            needed: needed.cloned().unwrap_or_default(),
            root: object(schema.get("properties")).unwrap_or_default(),
            types: object(schema.get("$defs")).unwrap_or_default(),
        }
    }

    /// What a key that leaves a choice accepts: the models of `loss`, the words of `stack`. None for any other key.
    pub(crate) fn choices(&self, key: &str) -> Option<String> {
        let property =
            (self.types.values()).find_map(|kind| kind.get("properties")?.as_object()?.get(key))?;
        let forms = self.forms(property);
        let variants: Vec<&Value> = forms
            .iter()
            .filter_map(|form| form.get("oneOf")?.as_array())
            .flatten()
            .collect();
        if variants.is_empty() {
            return None;
        }
        let named = |pointer: &str| -> Option<String> {
            let names = variants.iter();
            let names = names.map(|variant| variant.pointer(pointer)?.as_str());
            let names = names.collect::<Option<Vec<&str>>>()?;
            Some(format!("\"{}\"", names.join("\", \"")))
        };
        let models = named("/properties/model/const");
        // The text of the short form is a model.
        if let Some(names) = &models
            && forms.iter().any(|form| form.get("enum").is_some())
        {
            return Some(format!(
                "{names}, or a table with one of these as its model"
            ));
        }
        let models = models.map(|names| format!("a table with model = {names}"));
        let tables = models.or_else(|| named("/const"))?;
        let example = |form: &&Value| Some(form.get("examples")?.get(0)?.as_str()?.to_owned());
        match forms.iter().find_map(example) {
            Some(text) => Some(format!("\"{text}\", or {tables}")),
            None => Some(tables),
        }
    }

    /// A table of a key with one of its models, and with what that needs: `{ model = "wifi", mean = "7 ms" }`.
    pub(crate) fn with_model(&self, key: &str, model: &str) -> Option<String> {
        let form = self.tables(key).find(|form| {
            let name = form.pointer("/properties/model/const");
            name.and_then(Value::as_str) == Some(model)
        })?;
        smallest(form)
    }

    /// What a key of a table looks like, by an example: `rtt = "40 ms"`.
    pub(crate) fn example(&self, table: &str, key: &str) -> Option<String> {
        let own = self.tables(table).filter_map(properties);
        own.chain(self.all_keys())
            .find_map(|keys| example(keys, key))
    }

    /// The keys of every table, the top of the file last.
    fn all_keys(&self) -> impl Iterator<Item = &Map<String, Value>> {
        let kinds = self.types.values().flat_map(variants);
        kinds.filter_map(properties).chain([&self.root])
    }

    /// The tables that a key may be, or the items of its list.
    fn tables<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a Value> {
        let found = self.all_keys().filter_map(move |keys| keys.get(key));
        let one = found.map(|property| property.get("items").unwrap_or(property));
        one.flat_map(|property| self.forms(property))
            .flat_map(variants)
    }

    /// Whether the key at the end of these parts is a share, whose text may be a bare number: `path.loss`.
    pub(crate) fn is_share(&self, parts: &[&str]) -> bool {
        let Some((first, rest)) = parts.split_first() else {
            return false;
        };
        let property = self.root.get(*first);
        property.is_some_and(|property| self.leads_to_share(property, rest))
    }

    fn leads_to_share(&self, property: &Value, parts: &[&str]) -> bool {
        let forms = self.forms(property);
        let Some((first, rest)) = parts.split_first() else {
            let share = self.types.get("Fraction");
            return forms.into_iter().any(|form| Some(form) == share);
        };
        forms.into_iter().any(|form| {
            if let Some(item) = form.get("items") {
                return self.leads_to_share(item, rest);
            }
            let models = form.get("oneOf").and_then(Value::as_array);
            let mut tables = models.into_iter().flatten().chain([form]);
            tables.any(|table| {
                let inner = table.get("properties").and_then(|keys| keys.get(*first));
                inner.is_some_and(|inner| self.leads_to_share(inner, rest))
            })
        })
    }

    /// Whether a key is a table, and not a list of them.
    pub(crate) fn is_table(&self, key: &str) -> bool {
        let property = self.all_keys().find_map(|keys| keys.get(key));
        property.is_some_and(|property| self.keys(property).next().is_some())
    }

    /// Whether a key is one that the top of a file needs.
    pub(crate) fn is_needed_at_top(&self, key: &str) -> bool {
        self.needed.iter().any(|needed| needed == key)
    }

    /// Where a key stands that is not known at the top: `path.rtt`, `flow.NAME.controller`. Tables come before lists.
    pub(crate) fn home(&self, key: &str) -> Option<String> {
        let tables = self
            .root
            .iter()
            .map(|(name, property)| (name.clone(), property));
        let lists = self.root.iter().filter_map(|(name, property)| {
            let item = property.get("items")?;
            let named = self.keys(item).any(|key| key == "name");
            let entry = if named { "NAME" } else { "0" };
            Some((format!("{name}.{entry}"), item))
        });
        let (table, _) = tables
            .chain(lists)
            .find(|(_, property)| self.keys(property).any(|known| known == key))?;
        Some(format!("{table}.{key}"))
    }

    /// The keys of a table.
    fn keys<'a>(&'a self, property: &'a Value) -> impl Iterator<Item = &'a str> {
        let forms = self.forms(property).into_iter();
        forms
            .filter_map(properties)
            .flat_map(|keys| keys.keys().map(String::as_str))
    }

    /// The types that a property may have: an optional one is one of its type and null.
    fn forms<'a>(&'a self, property: &'a Value) -> Vec<&'a Value> {
        if let Some(several) = property.get("anyOf").and_then(Value::as_array) {
            return several.iter().flat_map(|form| self.forms(form)).collect();
        }
        let Some(name) = property.get("$ref").and_then(Value::as_str) else {
            return vec![property];
        };
        let kind = name
            .rsplit('/')
            .next()
            .and_then(|name| self.types.get(name));
        match kind {
            Some(kind) if kind.get("anyOf").is_some() => self.forms(kind),
            Some(kind) => vec![kind],
            None => vec![],
        }
    }
}

/// The models of a type, or only the type.
fn variants(kind: &Value) -> Vec<&Value> {
    match kind.get("oneOf").and_then(Value::as_array) {
        Some(variants) => variants.iter().collect(),
        None => vec![kind],
    }
}

/// Each model of a key such as `queue` with the keys that it requires, as TOML.
///
/// ```
/// let queues = thalweg_sim::smallest_tables("queue");
/// assert!(queues.contains(&"{ model = \"step\", threshold = \"65 packets\" }".to_owned()));
/// ```
pub fn smallest_tables(key: &str) -> Vec<String> {
    let mut found = Vec::new();
    for table in KnownKeys::new().tables(key).filter_map(smallest) {
        if !found.contains(&table) {
            found.push(table); // more than one table may have the key
        }
    }
    found
}

/// A table with a model, and what that needs.
fn smallest(form: &Value) -> Option<String> {
    let keys = properties(form)?;
    let model = keys.get("model")?.get("const")?;
    let needed = form.get("required")?.as_array()?.iter();
    let needed = needed.filter_map(|name| example(keys, name.as_str()?));
    let all: Vec<String> = std::iter::once(format!("model = {model}"))
        .chain(needed)
        .collect();
    Some(format!("{{ {} }}", all.join(", ")))
}

fn properties(table: &Value) -> Option<&Map<String, Value>> {
    table.get("properties")?.as_object()
}

/// The example that the schema has of a key: required ones have one.
fn example(keys: &Map<String, Value>, key: &str) -> Option<String> {
    let example = keys.get(key)?.get("examples")?.get(0)?;
    Some(format!("{key} = {}", in_toml(example)))
}

/// A value as TOML has it, its model first.
fn in_toml(value: &Value) -> String {
    let Value::Object(keys) = value else {
        return value.to_string();
    };
    let mut all: Vec<_> = keys.iter().collect();
    all.sort_by_key(|(key, _)| *key != "model");
    let all = (all.iter()).map(|(key, value)| format!("{key} = {}", in_toml(value)));
    format!("{{ {} }}", all.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_required_key_has_an_example() {
        let known = KnownKeys::new();
        for kind in known.types.values().flat_map(variants) {
            let required = kind.get("required").and_then(Value::as_array);
            for name in required.into_iter().flatten().filter_map(Value::as_str) {
                let keys = properties(kind).unwrap();
                let is_model = keys[name].get("const").is_some();
                assert!(
                    is_model || example(keys, name).is_some(),
                    "{name} of {kind}"
                );
            }
        }
        assert_eq!(known.example("path", "rtt").unwrap(), "rtt = \"40 ms\"");
        assert_eq!(known.example("loss", "rate").unwrap(), "rate = \"1 %\"");
        assert_eq!(
            known.example("policer", "rate").unwrap(),
            "rate = \"10 Mbps\""
        );
        assert_eq!(
            known.example("", "title").unwrap(),
            "title = \"A download\""
        );
        let wifi = "{ model = \"wifi\", mean = \"7 ms\" }";
        assert_eq!(known.with_model("jitter", "wifi").as_deref(), Some(wifi));
        assert_eq!(known.with_model("jitter", "wify"), None);
    }

    #[test]
    fn a_key_has_a_home_and_a_choice_has_words() {
        let known = KnownKeys::new();
        assert_eq!(known.home("rtt").as_deref(), Some("path.rtt"));
        assert_eq!(known.home("max_mtu").as_deref(), Some("transport.max_mtu"));
        assert_eq!(
            known.home("controller").as_deref(),
            Some("flow.NAME.controller")
        );
        assert_eq!(known.home("at_most").as_deref(), Some("pass.0.at_most"));
        assert!(known.is_table("path") && known.is_table("up") && known.is_table("seed"));
        assert!(!known.is_table("flow") && !known.is_table("change") && !known.is_table("rtt"));
        assert_eq!(known.home("title"), None);
        assert_eq!(known.home("nonsense"), None);
        let stack = "\"./libmine.so\", or \"model\", \"quic\"";
        assert_eq!(known.choices("stack").as_deref(), Some(stack));
        let loss = "\"1 %\", or a table with model = \"random\", \"gilbert-elliott\", \"periodic\", \"scripted\"";
        assert_eq!(known.choices("loss").as_deref(), Some(loss));
        assert_eq!(known.choices("rate"), None);
        for (key, is) in [
            ("path.loss", true),
            ("path.loss.rate", true),
            ("path.up.loss.good_loss", true),
            ("link.far.change.0.up_loss", true),
            ("path.queue.mark_below", true),
            ("pass.0.in", true),
            ("path.rate", false),
            ("flow.main.streams", false),
            ("loss", false),
        ] {
            let parts: Vec<&str> = key.split('.').collect();
            assert_eq!(known.is_share(&parts), is, "{key}");
        }
    }
}
