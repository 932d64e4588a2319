import { useMemo, useRef } from "preact/hooks";
import { debounce } from "../lib/dom.ts";
import { lookedFor } from "../lib/tables.ts";

type FilterProps = {
  label: string;
  /** What is typed is kept here, and as `find` what is looked for. */
  state: { typed: string; find?: string };
  /** Called once typing pauses. */
  onChange: () => void;
  placeholder?: string;
};

const WAIT = 90; // milliseconds after a letter

/** A field that narrows rows. */
export function Filter({ label, state, onChange, placeholder = "Filter" }: FilterProps) {
  const latest = useRef(onChange);
  latest.current = onChange;
  const soon = useMemo(() => debounce(() => latest.current(), WAIT), []);
  return (
    <input
      type="search"
      class="field filter"
      placeholder={placeholder}
      aria-label={label}
      data-filter
      autocomplete="off"
      spellcheck={false}
      value={state.typed}
      onInput={(event) => {
        state.typed = event.currentTarget.value;
        state.find = lookedFor(state.typed);
        soon();
      }}
    />
  );
}
