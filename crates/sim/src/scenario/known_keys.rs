//! The keys that a scenario file can have, out of its schema: where each of them stands, and what it accepts.

use super::schema::ScenarioFile;
use serde_json::{Map, Value};

/// The schema of a scenario file.
pub(crate) struct KnownKeys {
    root: Map<String, Value>,
    /// Tables and choices by the name of their type.
    types: Map<String, Value>,
}

impl KnownKeys {
    pub(crate) fn new() -> Self {
        let schema = schemars::schema_for!(ScenarioFile);
        let object = |value: Option<&Value>| value.and_then(Value::as_object).cloned();
        KnownKeys {
            root: object(schema.as_value().get("properties")).unwrap_or_default(),
            types: object(schema.as_value().get("$defs")).unwrap_or_default(),
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
        let models =
            named("/properties/model/const").map(|names| format!("a table with model = {names}"));
        let tables = models.or_else(|| named("/const"))?;
        let example = |form: &&Value| Some(form.get("examples")?.get(0)?.as_str()?.to_owned());
        match forms.iter().find_map(example) {
            Some(text) => Some(format!("\"{text}\", or {tables}")),
            None => Some(tables),
        }
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
        let tables = self.types.values();
        let keys = tables.filter_map(|kind| kind.get("properties")?.as_object());
        let property = keys.chain([&self.root]).find_map(|keys| keys.get(key));
        property.is_some_and(|property| self.keys(property).next().is_some())
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
            .filter_map(|form| form.get("properties")?.as_object())
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let stack = "\"model\", \"quic\"";
        assert_eq!(known.choices("stack").as_deref(), Some(stack));
        let loss = "\"1 %\", or a table with model = \"random\", \"gilbert-elliott\"";
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
