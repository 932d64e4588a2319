// Pictures and recordings that a stranger made: each is refused in words, and none is inflated beyond a bound.

import assert from "node:assert/strict";
import { it } from "node:test";
import { crc32, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { heldIn } from "../../static/js/pages/held.ts";
import { PREFIX } from "../../static/js/lib/packed.ts";

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const END = chunk("IEND", "");

function chunk(type: string, body: string | Buffer, changed = 0) {
  const named = Buffer.concat([Buffer.from(type), Buffer.from(body as string, "latin1")]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(named.length - 4);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE((crc32(named) ^ changed) >>> 0);
  return Buffer.concat([length, named, sum]);
}

const packed = (value: string) => PREFIX + deflateRawSync(value).toString("base64url");
const held = (value: unknown) => `podstep\0${packed(JSON.stringify(value))}`;
const picture = (...chunks: Buffer[]) => Buffer.concat([SIGNATURE, ...chunks]);
const text = (body: string) => picture(chunk("IHDR", "\0".repeat(13)), chunk("tEXt", body), END);
const SCENARIO = { text: "kind: Pod", title: "Held", query: "step=2", release: "v1.37" };
const BOMB = deflateSync(Buffer.alloc(50_000_000));
const page = (inside: string) => Buffer.from(`<p><template data-bundle>${inside}</template>`);

const REFUSED: [string, Buffer, RegExp][] = [
  ["empty.png", Buffer.alloc(0), /no PNG/],
  ["other.png", Buffer.from("GIF89a and more"), /no PNG/],
  ["plain.png", picture(chunk("IHDR", "\0".repeat(13)), END), /carries no scenario/],
  ["behind.png", picture(END, chunk("tEXt", held(SCENARIO))), /carries no scenario/],
  ["cut.png", text(held(SCENARIO)).subarray(0, 60), /cut short/],
  ["length.png", picture(Buffer.from([255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0])), /cut short/],
  ["sum.png", picture(chunk("tEXt", held(SCENARIO), 1), END), /checksum is wrong/],
  ["huge.png", text(`podstep\0${PREFIX}${"A".repeat(5_000_000)}`), /longer than a scenario may be/],
  ["ztxt.png", picture(chunk("zTXt", Buffer.concat([Buffer.from("podstep\0\0"), BOMB])), END), /compressed/],
  ["itxt.png", picture(chunk("iTXt", Buffer.concat([Buffer.from("podstep\0\x01\0\0\0"), BOMB])), END), /compressed/],
  ["bomb.png", text(held({ ...SCENARIO, text: "a".repeat(20_000_000) })), /too large/],
  ["noise.png", text(`podstep\0${PREFIX}!!!`), /cut short, changed/],
  ["number.png", text(held({ ...SCENARIO, text: 7 })), /changed/],
  ["null.png", text(held(null)), /changed/],
  ["another.png", text("podstep\0https://example.com"), /no scenario/],
  ["broken.html", page("AAAA"), /cut short, changed/],
  ["bomb.html", page(gzipSync(Buffer.alloc(50_000_000)).toString("base64")), /too large/],
];

it("a file that carries a scenario is read, whatever else it has", async () => {
  const many = Array.from({ length: 1000 }, () => chunk("tEXt", "Comment\0x"));
  const whole = picture(...many, chunk("zTXt", "Comment\0\0"), chunk("tEXt", held(SCENARIO)), END);
  assert.deepEqual(await heldIn(new File([whole], "step.PNG")), SCENARIO);
  const gzipped = gzipSync(JSON.stringify(SCENARIO)).toString("base64");
  assert.deepEqual(await heldIn(new File([page(gzipped)], "run.html")), SCENARIO);
  assert.equal(await heldIn(new File(["<p>Hello</p>"], "page.html")), null);
  assert.equal(await heldIn(new File(["kind: Pod"], "pod.yaml")), null);
});

for (const [name, bytes, words] of REFUSED)
  it(`${name} is refused in words`, async () => {
    await assert.rejects(heldIn(new File([bytes], name)), { message: words });
  });
