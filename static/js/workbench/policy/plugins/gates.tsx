// The feature gates of kube-scheduler v1.37 in the settings: those that are simulated, and the others by name.

import type { FeatureGate } from "../../../lib/protocol.js";
import { ByWord, Folded, Part, Switch } from "../controls.tsx";
import { Wrong, type Panel } from "./wrong.tsx";

export function GatesPart({ panel }: { panel: Panel }) {
  const { gates } = panel.form.catalogue.v1_37;
  const others = gates.filter(({ does }) => !does);
  const set = others.filter(({ name }) => name in panel.plugins.gates).length;
  const rows = (listed: FeatureGate[]) => (
    <ul class="plugin-rows">
      {listed.map((gate) => (
        <Gate key={gate.name} panel={panel} gate={gate} />
      ))}
    </ul>
  );
  return (
    <Part id="gates" title="Feature gates">
      {rows(gates.filter(({ does }) => does))}
      <Folded
        open={panel.form.open}
        name="gates"
        summary={`Not simulated: ${others.length}${set ? `, ${set} set` : ""}`}
      >
        <p class="dim fine">One that is set otherwise than by default is a warning: it changes nothing.</p>
        {rows(others)}
      </Folded>
    </Part>
  );
}

function Gate({ panel, gate }: { panel: Panel; gate: FeatureGate }) {
  const { name, default: usual, locked, needs, does } = gate;
  const on = panel.plugins.gates[name] ?? usual;
  const control = `gate:${name}`;
  const notes = [
    does,
    needs.length ? `needs ${needs.join(", ")}` : "",
    locked ? "locked to true" : on === usual ? "default" : `default: ${usual ? "on" : "off"}`,
  ];
  return (
    <li data-name={name} class={on ? "" : "off"}>
      <div class="plugin-head">
        <span class="name">
          <ByWord name={name} />
        </span>
        <Switch
          control={control}
          label={name}
          on={on}
          off={!panel.form.settable || locked}
          act={(to) => panel.act(control, "gate", name, String(to), `${name}: ${to}`)}
        />
      </div>
      <p class="dim fine">{notes.filter(Boolean).join("; ")}</p>
      <Wrong panel={panel} control={control} />
    </li>
  );
}
