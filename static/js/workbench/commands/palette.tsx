// The command palette: every command, and every step, node, pod and example, by a few letters. What was used last
// stands first.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { openPanel } from "../../kit/dialog.tsx";
import { focused } from "../../kit/focus.ts";
import { Icon } from "../../kit/icon.tsx";
import { $, focusedNow } from "../../lib/dom.ts";
import { isRecording } from "../../lib/recorded.ts";
import type { Context } from "./context.ts";
import { EACH, found, used, type Example, type Item } from "./found.ts";
import { Caps } from "./keys.tsx";

export class Palette {
  context: Context;
  #box: HTMLDialogElement | null = null;
  #examples: Promise<Example[]> | null = null;

  constructor(context: Context) {
    this.context = context;
  }

  open() {
    if (!this.context.playback.nodes || this.#box?.open) return;
    const target = focusedNow(); // what a command is about
    const find = (typed: string, examples: Example[]) => found(this.context, typed, examples, target);
    this.#box = openPanel("command-palette", "Command palette", (close) => (
      <Commands find={find} examples={this.#load()} close={close} />
    ));
  }

  /** The examples; where they cannot be had, they are asked for again next time. */
  #load() {
    if (isRecording()) this.#examples = Promise.resolve([]);
    this.#examples ??= fetch("/examples.json")
      .then(async (answer) => (await answer.json()).examples)
      .catch(() => {
        this.#examples = null;
        return [];
      });
    return this.#examples as Promise<Example[]>;
  }
}

type CommandsProps = {
  find: (typed: string, examples: Example[]) => Item[];
  examples: Promise<Example[]>;
  close: () => void;
};

function Commands({ find, examples, close }: CommandsProps) {
  const [typed, setTyped] = useState("");
  const [known, setKnown] = useState<Example[]>([]);
  const [at, mark] = useState({ id: "", at: 0, scroll: true });
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => void examples.then(setKnown), [examples]);
  const items = find(typed, known);
  const last = items.length - 1;
  const kept = items.findIndex(({ id }) => id === at.id); // where examples have come meanwhile
  const chosen = Math.max(0, Math.min(last, kept >= 0 && at.id ? kept : at.at));
  const go = (to: number, scroll = true) => mark({ id: items[to]?.id ?? "", at: to, scroll });
  useLayoutEffect(() => {
    if (!list.current || !at.scroll) return;
    if (chosen) $(`#palette-${chosen}`, list.current)?.scrollIntoView({ block: "nearest" });
    else list.current.scrollTop = 0;
  });
  const run = (item: Item | undefined) => {
    if (!item) return;
    close();
    used(item.id);
    item.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, number> = {
      ArrowDown: chosen === last ? 0 : chosen + 1,
      ArrowUp: chosen ? chosen - 1 : last,
      PageDown: Math.min(last, chosen + EACH),
      PageUp: Math.max(0, chosen - EACH),
    };
    const to = moves[event.key];
    if (to !== undefined) go(to);
    else if (event.key === "Enter" && !event.isComposing) run(items[chosen]);
    else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) close();
    else return;
    event.preventDefault();
  };
  const groups = [...new Set(items.map(({ group }) => group))];
  return (
    <>
      <div class="palette-head">
        <Icon name="search" />
        <input
          ref={focused}
          class="palette-field"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-autocomplete="list"
          aria-activedescendant={items.length ? `palette-${chosen}` : undefined}
          aria-label="Command"
          autocomplete="off"
          spellcheck={false}
          enterKeyHint="go"
          placeholder="Command, step, node, pod, example"
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            mark({ id: "", at: 0, scroll: true });
          }}
          onKeyDown={onKeyDown}
        />
        <Button look="quiet square" icon="close" aria-label="Close" act={close} />
      </div>
      <div ref={list} id="palette-list" role="listbox" aria-label="Commands">
        {groups.map((group, i) => (
          <div key={group} role="group" aria-labelledby={`palette-group-${i}`}>
            <div class="palette-group" id={`palette-group-${i}`}>
              {group}
            </div>
            {items.map((item, place) =>
              item.group === group ? (
                <div
                  key={item.id}
                  role="option"
                  id={`palette-${place}`}
                  aria-selected={place === chosen}
                  onClick={() => run(item)}
                  onPointerMove={() => place !== chosen && go(place, false)}
                >
                  <span class="palette-name">{marked(item.name, item.at)}</span>
                  {item.keys ? (
                    <span class="palette-keys">
                      <Caps keys={item.keys} />
                    </span>
                  ) : null}
                </div>
              ) : null,
            )}
          </div>
        ))}
        {items.length ? null : <p class="dim palette-none">No matches.</p>}
      </div>
      <p class="sr" role="status">
        {items.length ? `${items.length} found` : "No matches."}
      </p>
    </>
  );
}

/** A name with the letters that were found set off. */
const marked = (name: string, at: number[]) =>
  at.length ? [...name].map((letter, i) => (at.includes(i) ? <b key={i}>{letter}</b> : letter)) : name;
