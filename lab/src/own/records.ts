// Records of numbers from the engine as objects with names (crates/web/src/controller/records.rs).
//
// A record is copied when an object is made of it: a controller may keep what it was told.

/** The names in a record: `app_limited?` is a truth value, `snapshot.sent` is `sent` of `snapshot`. */
export type Names = string[];

export interface Records {
  path: Names;
  handlers: { name: string; fields: Names }[];
}

type RecordClass = new (values: Float64Array) => object;

const VALUES = Symbol("values");

/** A class whose objects have the names of a record. What has no value is null. */
export function shaped(names: Names): RecordClass {
  class Shape {
    readonly [VALUES]: Float64Array;
    constructor(values: Float64Array) {
      this[VALUES] = values.slice();
    }
  }
  const groups = new Map<string, [name: string, index: number][]>();
  names.forEach((name, index) => {
    const [first = "", second] = name.split(".");
    if (second === undefined) field(Shape.prototype, first, index);
    else groups.set(first, [...(groups.get(first) ?? []), [second, index]]);
  });
  for (const [group, fields] of groups) {
    const indices = fields.map(([, index]) => index);
    const Inner = shaped(fields.map(([name]) => name));
    Object.defineProperty(Shape.prototype, group, {
      get(this: { [VALUES]: Float64Array }) {
        const inner = Float64Array.from(indices, (index) => this[VALUES][index] as number);
        return inner.every(Number.isNaN) ? null : new Inner(inner);
      },
    });
  }
  return closed(Shape);
}

/** A class whose objects do not lead to it: its prototype is frozen, and who has an object can make no other. */
function closed<Kind extends RecordClass>(Class: Kind): Kind {
  const prototype = Class.prototype as { constructor?: unknown };
  delete prototype.constructor;
  Object.freeze(prototype);
  return Class;
}

function field(prototype: object, name: string, index: number): void {
  const isTruth = name.endsWith("?");
  Object.defineProperty(prototype, isTruth ? name.slice(0, -1) : name, {
    get(this: { [VALUES]: Float64Array }) {
      const value = this[VALUES][index] as number;
      if (Number.isNaN(value)) return null;
      return isTruth ? value === 1 : value;
    },
  });
}

/** The records that calls of handlers get, as classes: of the path, and of the event of each handler by its number. */
export class CallRecords {
  readonly Path: RecordClass;
  readonly names: string[];
  private readonly events: RecordClass[];

  /** `draw` gives a random number of the source with a number. */
  constructor({ path, handlers }: Records, draw: (source: number) => number) {
    this.Path = closed(class extends shaped(path) {
      readonly random: () => number;
      constructor(values: Float64Array) {
        super(values);
        const source = values[path.length] as number;
        this.random = () => draw(source);
      }
    });
    this.names = handlers.map(({ name }) => name);
    this.events = handlers.map(({ name, fields }) => (name === "on_ack" ? withUse(shaped(fields)) : shaped(fields)));
  }

  /** The arguments of a handler. */
  words(handler: number, event: Float64Array, path: Float64Array): unknown[] {
    const seen = new this.Path(path);
    if (event.length === 0) return [seen];
    if (this.names[handler] === "on_seed") return [event[0], seen];
    return [new (this.events[handler] as RecordClass)(event), seen];
  }
}

/** RFC 9002 section 7.8, as `Ack::window_was_underused` has it. */
function withUse(Ack: RecordClass): RecordClass {
  return closed(class extends Ack {
    window_was_underused(path: { window_limited: boolean }): boolean {
      const { snapshot } = this as unknown as { snapshot: { app_limited: boolean; window_limited: boolean } };
      return snapshot.app_limited && !snapshot.window_limited && !path.window_limited;
    }
  });
}
