// The predicates of the Policy tab, in the order in which they run.

import type { ComponentChildren } from "preact";
import { Button } from "../../kit/button.tsx";
import { Icon } from "../../kit/icon.tsx";
import type { CataloguePredicate, Policy } from "../../lib/protocol.js";
import { CUSTOM } from "./arguments.ts";
import { Adder, ArgumentButton, ByWord, Folded, Part, REFERENCE, Switch, argues, brief } from "./controls.tsx";
import type { PolicyForm } from "./form.ts";
import { MovableList, MovableRow, moved } from "./order.tsx";

const NEVER =
  "Configured, but v1.11 never evaluates it: its name is not in the static order. With a place it is evaluated";
const STOPS =
  "Evaluation stops at a node’s first failure: the order decides which checks are saved and which reasons are "
  + "counted, not which nodes fit.";
const ALL = "Every predicate is checked on every node, so the order decides only in which order reasons are listed.";
const WHERE =
  " A predicate with an order comes first, ascending; the others follow in the static order that is chosen above.";

type Shown = { form: PolicyForm; profile: Policy };

export function PredicatesPart({ form, profile }: Shown) {
  const { predicates, neverRun } = profile;
  const off = form.catalogue.predicates.filter(({ key }) => !predicates.includes(key) && !neverRun.includes(key));
  const orders = argues(form);
  const order = (keys: string[], words: string) =>
    form.change("order", profile.predicateOrder, JSON.stringify(keys), words);
  const row = (key: string) => form.catalogue.predicates.find((one) => one.key === key);
  const move = (from: number, to: number) =>
    order(moved(predicates, from, to), `${predicates[from]} at place ${to + 1}`);
  return (
    <Part id="predicates" title="Predicates" hint={`${predicates.length} in this order`}>
      <OrderNote form={form} profile={profile} order={order} />
      <MovableList move={move}>
        {predicates.map((key, at) => {
          const what = <What form={form} profile={profile} name={key} row={row(key)} />;
          const toggle = <Toggle form={form} name={key} row={row(key)} on />;
          return orders ? (
            <MovableRow key={key} name={key} at={at} size={predicates.length} after={toggle}>
              {what}
            </MovableRow>
          ) : (
            <li key={key} data-name={key}>
              <span class="place num">{at + 1}</span>
              {what}
              {toggle}
            </li>
          );
        })}
      </MovableList>
      {neverRun.length ? (
        <ul class="policy-rows">
          {neverRun.map((key) => (
            <li key={key} data-name={key}>
              <span class="place num">–</span>
              <What form={form} profile={profile} name={key} row={row(key)} />
              <span class="pill fail" title={NEVER}>
                never run
              </span>
              {orders ? (
                <Button
                  look="small"
                  title={NEVER}
                  data-control={`run:${key}`}
                  act={() => order([...predicates, key], `${key} runs last`)}
                >
                  Run it
                </Button>
              ) : null}
              <Toggle form={form} name={key} row={row(key)} on />
            </li>
          ))}
        </ul>
      ) : null}
      <Adder form={form} list="predicates" />
      <Folded open={form.open} name="unused:predicates" summary={`Not in use: ${off.length}`}>
        <ul class="policy-rows">
          {off.map((one) => (
            <li key={one.key} class="off" data-name={one.key}>
              <span class="place num" />
              <What form={form} profile={profile} name={one.key} row={one} />
              <Without form={form} profile={profile} row={one} />
              <Toggle form={form} name={one.key} row={one} on={false} />
            </li>
          ))}
        </ul>
      </Folded>
    </Part>
  );
}

/** Why one is not in use, and how it would be. */
function Without({ form, profile, row }: Shown & { row: CataloguePredicate }) {
  if (row.bundle && profile.predicates.includes(row.bundle)) return <span class="pill">{`in ${row.bundle}`}</span>;
  if (!row.argument) return null;
  if (argues(form)) return <ArgumentButton form={form} given={{ list: "predicates", name: row.key }} text="Add…" />;
  return (
    <span class="pill" title={row.argument}>
      needs an argument
    </span>
  );
}

type OrderProps = Shown & { order: (keys: string[], words: string) => unknown };

/** What the order does, and what it does not; and why predicates cannot be moved here, and what can be done. */
function OrderNote({ form, profile, order }: OrderProps) {
  const effect = profile.alwaysCheckAllPredicates ? ALL : STOPS;
  const asStatic = staticOrder(form, profile);
  if (!form.framework)
    return (
      <>
        <p class="dim fine">{effect + WHERE}</p>
        {form.editable && asStatic.join() !== profile.predicates.join() ? (
          <Button look="small" data-control="static" act={() => order(asStatic, "the static order")}>
            Back to the static order
          </Button>
        ) : null}
      </>
    );
  return (
    <>
      <p class="dim fine">{effect}</p>
      <div class="note">
        <Icon name="help" />
        <div>
          <p>
            A KubeSchedulerConfiguration orders plugins, and a predicate runs where its plugin stands at filter: move
            the plugins above, or write it as a Policy, which gives each predicate an order of its own.
          </p>
          {form.editable ? (
            <Button
              look="small"
              data-control="to-policy"
              act={() => form.change("form", "Policy", "", "written as a Policy")}
            >
              Order them in a Policy
            </Button>
          ) : null}
        </div>
      </div>
    </>
  );
}

/** The predicates as the static order has them; what it does not have stays behind. */
function staticOrder({ catalogue }: PolicyForm, { predicates, predicateOrder }: Policy) {
  const rows = new Map(catalogue.predicates.map((row) => [row.key, row]));
  const place = (key: string) =>
    (predicateOrder === "proposal" ? rows.get(key)?.runs : rows.get(key)?.place) ?? Infinity;
  return [...predicates].sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
}

function What({ form, profile, name, row }: Shown & { name: string; row: CataloguePredicate | undefined }) {
  const alias = row?.alias && row.alias !== name ? `also ${row.alias}` : "";
  return (
    <div class="what">
      <a class="name" href={`${REFERENCE}#${name}`} title={row?.text ?? ""}>
        <ByWord name={name} />
      </a>
      <small class="dim">
        <ByWord name={[row?.members.join(", "), alias].filter(Boolean).join(" · ")} />
      </small>
      <Argued form={form} profile={profile} given={{ list: "predicates", name }} />
    </div>
  );
}

/** The argument of a predicate or priority that has one. */
export function Argued({ form, profile, given }: Shown & { given: { list: string; name: string; weight?: number } }) {
  const argument = profile.arguments[given.name];
  if (!argument) return null;
  const known = CUSTOM.some(({ kind }) => kind in argument);
  return (
    <small class="dim argued">
      {`${brief(argument)} `}
      {known ? <ArgumentButton form={form} given={{ ...given, argument }} text="Change" /> : null}
    </small>
  );
}

type ToggleProps = { form: PolicyForm; name: string; row: CataloguePredicate | undefined; on: boolean };

function Toggle({ form, name, row, on }: ToggleProps): ComponentChildren {
  if (row?.mandatory)
    return (
      <span class="pill accent" title="v1.11 adds it to every policy">
        always
      </span>
    );
  if (!on && row?.argument) return null;
  const act = (value: boolean) => {
    const to = value ? "on" : "off";
    form.change("predicate", name, to, `${name} ${to}`);
  };
  return <Switch control={`predicate:${name}`} on={on} off={!form.editable} label={name} act={act} />;
}
