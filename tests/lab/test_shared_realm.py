"""Controllers in JavaScript run in one realm: one file changes nothing for another."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lab.conftest import Open
from lab.test_own_controllers import NEWRENO, RUN
from thalweg import Scenario

pytestmark = pytest.mark.timeout(300)  # longer than others: a loaded machine must not fail them

TAMPER = r"""
const attempts = [
  () => { Math.max = () => 1e9; },
  () => { Math.min = () => 1e9; },
  () => { globalThis.Math = { max: () => 1e9, min: () => 1e9, round: () => 1e9, floor: () => 1e9 }; },
  () => { globalThis.shared = 1; },
  () => { Object.prototype.app_limited = true; },
  () => { Object.defineProperty(Object.prototype, "window", { get: () => 1e9, set() {} }); },
  () => { Array.prototype.map = () => []; },
  () => { Float64Array.prototype.slice = () => new Float64Array(99); },
  () => { Function.prototype.apply = () => {}; },
  () => { Number.isNaN = () => false; },
  () => { Map.prototype.get = () => undefined; },
  () => { Promise.prototype.then = () => {}; },
  () => { URL.createObjectURL = () => "blob:"; },
  () => { Error.prepareStackTrace = () => ""; },
  () => { (function* () {})().__proto__.__proto__.__proto__.next = () => ({ done: true }); },
  () => { WebAssembly.compile = () => {}; },
];
const tamper = () => attempts.filter((attempt) => { try { attempt(); return true; } catch { return false; } });
const ofRecords = (...records) => records.filter((record) => {
  let done = false;
  for (let at = record; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    if (at !== record) try { Object.defineProperty(at, "window_limited", { value: true }); done = true; } catch {}
    if (at !== record) try { at.snapshot = null; done = true; } catch {}
  }
  return done || record.constructor !== Object;
});
class Wrong extends Error { constructor() { super("x"); this.name = "Wrong"; this.message = "own"; } }
"""
"""What a file may try against others that run beside it."""


def beside(view: Any, evil: str) -> str:
    """The hash of a trial of New Reno beside a flow that a file of somebody else steers."""
    text = Scenario.load("c4/simple-20mbps").toml
    text += '\n[[flow]]\nname = "evil"\ncontroller = "cubic"\nupload = "2 MB"\nstart = "100 ms"\n'
    controllers = {"main": "./mine.js", "evil": "./evil.js"}
    return str(view.evaluate(RUN, [text, controllers, {"evil.js": evil, "mine.js": NEWRENO}, "1"]))


def test_a_file_changes_nothing_for_another_one(opened: Open) -> None:
    view = opened()
    quiet = "export default class Evil { on_ack(event, path) { this.window = 20000; } }"
    evil = TAMPER + quiet.replace("this.window", "tamper(); ofRecords(event, path, event.snapshot); this.window")
    expected = beside(view, quiet)
    assert re.fullmatch("[0-9a-f]{16}", expected)
    assert beside(view, evil.replace("class Wrong", "tamper();\nclass Wrong")) == expected
    tell = "const done = [...tamper(), ...ofRecords(event, path)].map(String);"
    tell += "throw new Error('done: ' + done + '.');"
    assert "Error: done: . (in on_ack" in beside(view, evil.replace("tamper();", tell, 1))
    # Properties of objects of its own stay free, also where a frozen prototype has them.
    own = "const wrong = new Wrong(); const words = { toString: () => 'text' }; words.toString = () => 'new';"
    tell = f"{own} throw new Error(`${{wrong.name}} ${{wrong.message}} ${{words}}`);"
    assert "Error: Wrong own new (in on_ack" in beside(view, evil.replace("tamper();", tell, 1))
