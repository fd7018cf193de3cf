//! The fields of events, reports and the path as attributes of the classes in Python, in seconds, bytes and bits per second.

use thalweg_units::{Bytes, Duration, Instant, Rate};

/// What an attribute of this type is in Python.
pub(super) trait InPython {
    type Value;

    fn in_python(self) -> Self::Value;
}

/// What attributes of these types are in Python, and how they become it.
macro_rules! in_python {
    ($($type:ty => $value:ty: $convert:expr;)*) => { $(
        impl InPython for $type {
            type Value = $value;

            fn in_python(self) -> $value {
                let convert: fn($type) -> $value = $convert;
                convert(self)
            }
        }
    )* };
}

in_python! {
    bool => bool: |truth| truth;
    f64 => f64: |number| number;
    u32 => u32: |number| number;
    u64 => u64: |number| number;
    Bytes => u64: Bytes::as_u64;
    Duration => f64: Duration::as_secs_f64;
    Instant => f64: Instant::as_secs_f64;
    Rate => f64: |rate| rate.as_bits_per_sec() as f64;
}

impl<T: InPython> InPython for Option<T> {
    type Value = Option<T::Value>;

    fn in_python(self) -> Self::Value {
        self.map(T::in_python)
    }
}

/// Gives a class the attributes of a record, and methods of its own: the parts of `fields!(Ack => attributes!(...))` are the
/// class, where it keeps the record, the type of the record, and the methods.
macro_rules! attributes {
    (($class:ident ($self:ident: $of:ty = $record:expr) { $($own:tt)* })
     [$($field:ident: $type:ty = $read:expr;)*]) => {
        #[pymethods]
        impl $class {
            $(
                #[getter]
                fn $field(&$self) -> <$type as InPython>::Value {
                    let read: fn(&$of) -> $type = $read;
                    read($record).in_python()
                }
            )*
            $($own)*
        }
    };
}
pub(super) use {attributes, in_python};
