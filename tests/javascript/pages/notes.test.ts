// The bar over the stage: fields that other clusters honor, and what a dumped cluster recorded.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { all, click, eventually, one, text, texts } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const bar = (page: Workbench) =>
  all(page.stage, "group").find((it) => /may differ|misspelled|incomplete/.test(text(it)));
const items = (page: Workbench) => [...bar(page)!.querySelectorAll("li")];
const unfold = (page: Workbench) => click(bar(page)!.querySelector("summary")!);

it("the bar names the first field and counts the others, and its list says what honoring them does", async () => {
  const page = await Workbench.draft("unhonored");
  const said = /on a cluster that honors spec\.overhead · 1 more note/;
  await eventually(() => assert.match(text(bar(page)!.querySelector("summary")!), said));
  await unfold(page);
  assert.equal(items(page).length, 2);
  const first = /spec\.overhead \(Pod default\/web\): it is requested on top of what the containers request/;
  assert.match(text(items(page)[0]!), first);
  one(items(page)[0]!, "button", "line 10");
});

it("where nothing differs there is no bar", async () => {
  const example = await Workbench.example("shop");
  assert.equal(bar(example), undefined);
  const honored = await Workbench.draft("honored");
  assert.equal(bar(honored), undefined);
});

it("every field that the table reports is listed with what honoring it does", async () => {
  const page = await Workbench.draft("every-unhonored");
  await eventually(() => assert.ok(bar(page)));
  await unfold(page);
  const listed = texts(items(page));
  const cases: [name: string, effect: string][] = JSON.parse(readFileSync(`${process.env.MADE}/texts.json`, "utf8"))[
    "unhonored-cases"
  ];
  for (const [name, effect] of cases)
    assert.ok(
      listed.some((it) => it.includes(`${name} (`) && it.includes(effect)),
      name,
    );
});

it("a recorded condition stands beside the simulated answer, which Why? quotes", async () => {
  const page = await Workbench.draft("dump");
  await eventually(() => assert.match(text(bar(page)!.querySelector("summary")!), /1 more note/));
  await unfold(page);
  assert.match(text(items(page)[0]!), /no pod of the namespace kube-system, only of default/);
  assert.match(text(items(page)[1]!), /here the pod is placed on n2/);
  assert.match(text(items(page)[1]!), /Likely cause: the dump has no pod of the namespace kube-system/);
  await click(one(items(page)[1]!, "button", "Why?"));
  const quoted = await eventually(() => {
    const figures = [...one(page.document, "dialog").querySelectorAll("figure")];
    const found = figures.find((it) => text(it).includes("Recorded by the cluster that was dumped"));
    assert.ok(found);
    return text(found!);
  });
  assert.match(quoted as string, /0\/2 nodes are available: 2 Insufficient cpu/);
  assert.match(quoted as string, /Differs: here the pod/);
});

it("the story quotes the cluster beside the simulated event", async () => {
  const page = await Workbench.draft("dump", "step=2&tab=story");
  const figures = texts(page.panel.querySelectorAll("figure"));
  assert.match(figures[0]!, /Simulated event of pod web in default/);
  assert.match(figures[1]!, /Recorded by the cluster that was dumped/);
  assert.match(figures[1]!, /0\/2 nodes are available: 2 Insufficient cpu/);
});
