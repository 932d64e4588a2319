// The Cache tab: what came from the cache, what was invalidated and what was stale, and ways around in it.

import assert from "node:assert/strict";
import { it } from "node:test";
import {
  all,
  among,
  click,
  eventually,
  field,
  fill,
  focused,
  hover,
  leave,
  one,
  rowsOf,
  text,
  texts,
  type Name,
} from "./queries.ts";
import { Workbench } from "./workbench.ts";

const TAINTED = 51; // the cycle of the good day before which a node is tainted
/** The promise's stale hits in each cycle. */
const STALE = [0, 1, 2, 3];
const VIEWS = ["This step", "Map", "Classes", "Over time", "Worth it?"];

const view = (page: Workbench, name: string) => one(one(page.panel, "group", "Views of the cache"), "button", name);
const table = (page: Workbench, name: Name) => one(page.panel, "table", name);

it("mode, class and numbers are the engine's, and the tab warns of stale hits", async () => {
  const page = await Workbench.open("cache-broken-promise", "step=4&tab=cache");
  for (const said of [/cache v1\.11/, /audit on/, /is of class ReplicaSet default\/lock of 4 pods\./])
    assert.match(text(page.panel), said);
  assert.deepEqual(rowsOf(table(page, "The cache in numbers")), [
    ["this cycle", "38", "1", "97 %", "1", "3"],
    ["run so far", "114", "42", "73 %", "4", "6"],
  ]);
  assert.match(text(one(page.inspect, "tab", /^Cache/)), /3 stale/);
});

it("the number of nodes lights them while the pointer is there, and for good after a click", async () => {
  const page = await Workbench.open("cache-broken-promise", "step=4&tab=cache");
  const lights = one(page.panel, "button", "3 nodes");
  await hover(lights);
  await eventually(() => assert.ok(page.nodes("lit").includes("worker-1")));
  await leave(lights);
  await eventually(() => assert.deepEqual(page.nodes("lit"), []));
  await click(lights);
  await leave(lights);
  await eventually(() => assert.ok(page.nodes("lit").includes("worker-1")));
});

it("buttons, timeline and legend know the cycles with stale hits", async () => {
  const page = await Workbench.open("cache-broken-promise", "step=4&tab=cache");
  await eventually(() => assert.match(page.timeline.getAttribute("aria-valuetext")!, /, 3 stale hits$/));
  assert.match(text(page.marks), /stale cache hit/);
  assert.ok(one(page.panel, "button", /^Next/).matches(":disabled"));
  for (const earlier of [3, 2]) {
    await click(one(page.panel, "button", new RegExp(`^Previous stale hit, cycle ${earlier}|^Previous$`)));
    await page.at(earlier);
  }
  await click(all(page.panel, "button", "cycle 1")[0]!);
  await page.at(1);
  assert.match(text(page.panel), /No stale hit in this cycle/);
});

it("hits, misses and nodes not reached stand beside each predicate", async () => {
  const page = await Workbench.open("cache-good-day", `step=${TAINTED}&tab=cache`);
  const sources = table(page, "Where each predicate's answers came from, in nodes");
  assert.deepEqual(texts(all(sources, "columnheader")), ["predicate", "hits", "misses", "not reached"]);
  const counted = [...sources.querySelectorAll("tbody tr")].map((row) => [
    text(one(row, "rowheader")),
    ...texts(row.querySelectorAll("td.num")).map(Number),
  ]);
  const later = ["MaxEBSVolumeCount", "MaxGCEPDVolumeCount", "MaxAzureDiskVolumeCount", "CheckVolumeBinding"];
  later.push("NoVolumeZoneConflict", "CheckNodeMemoryPressure", "CheckNodePIDPressure", "CheckNodeDiskPressure");
  assert.deepEqual(counted, [
    ["CheckNodeCondition", 20, 0, 0],
    ["GeneralPredicates", 19, 1, 0],
    ["NoDiskConflict", 20, 0, 0],
    ["PodToleratesNodeTaints", 19, 1, 0],
    ...[...later, "MatchInterPodAffinity"].map((name) => [name, 19, 0, 1]),
  ]);
});

