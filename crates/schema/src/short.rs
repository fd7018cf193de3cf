//! Keys with a short form: a text that stands for the most common table. `queue = "codel"` is
//! `queue = { model = "codel" }`, `loss = "1 %"` is `loss = { model = "random", rate = "1 %" }`.

use crate::breaker::CircuitBreaker;
use crate::host::{Host, HostModel};
use crate::impairment::{Jitter, Loss};
use crate::medium::Medium;
use crate::queue::Queue;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use thalweg_units::{Duration, Fraction};

/// The keys and values that a text stands for.
type Table<'t> = Vec<(&'static str, &'t str)>;

/// A table with a model that a text may stand for.
pub trait Short: DeserializeOwned + JsonSchema {
    /// What the text looks like.
    const TEXT: &'static str;
    /// What it means, for editors.
    const MEANING: &'static str;
    /// The table that `text` stands for, checked or not.
    fn written_out(text: &str) -> Table<'_>;
    /// What the text may be.
    fn texts(generator: &mut SchemaGenerator) -> Schema;
}

impl Short for Queue {
    const TEXT: &'static str = "the name of a discipline";
    const MEANING: &'static str = "A discipline with the defaults of its RFC.";
    fn written_out(text: &str) -> Table<'_> {
        vec![("model", text)]
    }
    fn texts(generator: &mut SchemaGenerator) -> Schema {
        models(&Queue::json_schema(generator))
    }
}

impl Short for Medium {
    const TEXT: &'static str = "the name of a model";
    const MEANING: &'static str = "A model with its defaults.";
    fn written_out(text: &str) -> Table<'_> {
        vec![("model", text)]
    }
    fn texts(generator: &mut SchemaGenerator) -> Schema {
        models(&Medium::json_schema(generator))
    }
}

impl Short for Host {
    const TEXT: &'static str = "the name of a model";
    const MEANING: &'static str = "A model as it is.";
    fn written_out(text: &str) -> Table<'_> {
        vec![("model", text)]
    }
    fn texts(generator: &mut SchemaGenerator) -> Schema {
        HostModel::json_schema(generator)
    }
}

impl Short for CircuitBreaker {
    const TEXT: &'static str = "the name of a model";
    const MEANING: &'static str = "A model with its defaults.";
    fn written_out(text: &str) -> Table<'_> {
        vec![("model", text)]
    }
    fn texts(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": ["media"] })
    }
}

/// The name of any model of a table.
fn models(schema: &Schema) -> Schema {
    let forms = schema.get("oneOf").and_then(Value::as_array);
    let names = forms.into_iter().flatten();
    let names: Vec<_> = (names.filter_map(|form| form.pointer("/properties/model/const")))
        .cloned()
        .collect();
    json_schema!({ "type": "string", "enum": names })
}

impl Short for Jitter {
    const TEXT: &'static str = "a text with a unit, such as \"5 ms\"";
    const MEANING: &'static str = "Normal, with this mean.";
    fn written_out(text: &str) -> Table<'_> {
        // A word can only be a model, such as "none".
        match text.starts_with(char::is_alphabetic) {
            true => vec![("model", text)],
            false => vec![("model", "normal"), ("mean", text)],
        }
    }
    fn texts(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Duration>()
    }
}

impl Short for Loss {
    const TEXT: &'static str = "a text with a unit, such as \"1 %\"";
    const MEANING: &'static str = "Each packet independently, with this probability.";
    fn written_out(text: &str) -> Table<'_> {
        vec![("model", "random"), ("rate", text)]
    }
    fn texts(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Fraction>()
    }
}

/// The table that the text of a key stands for; none if the key has no short form.
pub fn written_out<'t>(key: &str, text: &'t str) -> Option<Table<'t>> {
    match key {
        "queue" | "up_queue" => Some(Queue::written_out(text)),
        "host" => Some(Host::written_out(text)),
        "medium" => Some(Medium::written_out(text)),
        "circuit_breaker" => Some(CircuitBreaker::written_out(text)),
        "jitter" => Some(Jitter::written_out(text)),
        "loss" | "up_loss" => Some(Loss::written_out(text)),
        _ => None,
    }
}

/// The value of a key that has a short form.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Form<T>(T);

impl<T> Deref for Form<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Form<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<'de, T: Short> Deserialize<'de> for Form<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(FormVisitor(PhantomData))
            .map(Form)
    }
}

impl<T: Short> JsonSchema for Form<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Form", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut text = T::texts(generator);
        text.insert("description".to_owned(), T::MEANING.into());
        let mut table = generator.subschema_for::<T>();
        table.insert("description".to_owned(), "A model.".into());
        json_schema!({ "description": "A text, or a table with a model.", "anyOf": [text, table] })
    }
}

struct FormVisitor<T>(PhantomData<T>);

impl<'de, T: Short> Visitor<'de> for FormVisitor<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, or a table with a model", T::TEXT)
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::deserialize(MapDeserializer::new(T::written_out(text).into_iter()))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}
