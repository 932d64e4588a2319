// Help on a field, where the pointer rests on it or by F1 where the cursor is.

import { EditorView, StateEffect, StateField, hoverTooltip, keymap, showTooltip } from "../../vendor/codemirror.js";
import { announce } from "../lib/dom.ts";
import { where } from "./position.ts";
import { child, nodeAt } from "./schema.ts";
import type { Doc } from "./line.ts";
import type { Knows, Schema } from "./schema.ts";
import type { StateEffectType, StateField as Field } from "@codemirror/state";
import type { EditorView as Editor, Tooltip } from "@codemirror/view";

const WHY = {
  ignored: "podstep does not read this field: it is kept and has no effect.",
  reported: "Other clusters may honor this field: it has no effect here, and podstep warns about it.",
};

const shown: StateEffectType<Tooltip | null> = StateEffect.define();

export type Found = NonNullable<ReturnType<typeof fieldAt>>;

/** What is known of the field at a position: `{from, to, name, path, field}`, or null. */
export function fieldAt(schema: Schema | null, doc: Doc, at: number) {
  if (!schema) return null;
  const place = where(doc, at);
  if (!place?.key) return null;
  const node = nodeAt(schema, doc, place);
  if (!node) return null;
  const field = child(schema, doc, node, place.key, place.frame);
  const of = node.t.endsWith("{}")
    ? (schema.labels[place.key] ?? schema.annotations[place.key]?.[1] ?? schema.resources[place.key])
    : undefined;
  if (!field || (node.t.endsWith("{}") && of === undefined)) return null;
  const path = [...place.steps.map(({ step }) => step), place.key].join(".").replaceAll(".[]", "[]");
  return {
    from: place.from,
    to: place.to,
    name: place.key,
    path,
    kind: node.inside,
    field: { ...field, d: of ?? field.d, x: node.x || field.x },
  };
}

function card({ name, path, kind, field }: Found) {
  const make = (tag: string, name_: string, text: string) => {
    const element = document.createElement(tag);
    if (name_) element.className = name_;
    element.textContent = text;
    return element;
  };
  const box = make("div", "cm-help", "");
  const head = make("div", "cm-help-head", "");
  head.append(make("b", "", name), make("span", "cm-help-type", `${field.t}${field.r ? ", required" : ""}`));
  box.append(head);
  if (field.d) box.append(make("p", "", field.d));
  const words = Object.keys(field.e ?? {});
  if (words.length)
    box.append(make("p", "", `One of ${words.slice(0, 24).join(", ")}${words.length > 24 ? ", …" : ""}.`));
  if (field.x) box.append(make("p", "cm-help-mark", WHY[field.x]));
  box.append(make("code", "", `${kind ? `${kind} ` : ""}${path}`));
  return box;
}

const tooltip = (found: Found): Tooltip => ({
  pos: found.from,
  end: found.to,
  above: true,
  create: () => ({ dom: card(found) }),
});

const asked: Field<Tooltip | null> = StateField.define({
  create: () => null as Tooltip | null,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(shown)) return effect.value;
    return transaction.docChanged || transaction.selection ? null : value;
  },
  provide: (field) => showTooltip.from(field),
});

/** The extension; `knows` is what `loadSchema` returns. */
export function help(knows: Knows) {
  const ask = (view: Editor) => {
    const found = fieldAt(knows.schema, view.state.doc, view.state.selection.main.head);
    view.dispatch({ effects: shown.of(found && tooltip(found)) });
    announce(
      found
        ? `${found.name}: ${found.field.t}. ${found.field.d ?? ""} ${found.field.x ? WHY[found.field.x] : ""}`
        : "No help for this position.",
    );
    return true;
  };
  const hide = (view: Editor) => {
    if (!view.state.field(asked)) return false;
    view.dispatch({ effects: shown.of(null) });
    return true;
  };
  return [
    asked,
    hoverTooltip(
      (view, at) => {
        const found = fieldAt(knows.schema, view.state.doc, at);
        return found && at >= found.from && at <= found.to ? tooltip(found) : null;
      },
      { hoverTime: 350 },
    ),
    keymap.of([
      { key: "F1", run: ask, preventDefault: true },
      { key: "Escape", run: hide },
    ]),
    EditorView.domEventHandlers({
      blur: (_, view) => {
        hide(view);
      },
    }),
  ];
}
