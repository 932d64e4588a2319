// What a change costs in comments: a document that changes is written anew, and all of them where the text is JSON.

const MARK = /^(?=---(?:[ \t\r][^\n]*)?\n)/m;
const MOST = 4_000_000; // characters that are looked through
const COMMENT = /(?:^|\s)#/m;

/** A sentence about the comments that rewriting documents of these kinds, or of them the one of a name, would lose, or "". */
export function commentsLost(text, kinds, name = "") {
  if (text.length > MOST || !text.includes("#")) return "";
  const chunks = text.split(MARK).map((chunk) => {
    const whole = chunk.replace(/^---[^\n]*\n/, "");
    const begin = whole.search(/^[^\s#]/m);
    return { whole, body: begin < 0 ? "" : whole.slice(begin) };
  });
  if (chunks.some(({ body }) => /^[[{]/.test(body))) return chunks.some(({ whole }) => COMMENT.test(whole)) ? "This text is JSON: it is written anew as a whole, without its comments. Undo brings them back." : "";
  const called = new RegExp(`\\bname: *["']?${name.replaceAll(".", "\\.")}${name && "(?![\\w.-])"}`);
  const losing = kinds.filter((kind) => chunks.some(({ body }) => new RegExp(`^[ -]*kind: *["']?${kind}\\b`, "m").test(body) && COMMENT.test(body) && (!name || called.test(body))));
  return losing.length ? `The document ${losing.join(" and ")} is written anew, without the comments inside it; those above it and all others stay. Undo brings them back.` : "";
}
