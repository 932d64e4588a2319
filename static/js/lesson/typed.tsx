import { give, given, passed } from "./asked.ts";
import { gettext } from "./words.ts";

/** A number with its unit. */
export const NumberField = ({ unit }: { unit: string }) => (
  <div class="number-field">
    <input
      class="field num"
      inputMode="decimal"
      autoComplete="off"
      aria-labelledby="task-title"
      aria-describedby={unit ? "task-unit" : undefined}
      maxLength={40}
      value={given.value === null ? "" : String(given.value)}
      readOnly={passed.value}
      onInput={({ currentTarget }) => give(currentTarget.value.trim() || null)}
    />
    {unit && <span id="task-unit">{unit}</span>}
  </div>
);

/** A claim in the language of facts. */
export const Claim = () => (
  <textarea
    class="field mono"
    rows={3}
    aria-labelledby="task-title"
    spellcheck={false}
    maxLength={600}
    readOnly={passed.value}
    placeholder="count(pending()) == 0"
    value={given.value === null ? "" : String(given.value)}
    onInput={({ currentTarget }) => give(currentTarget.value.trim() || null)}
  />
);

/** The order of names where nothing is offered: one a line. */
export const Names = () => (
  <textarea
    class="field mono"
    rows={5}
    aria-labelledby="task-title"
    spellcheck={false}
    placeholder={gettext("one name a line")}
    readOnly={passed.value}
    value={Array.isArray(given.value) ? given.value.join("\n") : ""}
    onInput={({ currentTarget }) => give(currentTarget.value ? currentTarget.value.split("\n") : null)}
  />
);
