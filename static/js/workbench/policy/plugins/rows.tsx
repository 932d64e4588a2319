// An argument that is a list: items are added, removed, and read one by one.

import type { ComponentChild } from "preact";
import { useRef, useState } from "preact/hooks";
import { Button } from "../../../kit/button.tsx";
import { $$ } from "../../../lib/dom.ts";
import type { DeclaredArgument } from "../../../lib/protocol.js";

/** Called with how the text is to be read. */
export type Reading = (read: () => any) => void;

/** Of the control of one argument. */
export type ControlProps = {
  argument: DeclaredArgument;
  value: any;
  id: string;
  read: Reading;
};

type ListProps = { value: any[]; add: string; fresh: any; read: Reading; class: string };
type Item = { key: number; value: any; added: boolean; read: () => any };

const enter = (row: HTMLElement | null) => row?.querySelector<HTMLElement>("input, select")?.focus();

type ManyProps = ListProps & { draw: (value: any, read: Reading, remove: () => void) => ComponentChild };

/** Items with a button for another one; `draw` draws one of them. */
export function Many({ value, add, fresh, read, class: className, draw }: ManyProps) {
  const next = useRef(0);
  const item = (one: any, added = false): Item => ({ key: (next.current += 1), value: one, added, read: () => one });
  const [items, setItems] = useState(() => value.map((one) => item(one)));
  read(() => items.map((one) => one.read()));
  return (
    <div class="argument-list">
      <ul class={className}>
        {items.map((one) => (
          <li key={one.key} data-row="" ref={one.added ? enter : undefined}>
            {draw(
              one.value,
              (get) => (one.read = get),
              () => setItems(items.filter((other) => other !== one)),
            )}
          </li>
        ))}
      </ul>
      <Button look="small" icon="plus" act={() => setItems([...items, item(fresh, true)])}>
        {add}
      </Button>
    </div>
  );
}

type RowsProps = Omit<ListProps, "class"> & {
  remove: string;
  /** The controls of a row, each with `data-key`. */
  fields: (value: any) => ComponentChild;
  /** Makes an item of their texts; what it has besides is kept. */
  made: (texts: Record<string, any>) => any;
};

export const Rows = ({ remove, fields, made, ...list }: RowsProps) => (
  <Many
    {...list}
    class="argument-rows"
    draw={(value, read, drop) => <Row {...{ value, read, drop, remove, fields, made }} />}
  />
);

type RowProps = Pick<RowsProps, "remove" | "fields" | "made" | "read"> & { value: any; drop: () => void };

function Row({ value, read, drop, remove, fields, made }: RowProps) {
  const box = useRef<HTMLDivElement>(null);
  read(() => {
    const inputs = $$("input[data-key]", box.current as HTMLElement) as { dataset: DOMStringMap; value: string }[];
    const choices = $$("select[data-key]", box.current as HTMLElement);
    const texts = [...inputs, ...choices].map((one) => [one.dataset.key, one.value.trim()]);
    return { ...value, ...made(Object.fromEntries(texts)) };
  });
  return (
    <div class="argument-row" ref={box}>
      {fields(value)}
      <Button look="quiet square" icon="minus" label={remove} act={drop} />
    </div>
  );
}

type TextProps = { key: string; value: string | number | undefined; label: string; hint?: string; number?: boolean };

/** A text field of a row; `key` is the field that it is. */
export const textOf = ({ key, value, label, hint, number = false }: TextProps) => (
  <input
    class={`field ${number ? "num" : "mono"}`}
    autocomplete="off"
    spellcheck={false}
    defaultValue={String(value ?? "")}
    data-key={key}
    inputMode={number ? "numeric" : undefined}
    aria-label={label}
    placeholder={hint}
  />
);

export const choiceOf = (key: string, options: string[], value: string) => (
  <select class="field" data-key={key} aria-label={key}>
    {options.map((word) => (
      <option value={word} selected={word === value}>
        {word}
      </option>
    ))}
  </select>
);
