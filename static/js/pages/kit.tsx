// The components of static/js/kit in their states, on /dev/kit/, for who builds a page and for the accessibility tests.

import { render, type ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { Button } from "../kit/button.tsx";
import { Chart, FigureButtons, look } from "../kit/chart.tsx";
import { CopyRows } from "../kit/copy.tsx";
import { CopyRow } from "../kit/copyrow.tsx";
import { openDialog, openPanel } from "../kit/dialog.tsx";
import { Empty } from "../kit/empty.tsx";
import { Field, TextField } from "../kit/field.tsx";
import { Filter } from "../kit/filter.tsx";
import { Grid, type Column, type GridRows } from "../kit/grid.tsx";
import { Heading } from "../kit/heading.tsx";
import { Icon } from "../kit/icon.tsx";
import { Inline } from "../kit/inline.tsx";
import { openMenu, type Section as MenuSection } from "../kit/menu.tsx";
import { More } from "../kit/more.tsx";
import { Pager } from "../kit/pager.tsx";
import { ProgressBar } from "../kit/progress.tsx";
import { qrCode } from "../kit/qr.tsx";
import { Segmented } from "../kit/segmented.tsx";
import { Select } from "../kit/select.tsx";
import { signal } from "../kit/signals.ts";
import { Table } from "../kit/table.tsx";
import { Tabs, TabStrip } from "../kit/tabs.tsx";
import { offering } from "../kit/offering.tsx";
import { $, toast } from "../lib/dom.ts";
import { UntilBar, until } from "../workbench/inspect/countdown.tsx";

const PODS: [name: string, priority: number, state: string][] = [
  ["default/web-1", 0, "bound"],
  ["default/web-2", 1000, "pending"],
  ["kube-system/dns", 2_000_000_000, "bound"],
];
const SIZE = 10;
const TOTAL = 42;
const ZONES = [
  ["a", "zone a"],
  ["b", "zone b"],
] as const;
const NODES = 5_000;
const FOUND = { typed: "", find: "" };
const nodeName = (node: number) => `node-${node}`;
const podsOn = (node: number) => (node * 7) % 13;
const now = signal(30);

function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

const rows = () =>
  PODS.map(([name, priority, state]) => (
    <tr key={name}>
      <th scope="row">{name}</th>
      <td class="num">{priority}</td>
      <td>
        <span class={`pill ${state === "bound" ? "pass" : "fail"}`}>
          <Icon name={state === "bound" ? "check" : "cross"} />
          {state}
        </span>
      </td>
    </tr>
  ));

const heads = ["pod", { text: "priority", class: "num", title: "spec.priority" }, "state"];

function Tables() {
  const states = {
    sorted: { pods: { sort: "priority", down: true, typed: "", find: "" } },
    narrowed: { pods: { sort: "", down: false, typed: "kube", find: "kube" } },
    without: { pods: { sort: "", down: false, typed: "nothing", find: "nothing" } },
  };
  return (
    <Section title="Table">
      <Table
        rows={rows()}
        heads={heads}
        caption="As given"
        title={<h3>As given</h3>}
        filter="Filter as given"
        total={9}
      />
      {Object.entries(states).map(([name, kept]) => (
        <Table
          key={name}
          rows={rows()}
          heads={heads}
          caption={name}
          title={<h3>{name}</h3>}
          filter={`Filter ${name}`}
          kept={kept}
          name="pods"
        />
      ))}
      <Table rows={[]} heads={heads} caption="Empty" title={<h3>Empty</h3>} empty="No pod is waiting." />
    </Section>
  );
}

function Choices() {
  const [phase, setPhase] = useState("filter");
  const [from, setFrom] = useState(0);
  const [tab, setTab] = useState("link");
  const [zone, setZone] = useState("a");
  const [strip, setStrip] = useState("story");
  return (
    <Section title="Choices">
      <p>
        <Segmented
          label="Phase"
          options={[
            ["queue", "Queue"],
            ["filter", "Filter"],
            ["score", "Score"],
          ]}
          value={phase}
          onChange={setPhase}
        />
      </p>
      <p>
        <Select options={ZONES} value={zone} onChange={setZone} aria-label="Zone" />{" "}
        <Select options={ZONES} value="b" onChange={setZone} aria-label="Zone, disabled" disabled />
      </p>
      <p>
        <Pager from={from} total={TOTAL} size={SIZE} shown={Math.min(SIZE, TOTAL - from)} what="nodes" go={setFrom} />
      </p>
      <Tabs
        label="Ways to share"
        id="kit-tabs"
        options={[
          ["link", "Link"],
          ["embed", "Embed"],
        ]}
        value={tab}
        onChange={setTab}
      >
        <p>{`The panel of ${tab}.`}</p>
      </Tabs>
      <TabStrip
        label="Tabs"
        items={[
          { key: "story", title: "Story" },
          { key: "events", title: "Events", badge: ["12"] },
          { key: "cache", title: "Cache", badge: ["3 stale", "stale-text"], hint: "Three hits were stale" },
          { key: "hints", title: "Hints", hidden: true },
        ]}
        selected={strip}
        onSelect={setStrip}
        panel="kit-strip"
      />
      <div id="kit-strip" role="tabpanel" aria-labelledby={`kit-strip-${strip}`}>
        {strip}
      </div>
    </Section>
  );
}

function Fields() {
  const [name, setName] = useState("n1");
  const none = name ? "" : "This is needed.";
  return (
    <Section title="Fields">
      <div class="form-grid">
        <TextField name="node" label="Node" value={name} onInput={setName} known={["n1", "n2"]} error={none} />
        <Field label="Wait" unit="s" hint="From 0." control={(its) => <input {...its} class="field num" value="5" />} />
        <Field
          label="Zone"
          error="There is no zone c."
          wide
          control={(its) => <Select {...its} options={ZONES} value={ZONES[0][0]} onChange={() => {}} />}
        />
      </div>
    </Section>
  );
}

/** A matrix of which only the rows in view are in the document, one without rows, and a chart. */
function Pictures() {
  const [find, setFind] = useState("");
  const [charted, setCharted] = useState(false);
  const rows = Array.from({ length: NODES }, (_, i) => i).filter((node) => nodeName(node).includes(find));
  const columns: Column[] = [
    {
      key: "node",
      label: "node",
      text: nodeName,
      compare: (a, b) => a - b,
    },
    {
      key: "pods",
      label: "pods",
      className: "num",
      downFirst: true,
      text: podsOn,
      compare: (a, b) => podsOn(a) - podsOn(b),
    },
  ];
  const grid = useRef<GridRows>(null);
  const drawn = { data: [{ type: "scatter", x: [0, 1, 2, 3], y: [2, 4, 3, 5], name: "ready" }], layout: chartLayout() };
  return (
    <Section title="Grid and chart">
      <Heading text="Nodes" count={rows.length} />
      <div class="matrix-tools">
        <Filter label="Filter nodes" state={FOUND} onChange={() => setFind(FOUND.find)} />
        <CopyRows act={() => [grid.current?.tsv() ?? "", rows.length]} />
      </div>
      <Grid
        label="Pods of each node"
        className="kit-grid"
        columns={columns}
        rows={rows}
        none="No node has this name."
        grid={grid}
      />
      <Grid label="Without a row" columns={columns} rows={[]} none="There is no node." />
      <Heading text="Ready" count="over time" level={4} />
      <button type="button" class="btn small" aria-expanded={charted} onClick={() => setCharted(!charted)}>
        Show the chart
      </button>{" "}
      <FigureButtons
        what="Ready"
        library={$("[data-kit]").dataset.plotly ?? ""}
        figure={() => ({ ...drawn, title: "Ready", name: "ready" })}
        class="small"
      />
      <Chart
        library={$("[data-kit]").dataset.plotly ?? ""}
        class="kit-chart"
        label="Ready pods over time, a chart: 2, 4, 3, 5."
        of="ready"
        figure={() => drawn}
        now={2}
        hidden={!charted}
      />
    </Section>
  );
}

function chartLayout() {
  const { axis, title, plain } = look();
  return {
    ...plain,
    height: 180,
    margin: { l: 36, r: 12, t: 10, b: 34 },
    xaxis: { ...axis, title: title("time") },
    yaxis: axis,
  };
}

const Texts = () => (
  <Section title="Texts">
    <Empty title="No pod is waiting to be scheduled.">Add one to the YAML, and apply.</Empty>
    <p>
      The pod <Inline act={() => toast("web-1 is selected")}>web-1</Inline> waits: {until(90, now)}.
    </p>
    <UntilBar until={90} now={now} from={0} horizon={120} class="wait" />
    <More of={12} shown={3} />
    <ProgressBar label="Searching" />
    <ProgressBar label="Comparing" far={[0.4, "40 of 100 cycles compared"]} onCancel={() => toast("Cancelled")} />
  </Section>
);

const refuse = () => {
  throw new Error("It is refused, and a toast says why.");
};

const Buttons = () => (
  <Section title="Buttons">
    <p>
      <Button>Plain</Button> <Button look="primary">Primary</Button> <Button look="danger">Danger</Button>{" "}
      <Button look="quiet">Quiet</Button> <Button look="small">Small</Button> <Button disabled>Disabled</Button>{" "}
      <Button icon="fork">With an icon</Button> <Button look="quiet square" icon="close" label="Close" />{" "}
      <Button look="link">As a link</Button> <Button act={refuse}>Refused</Button>
    </p>
    <CopyRow label="Link to this page" text={location.href} />
    <p>{qrCode(location.href, "QR code of this page")}</p>
  </Section>
);

const MENU: MenuSection[] = [
  {
    heading: "node n1",
    entries: [
      { text: "Drain…", icon: "minus", title: "With a hint", run: () => toast("Drained") },
      { text: "Without an icon", run: () => toast("Done") },
    ],
  },
  { heading: "It belongs to", entries: [{ text: "Zone a…", icon: "right", run: () => toast("Zone a") }] },
];

const openSheet = () =>
  openPanel("why-panel", "A sheet", (close) => (
    <>
      <div class="dialog-head">
        <h2>A sheet</h2>
        <span class="grow" />
        <Button look="quiet square" icon="close" label="Close" act={close} />
      </div>
      <p class="why-body">It stands at the side, and on a phone it is the whole window.</p>
    </>
  ));

const Overlays = () => (
  <Section title="Dialog, sheet, menu and toast">
    <p>
      <button
        type="button"
        class="btn"
        aria-haspopup="menu"
        aria-expanded={false}
        onClick={({ currentTarget }) => openMenu("What to do with n1", MENU, currentTarget)}
      >
        Open a menu
      </button>{" "}
      <Button act={() => openDialog("A dialog", () => "It closes by Escape, and by a click beside it.")}>
        Open a dialog
      </Button>{" "}
      <Button act={openSheet}>Open a sheet</Button>{" "}
      <Button act={() => toast("A toast", { ms: 0 })}>Show a toast</Button>
      <Button act={() => offering("It is removed.", [["Undo", () => toast("Undone"), "undo"]])}>
        Show one with a button
      </Button>
    </p>
  </Section>
);

render(
  <>
    <Texts />
    <Buttons />
    <Choices />
    <Fields />
    <Tables />
    <Pictures />
    <Overlays />
  </>,
  $("[data-kit]"),
);
