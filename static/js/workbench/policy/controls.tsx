// The controls of the Policy tab.

import type { ComponentChildren } from "preact";
import { Button } from "../../kit/button.tsx";
import type { Argument } from "../../lib/protocol.js";
import type { Given, PolicyForm } from "./form.ts";
import { customForm } from "./forms.tsx";

export const REFERENCE = "/reference/predicates/";

type PartProps = {
  id: string;
  title: string;
  hint?: ComponentChildren;
  class?: string;
  /** Another place leads to it. */
  target?: boolean;
  children?: ComponentChildren;
};

/** A part of the tab under its heading. */
export const Part = ({ id, title, hint, class: more = "", target = false, children }: PartProps) => (
  <section class={`policy-part ${more}`.trim()} aria-labelledby={`policy-${id}`} data-part={target ? id : undefined}>
    <h3 id={`policy-${id}`} tabIndex={target ? -1 : undefined}>
      {title} {typeof hint === "string" ? <small class="dim">{hint}</small> : hint}
    </h3>
    {children}
  </section>
);

type SwitchProps = { control: string; on: boolean; off?: boolean; label?: string; act: (on: boolean) => void };

/** A switch, which is `off` where it cannot be used. */
export const Switch = ({
  control,
  on,
  off = false,
  label,
  act,
  ...more
}: SwitchProps & { [aria: `aria-${string}`]: string }) => (
  <input
    type="checkbox"
    role="switch"
    class="switch"
    data-control={control}
    aria-label={label}
    checked={on}
    disabled={off}
    onChange={(event) => act(event.currentTarget.checked)}
    {...more}
  />
);

type ChoiceProps = {
  control: string;
  options: readonly (readonly [value: string, text: string, ...more: string[]])[];
  value: string;
  off: boolean;
  /** Gets the value, and its text. */
  act: (value: string, text: string) => void;
  [aria: `aria-${string}`]: string;
};

export const Choice = ({ control, options, value, off, act, ...more }: ChoiceProps) => (
  <select
    class="field"
    data-control={control}
    disabled={off}
    value={value}
    onChange={({ currentTarget }) => act(currentTarget.value, currentTarget.selectedOptions[0]?.text ?? "")}
    {...more}
  >
    {options.map(([key, text]) => (
      <option key={key} value={key}>
        {text}
      </option>
    ))}
  </select>
);

/** A control beside its name. */
export const Setting = ({ name, title, children }: { name: string; title?: string; children: ComponentChildren }) => (
  <label class="policy-setting" title={title}>
    <span>{name}</span>
    {children}
  </label>
);

type NumberProps = {
  form: PolicyForm;
  control: string;
  value: number;
  min: number;
  max: number;
  label?: string;
  act: (value: string) => void;
};

export const NumberField = ({ form, control, value, min, max, label, act }: NumberProps) => (
  <input
    type="number"
    class="field weight num"
    inputMode="numeric"
    min={min}
    max={max}
    step={1}
    value={value}
    data-control={control}
    aria-label={label}
    disabled={!form.editable}
    onChange={({ currentTarget: field }) => {
      if (field.checkValidity() && field.value !== "") {
        act(String(Number(field.value)));
        return;
      }
      form.say(`${label ?? "The weight"}: a whole number from ${min} to ${max}.`, true);
      field.value = String(value);
    }}
  />
);

/** Whether there is a button for a form of arguments. */
export const argues = (form: PolicyForm) => form.editable && !form.framework;

export const ArgumentButton = ({ form, given, text }: { form: PolicyForm; given: Given; text: string }) =>
  argues(form) ? (
    <Button
      look="link fine"
      data-control={`argument:${given.name ?? given.list}`}
      aria-label={given.name ? `${text.replace("…", "")} ${given.name}` : undefined}
      act={() => customForm(given, (name, value) => form.ask("argument", name, value, `${name} with an argument`))}
    >
      {text}
    </Button>
  ) : null;

export const Adder = ({ form, list }: { form: PolicyForm; list: string }) =>
  argues(form) ? (
    <div class="policy-add">
      <ArgumentButton form={form} given={{ list }} text="Add one with an argument…" />
    </div>
  ) : null;

type FoldedProps = {
  open: Set<string>;
  name: string;
  control?: string;
  class?: string;
  summary: ComponentChildren;
  children: ComponentChildren;
};

/** What is folded until it is opened. */
export const Folded = ({ open, name, control = name, class: className, summary, children }: FoldedProps) => (
  <details
    class={className}
    open={open.has(name)}
    onToggle={({ currentTarget }) => void (currentTarget.open ? open.add(name) : open.delete(name))}
  >
    <summary data-control={control}>{summary}</summary>
    {children}
  </details>
);

/** A name that breaks before its capitals, not in the middle of a word. */
export const ByWord = ({ name }: { name: string }) => (
  <>{name.split(/(?<=[a-z0-9])(?=[A-Z])/).map((part, i) => [i ? <wbr /> : null, part])}</>
);

/** An argument in short: `zone, rack` or `disk`. */
export function brief(argument: Argument) {
  const [kind, body] = Object.entries(argument)[0] ?? ["", {}];
  const of =
    body.labels?.join(", ")
    ?? body.label
    ?? body.shape?.map(({ utilization = 0, score = 0 }) => `${utilization}→${score}`).join(" ")
    ?? "";
  return `${kind}: ${of}${body.presence === false ? " (absent)" : ""}`;
}
