// What a place may hold: the server's document of kinds and parts, and the way along a path through it.

import { entryOf } from "./position.js";
/** @import { Doc, Entry, Frame, Where } from "./position.js" */

/**
 * A field, as the server's document writes it: its type `t`, the part `p` that it is, its description `d`, the words
 * that it may be `e`, whether it is required `r`, why it has no effect `x`; `by`: another field selects the part.
 *
 * @typedef {object} Field
 * @property {string} t
 * @property {string | null} [p]
 * @property {string} [d]
 * @property {Record<string, string>} [e]
 * @property {boolean | number} [r]
 * @property {"ignored" | "reported"} [x]
 * @property {[field: string, parts: Record<string, string>]} [by]
 */
/**
 * What a place may hold, and of which kind.
 *
 * @typedef {Field & { kind?: string, top?: boolean, inside?: string }} SchemaNode
 */

/**
 * @typedef {object} Schema
 * @property {Record<string, Record<string, string>>} kinds by kind and version: the part
 * @property {Record<string, { d: string, f: Record<string, Field> }>} parts
 * @property {Record<string, string>} labels
 * @property {Record<string, [kind: string, text: string]>} annotations
 * @property {Record<string, string>} resources
 * @property {SchemaNode} [root] of a text that is a part of a document
 */
/** @typedef {{ schema: Schema | null, ready?: Promise<void>, beside?: string }} Knows */

const ADDRESS = "/schemas.json";
/** @type {Knows | null} */
let loaded = null;

/** The schemas, once for all editors of a page: `{ready: Promise, schema}`; without them there is no completion. */
export function loadSchema() {
  if (!loaded) {
    /** @type {Knows} */
    const knows = { schema: null };
    loaded = knows;
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
/** @type {Record<string, { kind: string, part: string, of: RegExp }>} */
const PARTS = { operation: { kind: "Scenario", part: "Scenario.spec.operations", of: /Operation$/ } };

/**
 * What an editor knows: the schemas, narrowed to its text if that is part of a document, and the text `beside` it whose
 * names count too.
 *
 * @param {Knows} knows
 * @param {string} context
 */
export function within(knows, context) {
  const place = PARTS[context];
  /** @type {Schema | null} */
  let made = null;
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

/**
 * The part that a document of this kind is; of several versions the one it names, else the newest.
 *
 * @param {Schema} schema
 * @param {string} kind
 * @param {string} version
 */
function partOf(schema, kind, version) {
  const versions = schema.kinds[kind];
  if (!versions) return null;
  const group = (/** @type {string} */ text) => (text.includes("/") ? text.split("/")[0] : "");
  const same = Object.keys(versions).find((one) => group(one) === group(version));
  return versions[version] ?? (same === undefined ? Object.values(versions)[0] : versions[same]);
}

/** @param {Entry} [entry] */
const bare = (entry) => (entry?.value ?? "").replace(/^["']|["']$/g, "");

/**
 * @param {Schema} schema
 * @param {Doc} doc
 * @param {Frame} frame
 * @returns {SchemaNode}
 */
function root(schema, doc, frame) {
  const kind = bare(entryOf(doc, frame, "kind"));
  const part = partOf(schema, kind, bare(entryOf(doc, frame, "apiVersion")));
  return { t: "object", p: part, kind, top: true };
}

/**
 * The kind that an operation beside this patch names in its typeMeta.
 *
 * @param {Schema} schema
 * @param {Doc} doc
 * @param {Frame} frame
 * @returns {SchemaNode}
 */
function patched(schema, doc, frame) {
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
 *
 * @param {Schema} schema
 * @param {Doc} doc
 * @param {Where} place
 * @returns {SchemaNode | null}
 */
export function nodeAt(schema, doc, place) {
  const frames = [...place.steps.flatMap(({ frame }) => frame ?? []), place.frame];
  let next = 0;
  /** @type {SchemaNode | null} */
  let node = schema.root ?? root(schema, doc, frames[next]);
  const { kind } = node;
  let inside = kind;
  /** @type {Field["x"] | ""} */
  let ignored = "";
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

/**
 * @param {SchemaNode} node
 * @returns {SchemaNode | null}
 */
const item = (node) => (node.t.endsWith("[]") ? { ...node, t: node.t.slice(0, -2), e: node.e } : null);

/**
 * The field of a node.
 *
 * @param {Schema} schema
 * @param {Doc} doc
 * @param {SchemaNode} node
 * @param {string} key
 * @param {Frame} [frame]
 * @returns {SchemaNode | null}
 */
export function child(schema, doc, node, key, frame) {
  if (node.t.endsWith("{}")) return { ...node, t: node.t.slice(0, -2), kind: undefined, top: false };
  const fields = schema.parts[node.p ?? ""]?.f;
  const field = fields?.[key];
  if (!field) return null;
  if (!field.by) return field;
  const [other, parts] = field.by;
  return { ...field, t: "object", p: frame ? (parts[bare(entryOf(doc, frame, other))] ?? null) : null };
}

/**
 * The fields that a node may have: `[[name, field]…]`.
 *
 * @param {Schema} schema
 * @param {SchemaNode | null} node
 */
export const fieldsOf = (schema, node) => Object.entries(schema.parts[node?.p ?? ""]?.f ?? {});
