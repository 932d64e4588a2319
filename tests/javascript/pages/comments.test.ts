// Comments: people discuss a step of a shared scenario, each in their own browser.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, among, click, eventually, fill, focused, one, saying, text, texts, type Name } from "./queries.ts";
import { Workbench } from "./workbench.ts";

async function comments(page: Workbench) {
  await click(one(page.document, "button", /^Comments: /));
  return eventually(() => one(page.document, "complementary", "Comments"));
}

/** Fill in what writes about what is on screen, and send it. */
async function write(panel: Element, words: string, name = "") {
  await fill((await eventually(() => one(panel, "textbox", "Write a comment"))) as HTMLInputElement, words);
  await fill(all(panel, "textbox", "Your name")[0] as HTMLInputElement, name);
  await click(one(panel, "button", "Comment"));
}

const threads = (page: Workbench) => [...page.document.querySelectorAll<HTMLElement>(".thread")];
const count = (page: Workbench, wanted: number) =>
  eventually(() => {
    assert.equal(threads(page).length, wanted);
    return threads(page)[0]!;
  });
const button = (page: Workbench, name: Name) => eventually(() => one(page.document, "button", name));
const says = (look: () => Element, words: string) => eventually(() => assert.ok(text(look()).includes(words), words));
it("a thread about a node is answered, goes to where it is about, is resolved, and is reported as new", async () => {
  const ada = await Workbench.open("making-room", "step=2&node=worker-4");
  const { pathname } = ada.window.location;
  const bob = await Workbench.another(pathname);
  const panel = await comments(ada);
  await write(panel, "Why **here**?\n\n- `cpu` is short\n- <img src=x onerror=alert(1)>", "Ada");
  const written = among([await count(ada, 1)], "About step 2 · worker-4");
  assert.deepEqual(
    texts(written.querySelectorAll(".prose b, b")).filter((one) => one === "here"),
    ["here"],
  );
  assert.deepEqual(texts(written.querySelectorAll("code")), ["cpu"]);
  assert.equal(written.querySelectorAll("img").length, 0);
  assert.match(text(written), /<img src=x onerror=alert\(1\)>/);
  assert.match(text(written), /When it was written: \S+ (went to|was tried|\w+)/);

  await button(bob, "Comments: 1 open thread, 1 new");
  await comments(bob);
  const thread = () => threads(bob)[0]!;
  await count(bob, 1);
  assert.equal(saying(thread(), "new").length, 1);
  await click(one(thread(), "button", "About step 2 · worker-4"));
  await bob.at(2);
  assert.equal(bob.playback.nodes.names[bob.window.podstep.view.node], "worker-4");
  await click(one(thread(), "button", "Reply"));
  await fill(
    (await eventually(() => one(thread(), "textbox", "Your reply"))) as HTMLInputElement,
    "It was the cheapest.",
  );
  await fill(one(thread(), "textbox", "Your name") as HTMLInputElement, "Bob");
  await click(one(thread().querySelector("form")!, "button", "Reply"));

  await says(() => threads(ada)[0]!, "It was the cheapest.");
  await click(one(threads(ada)[0]!, "button", "Resolve"));
  await count(ada, 0);
  await click(await button(ada, "Show 1 resolved"));
  assert.equal(saying(await count(ada, 1), "resolved").length, 1);
  await button(bob, /^Comments: 0 open threads/);
  assert.equal(ada.playback.index, 2);
});

it("a comment is edited and removed by who wrote it, and its address opens the panel at it", async () => {
  const page = await Workbench.open("making-room", "step=1");
  await write(await comments(page), "First thoughts");
  const thread = () => threads(page)[0]!;
  await count(page, 1);
  await click(one(thread(), "button", "Edit"));
  await fill((await eventually(() => one(thread(), "textbox", "Your comment"))) as HTMLInputElement, "Second thoughts");
  await click(one(thread(), "button", "Save"));
  await eventually(() => assert.ok(saying(thread(), /edited/).length));
  const { id } = page.document.querySelector(".comment")!;
  const stranger = await Workbench.another(`${page.window.location.pathname}?step=1#${id}`);
  await says(() => stranger.document.body, "Second thoughts");
  await eventually(() => focused(stranger.document.getElementById(id)!));
  assert.equal(all(stranger.document, "button", "Edit").length, 0);
  await click(one(thread(), "button", "Remove"));
  await count(page, 0);
  await eventually(() => assert.ok(!text(stranger.document.body).includes("Second thoughts")));
});
