// Where an answer came from: the Predicates tab's marks when a cache is on.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, choose, eventually, field, nameOf, text, texts } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const AT = "step=17&tab=predicates"; // a cycle with stale hits, an evaluation and an entry that its own pod invalidates
const CHOICE = "Nodes by where their answers came from";

it("as many cells say where they came from as the engine counts hits, evaluations and stale hits", async () => {
  const page = await Workbench.open("shop-audited", AT);
  const cells = (selector: string) => [...page.panel.querySelectorAll(`tbody td${selector}`)];
  assert.equal(cells(".cell :is(.from.hit, .from.wrong)").length, 67);
  assert.equal(cells(".cell .from.miss").length, 1);
  const reasons =
    "node(s) didn't match pod affinity/anti-affinity, node(s) didn't satisfy existing pods anti-affinity rules";
  const stale = `MatchInterPodAffinity: passed; from the cache; stale: the cache says that it fits, true is ${reasons}`;
  assert.equal(cells(".stale").length, 4);
  for (const cell of cells(".stale")) assert.ok(nameOf(cell).endsWith(stale), nameOf(cell));
  const cleared = "GeneralPredicates: passed; from the cache; invalidated since, by an event of this cycle";
  assert.equal(cells(".cleared").length, 1);
  assert.ok(nameOf(cells(".cleared")[0]!).endsWith(cleared));
});

it("the ladder sums them up, and on each rung has its own", async () => {
  const page = await Workbench.open("shop-audited", AT);
  const ladder = page.panel.querySelector(".ladder")!;
  assert.match(text(ladder), /67 of 68 from the cache/);
  assert.match(text(all(ladder, "listitem")[1]!), /11 from the cache, 1 evaluated/);
});

it("a filter leaves the nodes whose answers came from there", async () => {
  const page = await Workbench.open("shop-audited", AT);
  const left = async (source: string) => {
    const before = texts(all(page.panel, "rowheader"));
    await choose(field(page.panel, CHOICE), source);
    return eventually(() => {
      const rows = texts(all(page.panel, "rowheader"));
      assert.notDeepEqual(rows, before);
      return rows.sort();
    });
  };
  assert.deepEqual(await left("some evaluated"), ["memory-1"]);
  assert.equal((await left("all from the cache")).length, 11);
  assert.deepEqual(await left("stale"), ["general-1", "general-3", "general-5", "general-7"]);
  assert.deepEqual(await left("invalidated since"), ["general-5"]);
});

it("without a cache there is no mark, no legend of marks and no filter", async () => {
  const page = await Workbench.open("shop", AT);
  assert.ok(page.panel.querySelector("tbody td.cell"));
  assert.equal(page.panel.querySelectorAll(".from").length, 0);
  assert.equal(all(page.panel, "combobox", CHOICE).length, 0);
  assert.doesNotMatch(text(page.panel.querySelector(".key")!), /cache/);
});
