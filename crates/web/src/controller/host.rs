//! The page's side of controllers that it brings along, as the engine sees it.

use js_sys::{Array, Error, Reflect};
use std::cell::RefCell;
use thalweg_control::foreign::Draws;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// Who has controllers: an object with these methods. `lab/src/own/host.ts` is one.
    pub type Host;

    /// What the controller of a text is, `{defined, report_every, senders_only}`, or `null` if there is none. Throws
    /// what is wrong with it.
    #[wasm_bindgen(method, catch)]
    pub(super) fn resolve(this: &Host, text: &str) -> Result<JsValue, JsValue>;

    /// Makes one, writes its first decision, and returns its handle.
    #[wasm_bindgen(method)]
    pub(super) fn make(
        this: &Host,
        text: &str,
        flow: &str,
        init: &[f64],
        decision: &mut [f64],
    ) -> u32;

    /// Calls a handler by its number with the record of its event and of the path, and writes the decision.
    #[wasm_bindgen(method)]
    pub(super) fn call(
        this: &Host,
        handle: u32,
        handler: u32,
        event: &[f64],
        path: &[f64],
        decision: &mut [f64],
    );

    /// What `observe` returns: a name, its value, another name, and so on.
    #[wasm_bindgen(method)]
    pub(super) fn observe(this: &Host, handle: u32) -> Array;

    /// Lets one go.
    #[wasm_bindgen(method)]
    pub(super) fn release(this: &Host, handle: u32);
}

thread_local! {
    static HOST: RefCell<Option<JsValue>> = const { RefCell::new(None) };
    static DRAWS: RefCell<Vec<Draws>> = const { RefCell::new(Vec::new()) };
}

/// Gives the engine the controllers of a host.
#[wasm_bindgen(js_name = setHost)]
pub fn set_host(host: Host) {
    HOST.with_borrow_mut(|own| *own = Some(host.into()));
}

/// The host, if there is one.
pub(super) fn host() -> Option<Host> {
    HOST.with_borrow(|host| host.clone().map(JsCast::unchecked_into))
}

/// A real number from 0 up to, not including, 1, of the random source with this number, for a controller.
#[wasm_bindgen]
pub fn draw(source: u32) -> f64 {
    DRAWS.with_borrow_mut(|draws| draws.get_mut(source as usize).map_or(f64::NAN, Draws::draw))
}

/// Keeps a random source, and returns its number.
pub(super) fn keep(source: Draws) -> u32 {
    DRAWS.with_borrow_mut(|draws| {
        draws.push(source);
        draws.len() as u32 - 1
    })
}

/// Lets all random sources go: between trials nobody has one.
pub(crate) fn forget_draws() {
    DRAWS.with_borrow_mut(Vec::clear);
}

/// The message of what was thrown.
pub(super) fn said(thrown: &JsValue) -> String {
    match thrown.dyn_ref::<Error>() {
        Some(error) => String::from(error.message()),
        None => format!("{thrown:?}"),
    }
}

fn property(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).unwrap_or(JsValue::UNDEFINED)
}

pub(super) fn text(object: &JsValue, name: &str) -> Option<String> {
    property(object, name).as_string()
}

pub(super) fn truth(object: &JsValue, name: &str) -> bool {
    property(object, name).is_truthy()
}

pub(super) fn texts(object: &JsValue, name: &str) -> Vec<String> {
    let list = Array::from(&property(object, name));
    list.iter().filter_map(|entry| entry.as_string()).collect()
}
