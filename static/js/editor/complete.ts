// Completion: fields by kind and place, words that a field may be, heads of documents, names that the text gives.

import { contractNames } from "./contracts.ts";
import { namesIn } from "./names.ts";
import { entryOf, where } from "./position.ts";
import { child, fieldsOf, nodeAt } from "./schema.ts";
import type { Completion, CompletionContext } from "@codemirror/autocomplete";
import type { Names } from "./names.ts";
import type { Doc } from "./line.ts";
import type { Where } from "./position.ts";
import type { Field, Knows, Schema, SchemaNode } from "./schema.ts";

/** with `mark` for its look: "required", "ignored" */
export type Offer = Completion & { mark?: string };

const WORD = /^["']?[\w./*-]*$/;
// Kinds that are offered before the others.
const USUAL = new Set([
  "Node",
  "Pod",
  "Deployment",
  "Job",
  "PodGroup",
  "PriorityClass",
  "Service",
  "StatefulSet",
  "DaemonSet",
  "PodDisruptionBudget",
  "PersistentVolumeClaim",
  "PersistentVolume",
  "StorageClass",
  "SimulationSettings",
  "Policy",
  "Scenario",
  "KubeSchedulerConfiguration",
]);
const WHY = {
  ignored: "podstep does not read this field: it is kept and has no effect.",
  reported: "Other clusters may honor this field: it has no effect here, and podstep warns about it.",
};

// Fields that name another object: where its name comes from.
const REFERS: Record<string, string> = {
  nodeName: "Node",
  priorityClassName: "PriorityClass",
  claimName: "PersistentVolumeClaim",
  storageClassName: "StorageClass",
  volumeName: "PersistentVolume",
  podGroupName: "PodGroup",
};
const MAPS: Record<string, string> = {
  labels: "labels",
  matchLabels: "labels",
  nodeSelector: "labels",
  annotations: "annotations",
};

export async function complete(context: CompletionContext, knows: Knows) {
  await knows.ready;
  const { schema } = knows;
  const { doc } = context.state;
  const place = schema && where(doc, context.pos);
  if (!place || !WORD.test(doc.sliceString(place.from, context.pos))) return null;
  const typed = context.pos > place.from;
  if (!typed && !context.explicit && place.part === "key" && !place.item && !place.flow) return null;
  const node = nodeAt(schema, doc, place);
  const names = () => namesIn(doc, knows.beside);
  const options =
    place.part === "key" ? keys(schema, doc, place, node, names) : values(schema, doc, place, node, names);
  if (!options.length) return null;
  if (place.quote && place.part === "value") {
    const closed = doc.sliceString(context.pos, context.pos + 1) === place.quote;
    for (const option of options) option.apply = `${option.label}${closed ? "" : place.quote}`;
  }
  return { from: place.from, to: place.part === "value" ? context.pos : place.to, options, validFor: WORD };
}

// ---- fields

function keys(schema: Schema, doc: Doc, place: Where, node: SchemaNode | null, names: () => Names): Offer[] {
  const named = contractNames(doc, place, names);
  if (named.length) return named.map(([label, detail]) => ({ label, apply: `${label}: `, detail }));
  if (!node || (node.top && !node.p)) return heads(schema, doc, place);
  const listed = node.t.endsWith("[]"); // a list's place in which no dash stands yet
  const own = listed ? { ...node, t: node.t.slice(0, -2) } : node;
  const dash = listed ? "- " : "";
  if (own.t.endsWith("{}")) return mapKeys(schema, place, own, doc, names());
  if (own.t !== "object" && !own.p)
    return place.item || listed
      ? words(schema, doc, place, own, own.e, names()).map((option) => ({
          ...option,
          apply: dash + (option.apply ?? option.label),
        }))
      : [];
  const indent = " ".repeat(place.column + dash.length);
  const bare = hasColon(doc, place);
  return fieldsOf(schema, own)
    .filter(
      ([name]) =>
        name === place.key
        || listed
        || (!place.frame.map.has(name) && (place.flow || !entryOf(doc, place.frame, name))),
    )
    .map(([name, field]) =>
      option(name, field, {
        top: own.top,
        before: dash,
        after: place.quote + (bare ? "" : opening(field, indent, place.flow)),
        ignored: node.x,
      }),
    );
}

const hasColon = (doc: Doc, place: Where) =>
  /^\s*:/.test(doc.sliceString(place.to, Math.min(doc.length, place.to + 3)));

function opening({ t, p, by }: Field, indent: string, flow: boolean) {
  if (flow) return ": ";
  if (t.endsWith("[]")) return `:\n${indent}- `;
  if (t.endsWith("{}") || (t === "object" && (p || by)) || t === "manifest" || t === "patch") return `:\n${indent}  `;
  return ": ";
}

const FIRST: Record<string, number> = { apiVersion: 9, kind: 8, metadata: 7, spec: 6 };

function option(
  name: string,
  field: Field,
  { top, before, after, ignored }: { top?: boolean; before: string; after: string; ignored?: Field["x"] },
): Offer {
  const why = field.x ?? ignored;
  return {
    label: name,
    apply: `${before}${name}${after}`,
    detail: field.x ? `${field.t} · not read` : field.r ? `${field.t} · required` : field.t,
    info: field.d || why ? () => info(field.d, why) : undefined,
    boost: (top ? (FIRST[name] ?? 0) : name === "name" ? 5 : 0) + (field.r ? 20 : 0) - (field.x ? 40 : 0),
    mark: field.x ? "ignored" : field.r ? "required" : "",
  };
}

function info(text: string | undefined, why: Field["x"]) {
  const box = document.createElement("div");
  for (const part of [text, why && WHY[why]])
    if (part) {
      const line = document.createElement("div");
      line.textContent = part;
      box.append(line);
    }
  return box;
}

/** Whole beginnings of documents, where a document begins; else what every document has. */
function heads(schema: Schema, doc: Doc, place: Where) {
  const frame = place.frame;
  const has = (name: string) => Boolean(entryOf(doc, frame, name));
  if (place.steps.some(({ step }) => step !== "[]" && step !== "items" && step !== "object")) return [];
  const basics = ["apiVersion", "kind", "metadata", "spec"]
    .filter((name) => !has(name))
    .map((name) => ({
      label: name,
      apply: name === "metadata" || name === "spec" ? `${name}:\n${" ".repeat(place.column + 2)}` : `${name}: `,
      boost: FIRST[name],
    }));
  if (has("kind") || has("apiVersion") || place.flow) return basics;
  const indent = " ".repeat(place.column);
  return [
    ...basics,
    ...Object.entries(schema.kinds).map(([kind, versions]) => {
      const [version] = Object.keys(versions);
      const hasName =
        schema.parts[versions[version]]?.f.metadata && !/Settings|Policy|Configuration|Scenario|List/.test(kind);
      const metadata = hasName ? `metadata:\n${indent}  name: ` : "";
      return {
        label: kind,
        detail: version,
        boost: USUAL.has(kind) ? 2 : 0,
        apply: `apiVersion: ${version}\n${indent}kind: ${kind}\n${indent}${metadata}`,
        info: schema.parts[versions[version]]?.d || undefined,
      };
    }),
  ];
}

// ---- keys of maps

function mapKeys(schema: Schema, place: Where, node: SchemaNode, doc: Doc, names: Names): Offer[] {
  const map = place.steps.findLast(({ step }) => step !== "[]")?.step ?? "";
  const rows: Map<string, string> = new Map();
  if (node.t === "Quantity{}") {
    for (const name of names.resources) rows.set(name, "");
    for (const [name, text] of Object.entries(schema.resources)) rows.set(name, text);
  } else if (MAPS[map] === "labels") {
    for (const name of names.labels.keys()) rows.set(name, "");
    for (const [name, text] of Object.entries(schema.labels)) rows.set(name, text);
  } else if (MAPS[map] === "annotations") {
    const kind = /^(Pod|Deployment|ReplicaSet|StatefulSet|DaemonSet|Job|ReplicationController)$/.test(node.inside ?? "")
      ? "Pod"
      : node.inside;
    for (const [name, [of, text]] of Object.entries(schema.annotations)) if (of === kind || !kind) rows.set(name, text);
  }
  const after = place.quote + (hasColon(doc, place) ? "" : ": ");
  return [...rows]
    .filter(([name]) => name === place.key || !place.frame.map.has(name))
    .map(([name, text]) => ({ label: name, apply: `${name}${after}`, info: text || undefined }));
}

// ---- values

function values(schema: Schema, doc: Doc, place: Where, node: SchemaNode | null, names: () => Names): Offer[] {
  if (place.key === undefined) return node && place.item ? words(schema, doc, place, node, node.e, names()) : [];
  if (place.key === "kind" || place.key === "apiVersion") {
    const heads_ = head(schema, doc, place, node);
    if (heads_) return heads_;
  }
  const field = node && child(schema, doc, node, place.key, place.frame);
  const named = contractNames(doc, place, names).map(([label, detail]) => ({ label, apply: quoted(label), detail }));
  return [...named, ...words(schema, doc, place, field ?? node ?? { t: "" }, field?.e, names())];
}

/** Kinds, and the versions that the kind beside has. */
function head(schema: Schema, doc: Doc, place: Where, node: SchemaNode | null): Offer[] | null {
  if (node && !node.top) return null;
  const other = entryOf(doc, place.frame, place.key === "kind" ? "apiVersion" : "kind")?.value;
  if (place.key === "kind")
    return Object.entries(schema.kinds).map(([kind, versions]) => ({
      label: kind,
      detail: Object.keys(versions)[0],
      boost: other && other in versions ? 10 : 0,
      info: schema.parts[Object.values(versions)[0]]?.d || undefined,
    }));
  const rows = other && schema.kinds[other] ? [schema.kinds[other]] : Object.values(schema.kinds);
  return [...new Set(rows.flatMap((versions) => Object.keys(versions)))].map((label) => ({ label }));
}

function words(
  schema: Schema,
  doc: Doc,
  place: Where,
  field: SchemaNode,
  allowed: Record<string, string> | undefined,
  names: Names,
) {
  const rows: Offer[] = Object.entries(allowed ?? {}).map(([label, text]) => ({
    label,
    apply: quoted(label),
    info: text || undefined,
    boost: 5,
  }));
  if (field.t === "boolean") rows.push({ label: "true" }, { label: "false" });
  const from = (set: Iterable<string> | undefined, detail: string) => {
    for (const label of set ?? []) rows.push({ label, apply: quoted(label), detail });
  };
  const key = place.key ?? place.steps.findLast(({ step }) => step !== "[]")?.step ?? "";
  const map = place.steps.findLast(({ step }) => step !== "[]")?.step ?? "";
  if (REFERS[key]) from(names.kinds.get(REFERS[key]), REFERS[key]);
  if (key === "priorityClassName") from(["system-cluster-critical", "system-node-critical"], "PriorityClass");
  if (key === "schedulerName") from(names.schedulers, "scheduler");
  if (key === "namespace") from(names.kinds.get("Namespace"), "Namespace");
  if (key === "topologyKey") from(new Set([...names.labels.keys(), ...Object.keys(schema.labels)]), "label");
  if (MAPS[map] === "labels") from(names.labels.get(key), key);
  if (key === "pod-group.scheduling.sigs.k8s.io" || key === "scheduling.x-k8s.io/pod-group")
    from(names.kinds.get("PodGroup"), "PodGroup");
  if (key === "key" && (map === "matchExpressions" || map === "preferredDuringSchedulingIgnoredDuringExecution"))
    from(new Set([...names.labels.keys(), ...Object.keys(schema.labels)]), "label");
  if (key === "key" && map === "tolerations") from(names.taints.keys(), "taint");
  if (key === "values" && map === "values") {
    const other = place.steps.findLast(({ frame }) => frame)?.frame;
    from(names.labels.get((other && entryOf(doc, other, "key")?.value) as string), "label");
  }
  if (key === "name" && ["objectMeta"].includes(map))
    from(new Set([...names.kinds.values()].flatMap((set) => [...set])), "object");
  const seen: Set<string> = new Set();
  return rows.filter(({ label }) => label && !seen.has(label) && seen.add(label));
}

/** A word as YAML takes it for text: what reads as something else gets quotes. */
const quoted = (word: string) =>
  /^(true|false|yes|no|on|off|y|n|null|~|[\d.+-]+)$/i.test(word) || /^[*&!%@`]/.test(word) ? `"${word}"` : word;
