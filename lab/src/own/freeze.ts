// Freezes what all code of a worker shares: files of readers run in one realm, and one that changed `Math.max` or
// `Array.prototype.map` would change what another decides.
//
// All objects that can be reached from the global object or by syntax are frozen. In JavaScript an assignment to a property
// that a frozen prototype has fails (`this.name = "Mine"` in a class of errors), so those that are often assigned become
// accessors whose setter makes a property of the object itself.

const KINDS = [Object, Function, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError];

/** What only syntax and methods reach. */
function hidden(): object[] {
  const made = [
    function* () {}, async () => {}, async function* () {}, (function* () {})(), (async function* () {})(), [][Symbol.iterator](), ""[Symbol.iterator](),
    new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), "".matchAll(/a/g),
  ];
  return made.map((one) => Object.getPrototypeOf(one) as object);
}

/** Makes the properties of a prototype such that an object that inherits them can have its own. Returns their values. */
function overridable(prototype: object): unknown[] {
  const values: unknown[] = [];
  for (const key of Reflect.ownKeys(prototype)) {
    const found = Object.getOwnPropertyDescriptor(prototype, key);
    if (!found?.configurable || !found.writable) continue;
    const { value, enumerable = false } = found as { value: unknown; enumerable?: boolean };
    values.push(value);
    Object.defineProperty(prototype, key, {
      get: () => value,
      set(this: object, given: unknown) {
        if (this === prototype) throw new TypeError(`${String(key)} is shared by all controllers; accepted: a property of an object of your own`);
        Object.defineProperty(this, key, { value: given, writable: true, enumerable: true, configurable: true });
      },
      enumerable,
      configurable: false,
    });
  }
  return values;
}

/** Freezes the realm. */
export function freeze(): void {
  const waiting: unknown[] = [globalThis, ...hidden()];
  for (const { prototype } of KINDS) waiting.push(...overridable(prototype as object));
  const seen = new Set<unknown>();
  while (waiting.length > 0) {
    const object = waiting.pop();
    if ((typeof object !== "object" && typeof object !== "function") || object === null || seen.has(object)) continue;
    seen.add(object);
    waiting.push(Object.getPrototypeOf(object));
    for (const key of Reflect.ownKeys(object)) {
      const found = Object.getOwnPropertyDescriptor(object, key);
      waiting.push(found?.value, found?.get, found?.set);
    }
    if (!ArrayBuffer.isView(object)) Object.freeze(object);
  }
}
