//! What crosses between the engine and JavaScript: bytes, and addresses in the memory of the engine.
//!
//! A request is JSON in UTF-8. JavaScript asks for [`room`], writes the text there and calls [`ask`]; the answer is JSON
//! at [`answer`], and has the addresses of columns, which stay where they are until the next request. The engine calls
//! JavaScript through [`imports`]; what those answer in text, they write into a room too. `lab/src/engine/wasm.ts` is the
//! other side.
//!
//! # Safety
//! The names of the exports must be unique, which the linker checks, and the imports must have these types, which
//! WebAssembly checks when a module is instantiated. Nothing here follows an address that it was given.

#![allow(unsafe_code)]

use std::cell::RefCell;
use thalweg_columns::Column;

thread_local! {
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Answer> = const { RefCell::new(Answer { json: String::new(), columns: Vec::new() }) };
}

/// An answer: its text, and the columns that the text has the addresses of.
pub(crate) struct Answer {
    pub(crate) json: String,
    pub(crate) columns: Vec<Column>,
}

/// The address of so many bytes, which JavaScript writes next.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    ROOM.with_borrow_mut(|room| {
        *room = vec![0; length];
        room.as_mut_ptr()
    })
}

/// Takes what JavaScript wrote into the room. It writes what is text in its own strings: they have no broken UTF-8.
fn take_room() -> String {
    let bytes = ROOM.with_borrow_mut(std::mem::take);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Answers the request in the room, and returns the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    // What the answer before refers to goes first: both together may be too much for the memory of a page.
    ANSWER.with_borrow_mut(|kept| kept.columns.clear());
    let found = crate::answer(&take_room());
    let length = found.json.len();
    ANSWER.with_borrow_mut(|kept| *kept = found);
    length
}

/// The address of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    ANSWER.with_borrow(|kept| kept.json.as_ptr())
}

/// A real number from 0 up to, not including, 1, of the random source with this number, for a controller.
#[unsafe(no_mangle)]
pub extern "C" fn draw(source: u32) -> f64 {
    crate::controller::draw(source)
}

/// The functions of JavaScript. Texts and records are an address and a length; an answer in text is the length of what was
/// written into the room.
mod imports {
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        pub(super) safe fn finished(count: u32) -> u32;
        pub(super) safe fn resolve(text: *const u8, length: usize) -> usize;
        pub(super) safe fn make(
            text: *const u8,
            text_length: usize,
            flow: *const u8,
            flow_length: usize,
            init: *const f64,
            init_length: usize,
            decision: *mut f64,
            decision_length: usize,
        ) -> u32;
        pub(super) safe fn call(
            handle: u32,
            handler: u32,
            event: *const f64,
            event_length: usize,
            path: *const f64,
            path_length: usize,
            decision: *mut f64,
            decision_length: usize,
        );
        pub(super) safe fn observe(handle: u32) -> usize;
        pub(super) safe fn release(handle: u32);
    }
}

/// Says how many trials have finished; whether the rest is wanted.
pub(crate) fn finished(count: u32) -> bool {
    imports::finished(count) != 0
}

/// What the controller of a text is, as JSON: `null` if there is none.
pub(crate) fn resolve(text: &str) -> String {
    imports::resolve(text.as_ptr(), text.len());
    take_room()
}

/// Makes a controller, writes its first decision, and returns its handle.
pub(crate) fn make(text: &str, flow: &str, init: &[f64], decision: &mut [f64]) -> u32 {
    imports::make(
        text.as_ptr(),
        text.len(),
        flow.as_ptr(),
        flow.len(),
        init.as_ptr(),
        init.len(),
        decision.as_mut_ptr(),
        decision.len(),
    )
}

/// Calls a handler by its number with the record of its event and of the path, and writes the decision.
pub(crate) fn call(handle: u32, handler: u32, event: &[f64], path: &[f64], decision: &mut [f64]) {
    imports::call(
        handle,
        handler,
        event.as_ptr(),
        event.len(),
        path.as_ptr(),
        path.len(),
        decision.as_mut_ptr(),
        decision.len(),
    );
}

/// What `observe` returns, as JSON: texts, a name, its value, another name, and so on.
pub(crate) fn observe(handle: u32) -> String {
    imports::observe(handle);
    take_room()
}

/// Lets a controller go.
pub(crate) fn release(handle: u32) {
    imports::release(handle);
}
