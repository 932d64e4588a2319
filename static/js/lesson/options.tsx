import { Inline } from "./inline.tsx";
import { given, give, passed, type Option } from "./asked.ts";

const FILTERED = 12; // options from which a filter helps
const SHOWN = 60;

/** One of several: a node, a reason, yes or no. */
export const One = ({ options }: { options: Option[] }) => (
  <div
    class={`choices${options.some(({ label }) => label.length > 24) ? " long" : ""}`}
    role="group"
    aria-labelledby="task-title"
  >
    {options.map(({ key, label }) => (
      <button
        key={key}
        type="button"
        class="btn choice-button"
        aria-pressed={given.value === key}
        disabled={passed.value && given.value !== key}
        onClick={() => give(key)}
      >
        <Inline text={label} />
      </button>
    ))}
  </div>
);

/** Any number of them, nodes or pods. */
export const Many = ({ options, none }: { options: Option[]; none: string }) => {
  const chosen = Array.isArray(given.value) ? given.value : [];
  const toggle = (key: string) => give(chosen.includes(key) ? chosen.filter((one) => one !== key) : [...chosen, key]);
  return (
    <div class="choices" role="group" aria-labelledby="task-title">
      {options.slice(0, SHOWN).map(({ key, label }) => (
        <button
          key={key}
          type="button"
          class="btn choice-button many"
          aria-pressed={chosen.includes(key)}
          disabled={passed.value}
          onClick={() => toggle(key)}
        >
          <Inline text={label} />
        </button>
      ))}
      <button
        type="button"
        class="btn choice-button"
        aria-pressed={given.value !== null && !chosen.length}
        disabled={passed.value}
        onClick={() => give([])}
      >
        {none}
      </button>
    </div>
  );
};

/** One of many, such as an event: a list that a filter shortens, or two lists for a cell. */
export const Pick = ({ options }: { options: Option[] }) => {
  const groups = [...new Set(options.map(({ group }) => group))];
  if (options.length <= FILTERED && groups.length === 1) return <One options={options} />;
  const value = typeof given.value === "string" ? given.value : "";
  const chosen = options.find(({ key }) => key === value);
  const group = chosen?.group ?? "";
  if (groups.length === 1)
    return (
      <select
        class="field"
        aria-labelledby="task-title"
        value={value}
        disabled={passed.value}
        onChange={({ currentTarget }) => give(currentTarget.value || null)}
      >
        <option value="">Choose …</option>
        {options.map(({ key, label }) => (
          <option key={key} value={key}>
            {label}
          </option>
        ))}
      </select>
    );
  return (
    <div class="cell-pick">
      <label>
        Node
        <select
          class="field"
          value={group}
          disabled={passed.value}
          onChange={({ currentTarget }) =>
            give(
              options.find((one) => one.group === currentTarget.value && one.label === (chosen?.label ?? one.label))
                ?.key ?? null,
            )
          }
        >
          <option value="">Choose …</option>
          {groups.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        Rule
        <select
          class="field"
          value={value}
          disabled={passed.value || !group}
          onChange={({ currentTarget }) => give(currentTarget.value || null)}
        >
          {options
            .filter((one) => one.group === group)
            .map(({ key, label }) => (
              <option key={key} value={key}>
                {label}
              </option>
            ))}
        </select>
      </label>
    </div>
  );
};
