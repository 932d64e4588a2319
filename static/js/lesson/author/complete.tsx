// Completion of an expression: the facts whose name begins as the word before the caret does.

import type { Signal } from "@preact/signals";

const WORD = /[A-Za-z_]\w*$/;
const SHOWN = 8;

export type Completion = { facts: string[]; at: number };
export const NONE: Completion = { facts: [], at: 0 };
type Area = HTMLInputElement | HTMLTextAreaElement;

const wordIn = ({ value, selectionStart }: Area) => WORD.exec(value.slice(0, selectionStart ?? 0))?.[0] ?? "";

/** What may stand where the caret is; each fact is its name with its parameters. */
export function completed(area: Area, facts: string[]): Completion {
  const word = wordIn(area);
  const found = word ? facts.filter((fact) => fact.startsWith(word) && fact !== word) : [];
  return { facts: found.slice(0, SHOWN), at: 0 };
}

/** Put a fact in place of the word before the caret; resolve with the text. */
export function inserted(area: Area, fact: string) {
  const to = area.selectionStart ?? 0;
  const name = fact.slice(0, fact.indexOf("("));
  const opened = fact.endsWith("()") ? "()" : "(";
  area.setRangeText(name + opened, to - wordIn(area).length, to, "end");
  return area.value;
}

/** Move through the offers by the arrows, take one by Enter or Tab, leave by Escape; whether the key was theirs. */
export function chosenBy(event: KeyboardEvent, offers: Signal<Completion>, take: (fact: string) => void) {
  const { facts, at } = offers.peek();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!facts.length) return;
  if (step) offers.value = { facts, at: (at + step + facts.length) % facts.length };
  else if (event.key === "Enter" || event.key === "Tab") take(facts[at] ?? "");
  else if (event.key === "Escape") offers.value = NONE;
  else return;
  event.preventDefault();
}

export const Offers = ({ id, offers, take }: { id: string; offers: Completion; take: (fact: string) => void }) =>
  offers.facts.length ? (
    <ul class="author-offers" id={id} role="listbox" aria-label="Facts">
      {offers.facts.map((fact, place) => (
        <li
          key={fact}
          id={`${id}-${place}`}
          role="option"
          aria-selected={place === offers.at}
          onPointerDown={(event) => {
            event.preventDefault(); // the field keeps the focus
            take(fact);
          }}
        >
          {fact}
        </li>
      ))}
    </ul>
  ) : null;
