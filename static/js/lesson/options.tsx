import { useState } from "preact/hooks";
import { Inline } from "../kit/prose.tsx";
import { given, give, passed, type Option } from "./asked.ts";
import { gettext } from "./words.ts";

const FEW = 12; // options that are buttons

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
      {options.map(({ key, label }) => (
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

/** A cell of the table: a node, and the rule that refused it. */
const Cell = ({ options }: { options: Option[] }) => {
  const [picked, setNode] = useState("");
  const chosen = options.find(({ key }) => key === given.value);
  const node = chosen?.group ?? picked; // a cell that is picked in the stage names its node
  const choose = (group: string) => {
    setNode(group);
    give(options.find((one) => one.group === group && one.label === chosen?.label)?.key ?? null);
  };
  return (
    <div class="cell-pick">
      <label>
        {gettext("Node")}
        <select
          class="field"
          value={node}
          disabled={passed.value}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        >
          <option value="">{gettext("Choose …")}</option>
          {[...new Set(options.map(({ group }) => group))].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        {gettext("Rule")}
        <select
          class="field"
          value={chosen?.key ?? ""}
          disabled={passed.value || !node}
          onChange={({ currentTarget }) => give(currentTarget.value || null)}
        >
          <option value="">{gettext("Choose …")}</option>
          {options
            .filter(({ group }) => group === node)
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

/** One of many, such as an event: buttons where they are few, else a list; two lists for a cell. */
export const Pick = ({ options }: { options: Option[] }) => {
  if (options.some(({ group }) => group)) return <Cell options={options} />;
  if (options.length <= FEW) return <One options={options} />;
  return (
    <select
      class="field"
      aria-labelledby="task-title"
      value={typeof given.value === "string" ? given.value : ""}
      disabled={passed.value}
      onChange={({ currentTarget }) => give(currentTarget.value || null)}
    >
      <option value="">{gettext("Choose …")}</option>
      {options.map(({ key, label }) => (
        <option key={key} value={key}>
          {label}
        </option>
      ))}
    </select>
  );
};
