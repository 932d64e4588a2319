// What is shared of a scenario: private links, which are named and revoked, and comments.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, choose, click, eventually, field, fill, one, text } from "./queries.ts";
import { Workbench } from "./workbench.ts";

it("a private link is copied, opens the view for a stranger, has a name and a date, is gone once revoked", async () => {
  const page = await Workbench.open("shop", "step=17&tab=predicates");
  await click(one(page.document, "button", "Share"));
  const box = await eventually(() => one(page.document, "dialog", "Share this view"));
  await click(one(box, "tab", "Private"));
  await fill(await eventually(() => field(box, "Name")), "For the review");
  await choose(field(box, "It expires"), "in a week");
  await click(one(box, "button", "Create a private link"));
  const row = () => one(one(box, "tabpanel"), "listitem");
  const address = await eventually(() => one(row(), "link").getAttribute("href")!);
  assert.match(address, /^\/l\/[\w-]{16,}\/\?step=17&tab=predicates$/);
  assert.match(text(row()), /until /);

  const copying = () => one(row(), "button", "Copy the link For the review");
  const icon = () => copying().querySelector("use")!.getAttribute("href");
  assert.equal(icon(), "#i-copy");
  await page.window.navigator.clipboard.writeText("");
  await click(copying());
  await eventually(() => assert.equal(icon(), "#i-check"));
  assert.ok((await page.window.navigator.clipboard.readText()).endsWith(address));

  const stranger = await Workbench.another(address);
  await stranger.at(17);
  assert.equal(one(stranger.inspect, "tab", /^Predicates/).getAttribute("aria-selected"), "true");
  assert.match(stranger.document.title, /For the review/);

  await fill(field(row(), "Name of For the review"), "For everybody");
  await eventually(async () => assert.match(await stranger.get(address), /For everybody/));
  for (let times = 0; times < 2; times += 1) await eventually(() => click(one(row(), "button", /^Revoke/)));
  await eventually(() => assert.match(text(box), /You have no private links yet\./));
  assert.equal((await stranger.window.fetch(stranger.window.location.origin + address)).status, 404);
});

it("a draft has no comments, which belong to what is shared", async () => {
  const page = await Workbench.draft("making-room");
  one(page.document, "button", "Share");
  assert.equal(all(page.document, "button", /^Comments/).length, 0);
  const shared = await Workbench.open("making-room");
  one(shared.document, "button", /^Comments/);
});
