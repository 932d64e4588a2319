// The forms for arguments of a Policy's own predicates and priorities, and of plugins that no catalogue declares.

import { useState } from "preact/hooks";
import { CUSTOM, PLUGIN_ARGUMENTS } from "./arguments.ts";
import { ask } from "./asking.tsx";
import type { Given, Refusal } from "./form.ts";
import { ArgumentField, argumentsForm } from "./plugins/dialog.tsx";
import type { Arguments } from "./plugins/values.ts";

type Reads = Map<string, () => any>;
type Custom = (typeof CUSTOM)[number];

/**
 * The form of a predicate or priority with an argument, a new one or that of `name`. `change(name, value)` returns what
 * is wrong, or "".
 */
export function customForm(given: Given, change: (name: string, value: string) => Promise<string>) {
  const { name, argument } = given;
  const known = argument && CUSTOM.find(({ kind }) => kind in argument);
  const offered = known ? [known] : CUSTOM.filter((one) => !given.list || one.list === given.list);
  const reads: Reads = new Map();
  ask({
    title: known ? `Arguments of ${name}` : "Add one with an argument",
    label: known ? "Change" : "Add",
    content: <Fields given={given} offered={offered} known={Boolean(known)} reads={reads} />,
    run: (form) => {
      const typed = new FormData(form);
      const { list, kind } = offered.find((one) => one.kind === typed.get("kind")) ?? (offered[0] as Custom);
      const written = Object.fromEntries([...reads].map(([path, get]) => [path, get()]));
      const weight = list === "priorities" ? { weight: Number(typed.get("weight")) } : {};
      const value = JSON.stringify({ list, argument: { [kind]: written }, ...weight });
      return change(String(typed.get("name")).trim(), value);
    },
  });
}

type FieldsProps = { given: Given; offered: Custom[]; known: boolean; reads: Reads };

function Fields({ given: { name, argument, weight }, offered, known, reads }: FieldsProps) {
  const [at, choose] = useState(0);
  const { kind, list, name: usual, fields, fresh } = offered[at] as Custom;
  reads.clear();
  return (
    <>
      <div class="argument">
        <label for="argument-kind">kind</label>
        <select
          class="field"
          id="argument-kind"
          name="kind"
          disabled={known}
          onChange={(event) => choose(event.currentTarget.selectedIndex)}
        >
          {offered.map(({ kind, label }) => (
            <option value={kind}>{label}</option>
          ))}
        </select>
      </div>
      <div class="argument">
        <label for="argument-name">name</label>
        <input
          key={kind}
          class="field mono"
          id="argument-name"
          name="name"
          autocomplete="off"
          spellcheck={false}
          readOnly={known}
          required
          maxlength={60}
          defaultValue={name || usual}
        />
        {known ? null : (
          <small class="dim">
            Under a name that the static order does not have, v1.11 never evaluates a predicate.
          </small>
        )}
      </div>
      <div class="arguments" key={kind}>
        {fields.map((one) => (
          <ArgumentField
            key={one.path}
            argument={one}
            given={{ ...fresh, ...argument?.[kind] }}
            read={(get) => reads.set(one.path, get)}
          />
        ))}
      </div>
      <div class="argument" hidden={list !== "priorities"}>
        <label for="argument-weight">weight</label>
        <input
          class="field num"
          id="argument-weight"
          name="weight"
          type="number"
          min={1}
          step={1}
          defaultValue={String(weight ?? 1)}
          required
        />
      </div>
    </>
  );
}

type Change = (value: string) => Promise<Refusal | null>;

/** The form of a plugin of v1.22; `change` as that of `argumentsForm`. */
export function pluginForm(name: string, given: Arguments | undefined, change: Change) {
  const declared = PLUGIN_ARGUMENTS[name];
  if (declared) return argumentsForm({ name, arguments: declared }, given ?? {}, change);
  ask({
    title: `Arguments of ${name}`,
    label: "Change",
    content: (
      <div class="argument">
        <label for="argument-json">as JSON</label>
        <textarea
          class="field mono"
          id="argument-json"
          name="json"
          rows={8}
          spellcheck={false}
          defaultValue={JSON.stringify(given ?? {}, null, 2)}
        />
      </div>
    ),
    run: async (form) => {
      const refusal = await change(String(new FormData(form).get("json")).trim());
      return refusal ? (refusal.errors[0]?.message ?? refusal.message) : "";
    },
    more: given ? ["Reset to defaults", () => change("")] : undefined,
  });
}
