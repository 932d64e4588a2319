// What a place may hold: the server's document of kinds and parts, and the way along a path through it.

import { isRecording } from "../lib/recorded.ts";
import { entryOf } from "./position.ts";
import type { Doc, Entry, Frame } from "./line.ts";
import type { Where } from "./position.ts";

/**
 * A field, as the server's document writes it: its type `t`, the part `p` that it is, its description `d`, the words
 * that it may be `e`, whether it is required `r`, why it has no effect `x`; `by`: another field selects the part.
 */
export type Field = {
  t: string;
  p?: string | null;
  d?: string;
  e?: Record<string, string>;
  r?: boolean | number;
  x?: "ignored" | "reported";
  by?: [field: string, parts: Record<string, string>];
};
/** What a place may hold, and of which kind. */
export type SchemaNode = Field & { kind?: string; top?: boolean; inside?: string };

export type Schema = {
  /** by kind and version: the part */
  kinds: Record<string, Record<string, string>>;
  parts: Record<string, { d: string; f: Record<string, Field> }>;
  labels: Record<string, string>;
  annotations: Record<string, [kind: string, text: string]>;
  resources: Record<string, string>;
  /** of a text that is a part of a document */
  root?: SchemaNode;
};
export type Knows = { schema: Schema | null; ready?: Promise<void>; beside?: string };

const ADDRESS = "/schemas.json";
let loaded: Knows | null = null;

/** The schemas, once for all editors of a page: `{ready: Promise, schema}`; without them there is no completion. */
export function loadSchema() {
  if (!loaded) {
    const knows: Knows = { schema: null };
    loaded = knows;
    if (isRecording()) return loaded; // nobody completes what cannot be edited
    knows.ready = fetch(ADDRESS)
      .then((answer) => {
        if (!answer.ok) throw new Error(String(answer.status));
        return answer.json();
      })
      .then(
        (schema) => {
          knows.schema = schema;
        },
        () => {
          loaded = null;
        },
      );
  }
  return loaded;
}

// What a text may be a part of: the part of the schemas that it is, which fields of it, and the kind of the whole.
const PARTS: Record<string, { kind: string; part: string; of: RegExp }> = {
  operation: { kind: "Scenario", part: "Scenario.spec.operations", of: /Operation$/ },
};

/**
 * What an editor knows: the schemas, narrowed to its text if that is part of a document, and the text `beside` it whose
 * names count too.
 */
export function within(knows: Knows, context: string) {
  const place = PARTS[context];
  let made: Schema | null = null;
  return {
    ready: knows.ready,
    beside: "",
    get schema() {
      const { schema } = knows;
      if (!place || !schema?.parts[place.part]) return schema;
      const fields = Object.entries(schema.parts[place.part].f).filter(([name]) => place.of.test(name));
      made ??= {
        ...schema,
        parts: { ...schema.parts, [context]: { d: "", f: Object.fromEntries(fields) } },
        root: { t: "object", p: context, kind: place.kind },
      };
      return made;
    },
  };
}

/** The part that a document of this kind is; of several versions the one it names, else the newest. */
function partOf(schema: Schema, kind: string, version: string) {
  const versions = schema.kinds[kind];
  if (!versions) return null;
  const group = (text: string) => (text.includes("/") ? text.split("/")[0] : "");
  const same = Object.keys(versions).find((one) => group(one) === group(version));
  return versions[version] ?? (same === undefined ? Object.values(versions)[0] : versions[same]);
}

const bare = (entry?: Entry) => (entry?.value ?? "").replace(/^["']|["']$/g, "");

function root(schema: Schema, doc: Doc, frame: Frame): SchemaNode {
  const kind = bare(entryOf(doc, frame, "kind"));
  const part = partOf(schema, kind, bare(entryOf(doc, frame, "apiVersion")));
  return { t: "object", p: part, kind, top: true };
}

/** The kind that an operation beside this patch names in its typeMeta. */
function patched(schema: Schema, doc: Doc, frame: Frame): SchemaNode {
  const entry = entryOf(doc, frame, "typeMeta");
  if (!entry) return { t: "object", p: null };
  let text = entry.value;
  for (let n = entry.line + 1; entry.line && n <= Math.min(doc.lines, entry.line + 3); n += 1)
    text += `\n${doc.line(n).text}`;
  const kind = /kind:\s*(\w+)/.exec(text)?.[1] ?? "";
  return { t: "object", p: partOf(schema, kind, ""), kind };
}

/**
 * The node at a place: `{t, p, d, e, x}` as its field describes it, with `kind` of the object it is in and `above`, the
 * field that makes all of it ineffective. Null where the schemas have none.
 */
export function nodeAt(schema: Schema, doc: Doc, place: Where): SchemaNode | null {
  const frames = [...place.steps.flatMap(({ frame }) => frame ?? []), place.frame];
  let next = 0;
  let node: SchemaNode | null = schema.root ?? root(schema, doc, frames[next]);
  const { kind } = node;
  let inside = kind;
  let ignored: Field["x"] | "" = "";
  for (const { step, frame } of place.steps) {
    if (frame) next += 1;
    node = step === "[]" ? item(node) : child(schema, doc, node, step, frame);
    if (!node) return null;
    if (node.t === "manifest" && place.frame) node = { ...node, ...root(schema, doc, frames[next] ?? place.frame) };
    if (node.t === "patch" && frame) node = { ...node, ...patched(schema, doc, frame) };
    if (node.kind) inside = node.kind;
    if (node.top || node.kind) ignored = "";
    ignored ||= node.x ?? "";
  }
  return { ...node, inside, x: ignored || node.x };
}

const item = (node: SchemaNode): SchemaNode | null =>
  node.t.endsWith("[]") ? { ...node, t: node.t.slice(0, -2), e: node.e } : null;

/** The field of a node. */
export function child(schema: Schema, doc: Doc, node: SchemaNode, key: string, frame?: Frame): SchemaNode | null {
  if (node.t.endsWith("{}")) return { ...node, t: node.t.slice(0, -2), kind: undefined, top: false };
  const fields = schema.parts[node.p ?? ""]?.f;
  const field = fields?.[key];
  if (!field) return null;
  if (!field.by) return field;
  const [other, parts] = field.by;
  return { ...field, t: "object", p: frame ? (parts[bare(entryOf(doc, frame, other))] ?? null) : null };
}

/** The fields that a node may have: `[[name, field]…]`. */
export const fieldsOf = (schema: Schema, node: SchemaNode | null) =>
  Object.entries(schema.parts[node?.p ?? ""]?.f ?? {});
