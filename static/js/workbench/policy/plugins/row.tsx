// A plugin of kube-scheduler v1.37: on or off, at which extension points, with which weight and arguments.

import { Button } from "../../../kit/button.tsx";
import type { PluginRow } from "../../../lib/protocol.js";
import { ByWord, Folded, Switch } from "../controls.tsx";
import { Weight } from "../weight.tsx";
import { argumentsForm } from "./dialog.tsx";
import { Wrong, type Panel } from "./wrong.tsx";
import { applies, inForce, isWritten, lastName, shown } from "./values.ts";

const REFERENCE = "/reference/plugins/";

type RowProps = { panel: Panel; row: PluginRow };

export function PluginItem({ panel, row }: RowProps) {
  const { name } = row;
  const { form, plugins, profile, at, act } = panel;
  const runs = row.points.filter((point) => profile.points[point]?.includes(name));
  const locked = row.gate !== "" && !plugins.gates[row.gate];
  const control = `plugin:${name}`;
  const toggle = (on: boolean) => {
    const to = on ? "on" : "off";
    act(control, "plugin", `${at}/multiPoint/${name}`, to, `${name} ${to}`);
  };
  return (
    <li data-name={name} class={runs.length ? "" : "off"}>
      <div class="plugin-head">
        <a class="name" href={`${REFERENCE}#${name}`} title={row.otherwise}>
          <ByWord name={name} />
        </a>
        <Switch control={control} label={name} on={runs.length > 0} off={!form.editable || locked} act={toggle} />
      </div>
      <p class="dim fine">
        {locked ? `needs the feature gate ${row.gate}` : row.prefers || row.filters || row.otherwise}
      </p>
      {row.weight && !locked ? <Weighed panel={panel} row={row} /> : null}
      {locked ? null : <Points panel={panel} row={row} runs={runs} />}
      {row.arguments.length ? <Arguments panel={panel} row={row} /> : null}
      <Wrong panel={panel} control={control} />
    </li>
  );
}

function Weighed({ panel, row: { name, weight: usual } }: RowProps) {
  const { form, profile, at, act, refuse } = panel;
  const value = profile.weights[name] ?? 0;
  const set = (to: string, words: string) => act(`plugin:${name}`, "weight", `${at}/${name}`, to, `${name} ${words}`);
  return (
    <div class="plugin-weight">
      <Weight
        control={`weight:${name}`}
        name={name}
        weight={value}
        editable={form.editable}
        wrong={(text) => refuse(`plugin:${name}`, text)}
        act={(to) => set(to, to === "0" ? "off at score" : `weight ${to}`)}
      />
      {value === usual || !form.editable ? (
        <small class="dim">{value === usual ? "default" : `default ${usual}`}</small>
      ) : (
        <Button
          look="link fine"
          data-control={`weight:${name}:default`}
          aria-label={`Default weight of ${name}`}
          act={() => set("", `weight ${usual}, the default`)}
        >
          {`default ${usual}`}
        </Button>
      )}
    </div>
  );
}

/** The extension points that it implements, each switched on or off. */
function Points({ panel, row: { name, points }, runs }: RowProps & { runs: string[] }) {
  const { form, at, act } = panel;
  const off = points.filter((point) => !runs.includes(point));
  const some = (
    <>
      <span>{`at ${runs.join(", ")}; `}</span>
      <b>{`off at ${off.join(", ")}`}</b>
    </>
  );
  const summary = !runs.length ? "off" : off.length ? some : `at ${points.join(", ")}`;
  return (
    <Folded class="plugin-points" open={form.open} name={`points:${name}`} summary={summary}>
      <div class="point-switches">
        {points.map((point) => (
          <label key={point}>
            <span class="mono">{point}</span>
            <Switch
              control={`${point}:${name}`}
              label={`${name} at ${point}`}
              on={runs.includes(point)}
              off={!form.editable}
              act={(on) => {
                const to = on ? "on" : "off";
                act(`plugin:${name}`, "plugin", `${at}/${point}/${name}`, to, `${name} ${to} at ${point}`);
              }}
            />
          </label>
        ))}
      </div>
    </Folded>
  );
}

/** Its arguments with the values in force, and the form for them. */
function Arguments({ panel, row }: RowProps) {
  const { form, profile, at } = panel;
  const given = profile.arguments[row.name] ?? {};
  const listed = row.arguments.filter((one) => applies(row.arguments, one, given) && shown(one, inForce(one, given)));
  const change = (value: string) => form.attempt("arguments", `${at}/${row.name}`, value, `arguments of ${row.name}`);
  return (
    <div class="plugin-arguments">
      <dl>
        {listed.map((one) => (
          <>
            <dt>
              <ByWord name={lastName(one) ?? ""} />
            </dt>
            <dd>
              <span class="mono">{shown(one, inForce(one, given))}</span>
              {isWritten(one, given) ? null : <small class="dim"> default</small>}
            </dd>
          </>
        ))}
      </dl>
      {form.editable ? (
        <Button
          look="link fine"
          data-control={`arguments:${row.name}`}
          aria-label={`Arguments of ${row.name}`}
          act={() => argumentsForm(row, given, change)}
        >
          Change arguments…
        </Button>
      ) : null}
    </div>
  );
}
