//! Any TOML text as its keys and values, in the order in which they stand: what programs around the engine read of
//! scenarios, plans and suites. One reader for all: what the engine accepts (TOML 1.1), they accept.
//!
//! # Limits
//! Integers have 64 bits. Dates and times are refused, since nothing here has any.

use super::check::characters;
use super::error::{ScenarioError, line_of};
use super::read::utf8;
use super::refusal::{TOO_DEEP, not_toml};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

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
        characters::check_text(text, origin)?;
        let table = DeTable::parse(text).map_err(|error| not_toml(&error, text, origin))?;
        let reader = Reader { text, origin };
        reader.check_depth(table.get_ref())?;
        reader.table(table.get_ref())
    }
}

/// Levels of lists and tables. The parser bounds brackets and dots by themselves, which multiply.
const DEEPEST: usize = 80;

struct Reader<'t> {
    text: &'t str,
    origin: &'t str,
}

impl Reader<'_> {
    fn refusal(&self, value: &Spanned<DeValue<'_>>, problem: String) -> ScenarioError {
        ScenarioError {
            origin: self.origin.to_owned(),
            line: Some(line_of(self.text, value.span().start)),
            key: None,
            problem,
        }
    }

    /// Refuses a key, or a text that is a value, which terminals and pages obey.
    fn check(&self, word: &str, value: &Spanned<DeValue<'_>>) -> Result<(), ScenarioError> {
        characters::check_word(word).map_err(|problem| self.refusal(value, problem))
    }

    /// Refuses what is too deep for functions that call themselves.
    fn check_depth(&self, table: &DeTable<'_>) -> Result<(), ScenarioError> {
        let mut left: Vec<_> = table.values().map(|value| (1, value)).collect();
        while let Some((depth, value)) = left.pop() {
            if depth > DEEPEST {
                return Err(self.refusal(value, TOO_DEEP.to_owned()));
            }
            match value.get_ref() {
                DeValue::Array(items) => left.extend(items.iter().map(|item| (depth + 1, item))),
                DeValue::Table(table) => left.extend(table.values().map(|item| (depth + 1, item))),
                _ => {}
            }
        }
        Ok(())
    }

    fn table(&self, table: &DeTable<'_>) -> Result<Value, ScenarioError> {
        let mut keys: Vec<_> = table.iter().collect();
        keys.sort_by_cached_key(|(key, value)| begin(key, value));
        let read = |(key, value): (&Spanned<DeString<'_>>, _)| {
            self.check(key.get_ref(), value)?;
            Ok((key.get_ref().to_string(), self.value(value)?))
        };
        Ok(Value::Table(
            keys.into_iter().map(read).collect::<Result<_, _>>()?,
        ))
    }

    fn value(&self, value: &Spanned<DeValue<'_>>) -> Result<Value, ScenarioError> {
        let refusal = |problem| self.refusal(value, problem);
        match value.get_ref() {
            DeValue::String(text) => {
                self.check(text, value)?;
                Ok(Value::Text(text.to_string()))
            }
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
                (items.iter().map(|item| self.value(item))).collect::<Result<_, _>>()?,
            )),
            DeValue::Table(table) => self.table(table),
        }
    }
}

/// Where a key stands first: the key of `[a]` stands behind `[a.b]`, if the text has these in this order.
fn begin(key: &Spanned<DeString<'_>>, value: &Spanned<DeValue<'_>>) -> usize {
    let within = match value.get_ref() {
        DeValue::Table(table) => table.iter().map(|(key, value)| begin(key, value)).min(),
        _ => None,
    };
    key.span().start.min(within.unwrap_or(usize::MAX))
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
        let Ok(Value::Table(keys)) = read("[[a.b]]\n[c]\n[a]\n") else {
            panic!("a table");
        };
        assert_eq!(keys[0].0, "a");
    }

    #[test]
    fn what_is_newer_than_toml_1_0_is_read() {
        let expected = Value::Table(vec![(
            "a".into(),
            Value::Table(vec![("b".into(), Value::Text("\tA".into()))]),
        )]);
        assert_eq!(read("a = {\n  b = \"\\x09\\x41\",\n}\n"), Ok(expected));
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
            (
                "a = 1 # \u{202e}".into(),
                "a.toml:1: has the character U+202E, which terminals",
            ),
            (
                "\n[a]\nb = \"\\e[2J\"".into(),
                "a.toml:3: has the character U+001B, which terminals",
            ),
        ] {
            let refused = read(&text).unwrap_err();
            assert!(refused.starts_with(expected), "{refused}");
            assert!(refused.len() < 400, "{refused}");
        }
        let nested = |inner: String, _| format!("{{{}a={inner}}}", "a.".repeat(70));
        for deep in [
            format!("\n\na = {}", (0..2).fold("1".to_owned(), nested)),
            "a = ".to_owned() + &"[".repeat(100_000),
            format!("[a{}]", ".a".repeat(3000)),
        ] {
            assert!(read(&deep).unwrap_err().contains("inside each other"));
        }
    }
}
