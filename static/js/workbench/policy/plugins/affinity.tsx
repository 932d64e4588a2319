// Node affinity as rows of requirements: terms of which one must hold, and those that are preferred by weight.

import { useRef } from "preact/hooks";
import { Button } from "../../../kit/button.tsx";
import { typedNumber } from "./numbers.ts";
import { Many, Rows, choiceOf, textOf, type ControlProps, type Reading } from "./rows.tsx";

const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";
const REQUIREMENT = { key: "", operator: "In", values: [] };

export function Affinity({ value, read }: ControlProps) {
  const made = useRef<Record<"must" | "may", () => any[]>>({ must: () => [], may: () => [] }).current;
  read(() => {
    const [must, may] = [made.must(), made.may()];
    const now = { ...value, [REQUIRED]: undefined, [PREFERRED]: undefined };
    if (must.length) now[REQUIRED] = { ...value?.[REQUIRED], nodeSelectorTerms: must };
    if (may.length) now[PREFERRED] = may;
    return must.length || may.length ? now : undefined;
  });
  return (
    <div class="argument-list">
      <p class="dim fine">Required: one term must hold, with all its requirements.</p>
      <Many
        class="argument-terms"
        add="Add a required term"
        value={value?.[REQUIRED]?.nodeSelectorTerms ?? []}
        fresh={null}
        read={(get) => (made.must = get)}
        draw={(term, get, drop) => (
          <div class="argument-term">
            <Requirements term={term} read={get} />
            <Drop act={drop} />
          </div>
        )}
      />
      <p class="dim fine">Preferred: a node scores the weight, 1 to 100, of each term that holds.</p>
      <Many
        class="argument-terms"
        add="Add a preferred term"
        value={value?.[PREFERRED] ?? []}
        fresh={null}
        read={(get) => (made.may = get)}
        draw={(item, get, drop) => (
          <div class="argument-term">
            <Weighed item={item} read={get} />
            <Drop act={drop} />
          </div>
        )}
      />
    </div>
  );
}

const Drop = ({ act }: { act: () => void }) => (
  <Button look="quiet small" icon="minus" act={act}>
    Remove the term
  </Button>
);

const Requirements = ({ term, read }: { term: any; read: Reading }) =>
  requirementRows(term?.matchExpressions ?? (term ? [] : [REQUIREMENT]), (get) =>
    read(() => ({ ...term, matchExpressions: get() })),
  );

function Weighed({ item, read }: { item: any; read: Reading }) {
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<() => any>(() => null);
  read(() => {
    const weight = box.current?.querySelector<HTMLInputElement>("[data-key=weight]")?.value ?? "";
    return { ...item, weight: typedNumber(weight), preference: inner.current() };
  });
  return (
    <div class="argument-list" ref={box}>
      <label class="with-unit">
        {"weight "}
        {textOf({ key: "weight", value: item?.weight ?? 1, label: "weight", number: true })}
      </label>
      <Requirements term={item?.preference ?? null} read={(get) => (inner.current = get)} />
    </div>
  );
}

/** Requirements on labels, a row each. */
export const requirementRows = (value: any[], read: Reading) => (
  <Rows
    value={value}
    add="Add a requirement"
    remove="Remove this requirement"
    fresh={REQUIREMENT}
    fields={({ key, operator, values = [] }) => [
      textOf({ key: "key", value: key, label: "label key", hint: "disk" }),
      choiceOf("operator", OPERATORS, operator),
      textOf({ key: "values", value: values.join(", "), label: "values", hint: "ssd, nvme" }),
    ]}
    made={({ values, ...rest }) => {
      const listed = values.split(/[\s,]+/).filter(Boolean);
      return { ...rest, values: listed.length ? listed : undefined };
    }}
    read={read}
  />
);
