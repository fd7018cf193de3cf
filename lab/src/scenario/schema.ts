// What the schema of scenario files says of a table and of a key in it.

interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  description?: string;
  examples?: unknown[];
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  type?: string | string[];
}

export interface Key {
  name: string;
  meaning: string;
  required: boolean;
  /** `table` if the key opens one, `list` for a list of tables. */
  kind: "value" | "table" | "list";
  /** Values as a file writes them. */
  forms: string[];
}

export class Keys {
  private readonly root: Schema;

  constructor(schema: unknown) {
    this.root = schema as Schema;
  }

  /** The keys of the table at a path such as `["flow"]`; items of lists count as their table. */
  of(path: string[]): Key[] {
    let seen: Schema[] = [this.root];
    for (const name of path) seen = this.tables(seen.flatMap((one) => one.properties?.[name] ?? []));
    const found = new Map<string, Key>();
    for (const one of seen) {
      for (const [name, inner] of Object.entries(one.properties ?? {})) {
        if (!found.has(name)) found.set(name, this.key(name, inner, one.required?.includes(name) ?? false));
      }
    }
    return [...found.values()];
  }

  private key(name: string, schema: Schema, required: boolean): Key {
    const inner = this.alternatives(schema);
    const isList = inner.some((one) => one.type === "array" && this.tables(one.items ? [one.items] : []).some((item) => item.properties));
    const isTable = inner.some((one) => one.properties);
    const described = [schema, ...inner].map((one) => one.description).filter(Boolean);
    const own = (schema.examples ?? []).map((example) => JSON.stringify(example));
    const forms = inner.flatMap((one) => {
      const words = one.const !== undefined ? [one.const] : (one.enum ?? (own.length > 0 ? [] : one.examples) ?? []);
      const model = one.properties?.["model"]?.const;
      if (model !== undefined) {
        const rest = (one.required ?? []).filter((need) => need !== "model");
        const more = rest.map((need) => `, ${need} = ${this.example(one.properties?.[need] ?? {})}`);
        return [`{ model = ${JSON.stringify(model)}${more.join("")} }`];
      }
      if (one.type === "boolean") return ["true", "false"];
      return words.map((word) => JSON.stringify(word));
    });
    forms.unshift(...own);
    return { name, meaning: [...new Set(described)].join(" "), required, kind: isList ? "list" : isTable && forms.length === 0 ? "table" : "value", forms: [...new Set(forms)] };
  }

  /** A value that a key may have: its own example, or that of its type. */
  private example(schema: Schema): string {
    const found = schema.examples ?? this.alternatives(schema).flatMap((form) => form.examples ?? []);
    return JSON.stringify(found[0] ?? "");
  }

  private tables(schemas: Schema[]): Schema[] {
    return schemas.flatMap((schema) => this.alternatives(schema)).flatMap((one) => (one.items ? this.alternatives(one.items) : [one]));
  }

  /** What a schema stands for, without references and choices. */
  private alternatives(schema: Schema): Schema[] {
    const name = schema.$ref?.replace("#/$defs/", "");
    const next = [...(name ? [this.root.$defs?.[name] ?? {}] : []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
    return next.length > 0 ? next.flatMap((one) => this.alternatives({ ...one })) : [schema];
  }
}

/** The table that a line of a file stands in: `["flow"]` below `[[flow]]`. */
export function tableAt(lines: string[]): string[] {
  for (let index = lines.length - 1; index >= 0; index--) {
    const header = /^\s*\[{1,2}\s*([\w.-]+)\s*\]{1,2}/.exec(lines[index] as string);
    if (header) return (header[1] as string).split(".");
  }
  return [];
}
