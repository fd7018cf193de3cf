//! Any TOML text as its keys and values, in the order in which they stand: what programs around the engine read of
//! scenarios, plans and suites. One reader for all: what the engine accepts (TOML 1.1), they accept.
//!
//! # Limits
//! Integers have 64 bits. Dates and times are refused, since nothing here has any.

use super::error::{ScenarioError, line_of};
use super::read::utf8;
use super::refusal::refused;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value of a TOML text.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A number without a point.
    Integer(i64),
    /// A number with a point or an exponent, or `inf` or `nan`.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A list.
    List(Vec<Value>),
    /// Keys and values.
    Table(Vec<(String, Value)>),
}

impl Value {
    /// The table of a whole text. `origin` is the file name that errors show.
    ///
    /// # Errors
    /// A [`ScenarioError`] with file and line, if the text is not TOML.
    pub fn document(text: &[u8], origin: &str) -> Result<Value, ScenarioError> {
        let text = utf8(text, origin)?;
        let table = DeTable::parse(text).map_err(|error| refused(&error, text, origin))?;
        Reader { text, origin }.table(table.get_ref())
    }
}

struct Reader<'t> {
    text: &'t str,
    origin: &'t str,
}

impl Reader<'_> {
    fn table(&self, table: &DeTable<'_>) -> Result<Value, ScenarioError> {
        let mut keys: Vec<_> = table.iter().collect();
        keys.sort_by_key(|(key, _)| key.span().start);
        let read = |(key, value): (&Spanned<_>, _)| {
            let name: &str = AsRef::<str>::as_ref(key.get_ref());
            Ok((name.to_owned(), self.value(value)?))
        };
        Ok(Value::Table(
            keys.into_iter().map(read).collect::<Result<_, _>>()?,
        ))
    }

    fn value(&self, value: &Spanned<DeValue<'_>>) -> Result<Value, ScenarioError> {
        let refusal = |problem| ScenarioError {
            origin: self.origin.to_owned(),
            line: Some(line_of(self.text, value.span().start)),
            key: None,
            problem,
        };
        match value.get_ref() {
            DeValue::String(text) => Ok(Value::Text(text.to_string())),
            DeValue::Boolean(is_true) => Ok(Value::Boolean(*is_true)),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map(Value::Integer)
                .map_err(|_| {
                    refusal(format!(
                        "the number \"{number}\" is too large; accepted: 64 bits"
                    ))
                }),
            DeValue::Float(number) => (number.as_str().parse().map(Value::Float))
                .map_err(|_| refusal(format!("\"{number}\" is not a number"))),
            DeValue::Datetime(time) => Err(refusal(format!(
                "\"{time}\" is a date or a time; accepted: texts, numbers, lists, tables"
            ))),
            DeValue::Array(items) => Ok(Value::List(
                items
                    .iter()
                    .map(|item| self.value(item))
                    .collect::<Result<_, _>>()?,
            )),
            DeValue::Table(table) => self.table(table),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Value, String> {
        Value::document(text.as_bytes(), "a.toml").map_err(|error| error.to_string())
    }

    #[test]
    fn keys_keep_their_order() {
        let Ok(Value::Table(keys)) = read("z = 1\n[b]\nx = 1\n[a]\n[b.c]\n") else {
            panic!("a table");
        };
        let names: Vec<_> = keys.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["z", "b", "a"]);
    }

    #[test]
    fn what_is_newer_than_toml_1_0_is_read() {
        let expected = Value::Table(vec![(
            "a".into(),
            Value::Table(vec![("b".into(), Value::Text("\u{1b}A".into()))]),
        )]);
        assert_eq!(read("a = {\n  b = \"\\e\\x41\",\n}\n"), Ok(expected));
    }

    #[test]
    fn numbers_are_read_in_every_spelling() {
        for (text, expected) in [
            ("1_000", Value::Integer(1000)),
            ("+5", Value::Integer(5)),
            ("-9223372036854775808", Value::Integer(i64::MIN)),
            ("0xFF", Value::Integer(255)),
            ("0o17", Value::Integer(15)),
            ("0b1_1", Value::Integer(3)),
            ("1_0.5e-1", Value::Float(1.05)),
            ("-inf", Value::Float(f64::NEG_INFINITY)),
        ] {
            let table = Value::Table(vec![("a".into(), expected)]);
            assert_eq!(read(&format!("a = {text}")), Ok(table), "{text}");
        }
    }

    #[test]
    fn refusals_name_the_line() {
        let digits = "9".repeat(5000);
        for (text, expected) in [
            (format!("\na = {digits}"), "a.toml:2: "),
            (
                "\n\na = 2020-01-01".into(),
                "a.toml:3: \"2020-01-01\" is a date or a time; accepted: texts",
            ),
            ("a = [[\n".into(), "a.toml:"),
        ] {
            let refused = read(&text).unwrap_err();
            assert!(refused.starts_with(expected), "{refused}");
            assert!(refused.len() < 400, "{refused}");
        }
        for deep in [
            "a = ".to_owned() + &"[".repeat(100_000),
            format!("[a{}]", ".a".repeat(3000)),
        ] {
            assert!(read(&deep).unwrap_err().contains("inside each other"));
        }
    }
}
