//! The key `stack` of a `[[flow]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Whether a value of the key is meant to be the file of a library, and not a word.
pub fn names_library(stack: &str) -> bool {
    let endings = [".so", ".dylib", ".dll"];
    stack.contains(['/', '\\']) || endings.iter().any(|ending| stack.ends_with(ending))
}

/// The endpoints of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stack {
    /// The modelled endpoint of `thalweg-transport`.
    #[default]
    Model,
    /// The real QUIC stack of `thalweg-quic`.
    Quic,
    /// A shared library with the functions of `thalweg_stack.h`: its file.
    Library(String),
}

impl<'de> Deserialize<'de> for Stack {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.as_str() {
            "model" => Ok(Stack::Model),
            "quic" => Ok(Stack::Quic),
            file if names_library(file) => Ok(Stack::Library(text)),
            word => Err(serde::de::Error::unknown_variant(
                word,
                &["model", "quic", "./libmine.so"],
            )),
        }
    }
}

impl Serialize for Stack {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Stack::Model => "model",
            Stack::Quic => "quic",
            Stack::Library(file) => file,
        })
    }
}

impl JsonSchema for Stack {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Stack".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "The endpoints of a connection.",
            "anyOf": [
                {
                    "type": "string",
                    "description": "The file of a shared library with the functions of thalweg_stack.h.",
                    "pattern": "[/\\\\]|\\.(so|dylib|dll)$",
                    "examples": ["./libmine.so"]
                },
                {
                    "oneOf": [
                        {
                            "description": "The modelled endpoint of `thalweg-transport`.",
                            "type": "string",
                            "const": "model"
                        },
                        {
                            "description": "The real QUIC stack of `thalweg-quic`.",
                            "type": "string",
                            "const": "quic"
                        }
                    ]
                }
            ]
        })
    }
}