it("an invalidation leads to its row of the reference and to its node", async () => {
  const page = await Workbench.open("cache-good-day", `step=${TAINTED}&tab=cache`);
  const item = among(page.panel.querySelectorAll(".invalidations li"), "Node/UPDATE worker-07 (taints)");
  assert.match(text(item), /1 entry cleared of PodToleratesNodeTaints on worker-07/);
  assert.equal(one(item, "link").getAttribute("href"), "/reference/cache/#node-update-taints");
  assert.equal((await page.get("/reference/cache/")).split('id="node-update-taints"').length, 2);
  const node = all(item, "button", "worker-07").at(-1)!;
  await hover(node);
  await eventually(() => assert.deepEqual(page.nodes("hovered"), ["worker-07"]));
  await click(node);
  await eventually(() => assert.match(text(one(page.document, "region", "Selected")), /worker-07/));
  await click(among(page.panel.querySelectorAll("summary"), "Over the run, by row"));
  const rules = table(page, /^Entries that each row of the invalidation table cleared/);
  assert.match(text(all(rules, "rowheader")[0]!), /pod-add-general/);
});

it("the map is walked down three levels, with the address", async () => {
  const page = await Workbench.open("cache-good-day", `step=${TAINTED}&tab=cache`);
  await click(view(page, "Map"));
  const nodes = () => table(page, "Valid entries of the cache by node");
  const row = await eventually(() => among(all(nodes(), "row"), "worker-07"));
  assert.deepEqual(texts(row.querySelectorAll("td.num")), ["12", "1", "13"]);
  await click(one(row, "button", "worker-07"));
  const crumbs = () => text(one(page.panel, "navigation", "Where in the map"));
  await eventually(() => assert.equal(crumbs(), "all nodes › worker-07"));
  const entries = () => table(page, "Valid entries of the cache");
  const tainted = await eventually(() => among(all(entries(), "row"), "PodToleratesNodeTaints"));
  assert.match(text(tainted), /node\(s\) had taints that the pod didn't tolerate/);
  one(tainted, "button", `cycle ${TAINTED}`);
  await click(one(tainted, "button", "PodToleratesNodeTaints"));
  await eventually(() => assert.equal(crumbs(), "all nodes › worker-07 › PodToleratesNodeTaints"));
  await eventually(() => assert.equal(rowsOf(entries()).length, 1));
  await eventually(() => assert.match(page.address, /view=map\/node\/worker-07\/PodToleratesNodeTaints/));
  await click(one(one(page.panel, "navigation", "Where in the map"), "button", "worker-07"));
  await eventually(() => assert.equal(crumbs(), "all nodes › worker-07"));
  await fill(field(page.panel, "Filter by predicate or class"), "volume");
  await eventually(() => assert.equal(rowsOf(entries()).length, 5));
  await click(one(page.panel, "button", "Predicates"));
  await click(
    await eventually(() => one(table(page, "Valid entries of the cache by predicate"), "button", "GeneralPredicates")),
  );
  await eventually(() => assert.equal(rowsOf(entries()).length, 19)); // the chosen node's entry was cleared
  await click(one(one(page.panel, "group", "Browse by"), "button", "Classes"));
  await eventually(() =>
    assert.match(text(table(page, "Valid entries of the cache by class")), /ReplicaSet default\/web/),
  );
});

it("pages of the map are turned, the focus staying on the button", async () => {
  const page = await Workbench.open("cache-good-day", `step=${TAINTED}&tab=cache&view=map/class/d4bcf8589a3c0404`);
  const pages = await eventually(() => one(page.panel, "group", "Page of the map"));
  assert.match(text(pages), /1 to 50 of 259/);
  const next = one(pages, "button", "Next page");
  await click(next);
  await eventually(() => assert.match(text(pages), /51 to 100 of 259/));
  focused(next);
});

/** Of each bug: the example's cycle, its stale hits, the predicate, what was cached and is true, cause, rule, event. */
const BUGS: [string, number, string, string, string, string, string, RegExp, string, string][] = [
  [
    ...(["cache-broken-promise", 4, "3 stale hits", "MatchInterPodAffinity", "worker-1", "fits"] as const),
    "node(s) didn't match pod affinity/anti-affinity, node(s) didn't satisfy existing pods anti-affinity rules",
    ...([/not invalidated by Pod\/ADD/, "pod-add-affinity", "Pod/ADD default/lock-fm5s7"] as const),
  ],
  [
    ...(["cache-overcommit", 5, "2 stale hits", "PodFitsResources", "worker-1", "fits"] as const),
    ...(["Insufficient cpu", /not invalidated by Pod\/ADD/, "pod-add-general", "Pod/ADD default/api-whfxj"] as const),
  ],
  [
    ...(["cache-volume-count", 3, "1 stale hit", "MaxGCEPDVolumeCount", "disks-1", "fits"] as const),
    "node(s) exceed max volume count",
    ...([/not invalidated by Pod\/ADD/, "pod-add-volume-count", "Pod/ADD default/postgres-0"] as const),
  ],
  [
    ...(["cache-stale-write", 2, "1 stale hit", "GeneralPredicates", "worker-1", "Insufficient cpu"] as const),
    ...(["fits", /written after Pod\/DELETE/, "pod-delete-general", "Pod/DELETE default/report"] as const),
  ],
];

for (const [slug, step, heading, predicate, node, cached, truth, cause, rule, event] of BUGS) {
  it(`stale hits of ${slug} are reported with both answers, the event that was missed and its row`, async () => {
    const page = await Workbench.open(slug, `step=${step}&tab=cache`);
    one(page.panel, "heading", heading);
    const cards = [...page.panel.querySelectorAll(".stale-hits > ol > li")];
    const titles = new Set(texts(page.panel.querySelectorAll(".stale-hits > ol > li .stale-title b")));
    assert.deepEqual([...titles], [predicate]);
    const said = texts(cards[0]!.querySelectorAll("dd"));
    assert.deepEqual(said.slice(0, 2), [cached, truth]);
    assert.match(said[2]!, cause);
    one(cards[0]!, "link", new RegExp(`^${rule} ?,`));
    const row = among(all(cards[0]!, "row"), node);
    assert.ok(text(row).includes(event), text(row));
    one(row, "button", "cycle 1");
  });
}

it("classes stand with most members first, and open to their pods and the address", async () => {
  const page = await Workbench.open("two-templates", "step=5&tab=cache");
  await click(view(page, "Classes"));
  await eventually(() =>
    assert.match(text(one(page.panel, "heading", /^Classes/)), /2 classes, and 1 pod without one/),
  );
  const classes = await eventually(() => table(page, "Equivalence classes, most members first"));
  const opener = all(classes, "button", /^Members of .*web/)[0]!;
  await click(opener);
  await eventually(() => assert.equal(opener.getAttribute("aria-expanded"), "true"));
  const members = await eventually(() => {
    const found = [...classes.querySelectorAll(".members li")];
    assert.equal(found.length, 3);
    return found;
  });
  focused(opener);
  await click(one(members[0]!, "button", /^web-/));
  await eventually(() => assert.match(text(one(page.document, "region", "Selected")), /web-/));
  await eventually(() => assert.match(page.address, /view=classes\/[0-9a-f]{16}/));
});

it("two pods are compared field by field, and the answer outlives the tab", async () => {
  const page = await Workbench.open("two-templates", "step=5&tab=cache&view=classes");
  const pod = (which: string) => field(page.panel, `${which} pod`);
  const { keys } = page.playback.pods;
  assert.equal((await eventually(() => pod("First"))).value, keys[page.playback.current.pod]);
  const [web, api] = ["web", "api"].map((name) => keys.find((key: string) => key.includes(`/${name}-`)));
  const compare = () => click(one(page.panel, "button", "Compare"));
  const result = () => text(page.panel.querySelector(".equal-result")!);
  await fill(pod("First"), web);
  await fill(
    pod("Second"),
    keys.find((key: string) => key.includes("/web-") && key !== web),
  );
  compare();
  await eventually(() => assert.match(result(), /Yes\..*by controller: equivalent/));
  await fill(pod("Second"), api.replace("default/", ""));
  compare();
  await eventually(() => assert.match(result(), /No\./));
  assert.ok(rowsOf(table(page, "Fields in which they differ")).length);
  await fill(pod("Second"), "nobody");
  compare();
  await eventually(() => assert.equal(result(), "There is no pod default/nobody."));
  await page.tabbed(/^Story/);
  await page.tabbed(/^Cache/);
  assert.equal(pod("Second").value, "nobody");
  assert.equal(result(), "There is no pod default/nobody.");
});

it("what is compared, the class that is open and the table are in the address", async () => {
  const page = await Workbench.open("cache-broken-promise", "step=4&tab=cache&view=classes");
  const opener = () => one(page.panel, "button", /^Members of /);
  const opened = () => eventually(() => assert.equal(opener().getAttribute("aria-expanded"), "true"));
  await click(await eventually(opener));
  await opened();
  const pods = ["First pod", "Second pod"].map((label) => field(page.panel, label).value);
  await click(one(page.panel, "button", "Compare"));
  const answer = () => text(page.panel.querySelector(".equal-answer")!);
  await eventually(() => assert.match(answer(), /Yes\./));
  await eventually(() => assert.match(page.address, /lock/));
  await page.reload();
  await eventually(() => assert.match(answer(), /Yes\./));
  assert.deepEqual(
    ["First pod", "Second pod"].map((label) => field(page.panel, label).value),
    pods,
  );
  await opened();
  await click(view(page, "Over time"));
  await click(await eventually(() => one(page.panel, "button", "Show as a table")));
  await eventually(() => table(page, "The cache's work, cycle by cycle"));
  await page.reload();
  const listed = await eventually(() => table(page, "The cache's work, cycle by cycle"));
  assert.match(text(all(page.panel, "status")[0]!), /73 % of all answers/);
  assert.deepEqual(
    [...listed.querySelectorAll("tbody tr")].map((row) => texts(row.querySelectorAll("td"))).map((row) => row.at(5)),
    STALE.map(String),
  );
  await click(one(listed, "button", "cycle 3"));
  await page.at(3);
});

it("nothing is measured where no pod waits", async () => {
  const node = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 1, pods: 1}}\n";
  const page = await Workbench.open(`${node}---\nkind: SimulationSettings\nscheduler: v1.11\n`, "tab=cache&view=worth");
  assert.match(text(page.panel), /No pod is waiting to be scheduled\./);
  assert.equal(all(page.panel, "button", "Measure").length, 0);
});

it("batching says which node of the ranking was used, or why none was offered", async () => {
  const page = await Workbench.open("batching", "step=2&tab=cache");
  const { hint } = page.playback.parts.cache;
  assert.match(text(one(page.panel, "heading", /^Ranking of the pods before/)), /used/);
  assert.match(text(page.panel), new RegExp(`${hint ?? ""}.*, the next best of the ranking kept from an earlier pod`));
  await page.step(1);
  assert.match(text(page.panel), /No node was offered: .+\./);
});

it("its views are buttons in turn, kept in the address with the step", async () => {
  const page = await Workbench.open("cache-broken-promise", "step=4&tab=cache");
  const views = one(page.panel, "group", "Views of the cache");
  assert.deepEqual(texts(all(views, "button")), VIEWS);
  for (const [name, kept] of Object.entries({ Map: "map", Classes: "classes", "Over time": "time" })) {
    await click(view(page, name));
    await eventually(() => assert.equal(view(page, name).getAttribute("aria-pressed"), "true"));
    await eventually(() => assert.equal(page.address, `?step=4&tab=cache&view=${kept}`));
  }
});
