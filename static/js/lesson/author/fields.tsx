// Fields of a lesson: each is sent when it is left or rests, with what it was when it was shown.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../icon.tsx";
import { chosenBy, completed, inserted, NONE, Offers } from "./complete.tsx";
import { conflicts, placeOf, send, settle, wrongIn, type Change, type Json, type Path } from "./state.ts";

const REST = 900; // milliseconds after the last letter

type FieldProps = {
  label: string;
  path: Path;
  value: Json | undefined;
  stop?: string;
  rows?: number;
  mono?: boolean;
  hint?: string;
  /** What an empty field stands for. */
  empty?: Json;
  list?: string;
  /** What can stand in the field, to be completed. */
  facts?: string[];
  /** The text as a value, and back. */
  read?: (text: string) => Json;
  write?: (value: Json | undefined) => string;
};

const asText = (value: Json | undefined) => (value === null || value === undefined ? "" : String(value));

/** The id of a field. */
export const idOf = (stop: string, path: Path) => `f-${stop}-${path.join("-")}`.replace(/[^\w-]/g, "_");

/** A text with its label; two lines or more are an area. */
export function Field({
  label,
  path,
  value,
  stop = "",
  rows = 1,
  mono = false,
  hint = "",
  empty = "",
  list,
  facts = [],
  read = (text) => text,
  write = asText,
}: FieldProps) {
  const known = write(value);
  const typed = useSignal<string | null>(null); // null: as it is stored
  const timer = useRef(0);
  const was = useRef<Json>(value ?? null);
  const id = idOf(stop, path);
  const offers = useSignal(NONE);
  const wrong = wrongIn(stop, path);
  const area = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  if (typed.value === null) was.current = value ?? null;

  async function commit() {
    clearTimeout(timer.current);
    const text = typed.peek();
    if (text === null) return;
    if (text === write(was.current)) {
      typed.value = null;
      return;
    }
    const now = text === "" ? empty : read(text);
    const saved = await send({ kind: "value", path, was: was.current, now, ...(stop ? { stop } : {}) });
    if (saved && typed.peek() === text) typed.value = null;
    else if (saved) was.current = now; // it was typed on meanwhile
  }

  const latest = useRef(commit);
  latest.current = commit;
  useEffect(() => {
    const leave = () => void latest.current();
    addEventListener("pagehide", leave);
    return () => {
      removeEventListener("pagehide", leave);
      leave(); // another stop is opened
    };
  }, []);

  const take = (fact: string) => {
    if (area.current) typed.value = inserted(area.current, fact);
    offers.value = NONE;
  };
  const common = {
    id,
    ref: area,
    "aria-invalid": wrong.length > 0,
    "aria-describedby": wrong.length ? `${id}-wrong` : undefined,
    ...(facts.length
      ? {
          "aria-autocomplete": "list" as const,
          "aria-controls": `${id}-facts`,
          "aria-activedescendant": offers.value.facts.length ? `${id}-facts-${offers.value.at}` : undefined,
        }
      : {}),
    onKeyDown: (event: KeyboardEvent) => chosenBy(event, offers, take),
    class: `field${mono ? " mono" : ""}`,
    value: typed.value ?? known,
    spellcheck: !mono,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => {
      typed.value = currentTarget.value;
      offers.value = completed(currentTarget, facts);
      clearTimeout(timer.current);
      timer.current = window.setTimeout(commit, REST);
    },
    onBlur: () => {
      offers.value = NONE;
      void commit();
    },
  };
  return (
    <div class={wrong.length ? "author-field wrong" : "author-field"}>
      <label for={id}>{label}</label>
      {rows > 1 ? <textarea {...common} rows={rows} /> : <input {...common} list={list} autoComplete="off" />}
      <Offers id={`${id}-facts`} offers={offers.value} take={take} />
      {wrong.length > 0 && (
        <ul class="fail-text" id={`${id}-wrong`}>
          {wrong.map(({ message }) => (
            <li key={message}>{message}</li>
          ))}
        </ul>
      )}
      {hint && <p class="dim">{hint}</p>}
      <Settling
        place={placeOf({ kind: "value", path, was: null, now: null, stop })}
        done={() => (typed.value = null)}
      />
    </div>
  );
}

/** What was changed in another tab as well: one of the two stays. */
export function Settling({ place, done }: { place: string; done?: () => void }) {
  const found = conflicts.value.find((one) => one.place === place);
  if (!found) return null;
  const choose = async (mine: boolean) => {
    await settle(found, mine);
    done?.();
  };
  return (
    <div class="note warning author-conflict" role="alert">
      <Icon name="warn" />
      <div>
        <p>{found.message}</p>
        <p>
          There it is now: <q>{typeof found.current === "string" ? found.current : JSON.stringify(found.current)}</q>
        </p>
        <p class="author-acts">
          <button type="button" class="btn" onClick={() => void choose(true)}>
            Keep mine
          </button>
          <button type="button" class="btn" onClick={() => void choose(false)}>
            Take the other
          </button>
        </p>
      </div>
    </div>
  );
}

type ChoiceProps = {
  label: string;
  path: Path;
  value: string;
  options: [value: string, text: string][];
  stop?: string;
  /** The value that the first option, "", stands for. */
  none?: Json;
};

export function Select({ label, path, value, options, stop = "", none = null }: ChoiceProps) {
  const id = idOf(stop, path);
  const change = (text: string): Change => ({
    kind: "value",
    path,
    was: value || none,
    now: text || none,
    ...(stop ? { stop } : {}),
  });
  return (
    <div class="author-field">
      <label for={id}>{label}</label>
      <select
        id={id}
        class="field"
        value={value}
        onChange={({ currentTarget }) => void send(change(currentTarget.value))}
      >
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
      <Settling place={`${stop}/${path.join("/")}`} />
    </div>
  );
}

type SetProps = { label: string; path: Path; value: Json | undefined; options: [string, string][]; stop?: string };

/** Any number of a few. */
export function Several({ label, path, value, options, stop = "" }: SetProps) {
  const chosen = Array.isArray(value) ? value.map(String) : [];
  const toggle = (key: string) => {
    const now = chosen.includes(key) ? chosen.filter((one) => one !== key) : [...chosen, key];
    void send({ kind: "value", path, was: value ?? null, now, ...(stop ? { stop } : {}) });
  };
  return (
    <fieldset class="author-several">
      <legend>{label}</legend>
      {options.map(([key, text]) => (
        <button key={key} type="button" class="btn" aria-pressed={chosen.includes(key)} onClick={() => toggle(key)}>
          {text}
        </button>
      ))}
      <Settling place={`${stop}/${path.join("/")}`} />
    </fieldset>
  );
}
