// The Markdown of comments, without HTML: paragraphs, lists, code, emphasis and links, made as elements and never
// parsed as a page.

import type { ComponentChild } from "preact";

const INLINE =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\n]+)\*|\[([^[\]\n]+)\]\((https?:\/\/[^\s()]+)\)|(https?:\/\/[^\s<>)]+)/g;
const FENCE = /^```/;
const ITEM = /^\s*[-*]\s+/;

/** A line with its code, emphasis and links. */
function line(text: string): ComponentChild[] {
  const parts: ComponentChild[] = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    const [all, code, strong, emphasis, label, href, bare] = found;
    parts.push(text.slice(from, found.index));
    if (code) parts.push(<code>{code}</code>);
    else if (strong) parts.push(<b>{strong}</b>);
    else if (emphasis) parts.push(<em>{emphasis}</em>);
    else
      parts.push(
        <a href={href ?? bare} rel="noopener nofollow" target="_blank">
          {label ?? bare}
        </a>,
      );
    from = found.index + all.length;
  }
  return [...parts, text.slice(from)];
}

/** The elements of a text. */
export function Markdown({ text }: { text: string }) {
  const out: ComponentChild[] = [];
  const lines = text.split("\n");
  for (let i = 0; i < lines.length;) {
    const from = i;
    if (FENCE.test(lines[i])) {
      for (i += 1; i < lines.length && !FENCE.test(lines[i]);) i += 1;
      out.push(<pre>{lines.slice(from + 1, i).join("\n")}</pre>);
      i += 1;
    } else if (ITEM.test(lines[i])) {
      while (i < lines.length && ITEM.test(lines[i])) i += 1;
      const items = lines.slice(from, i).map((one) => <li>{line(one.replace(ITEM, ""))}</li>);
      out.push(<ul>{items}</ul>);
    } else if (!lines[i].trim()) i += 1;
    else {
      while (i < lines.length && lines[i].trim() && !FENCE.test(lines[i]) && !ITEM.test(lines[i])) i += 1;
      out.push(<p>{lines.slice(from, i).map((one, at) => [at ? <br /> : null, line(one)])}</p>);
    }
  }
  return <>{out}</>;
}
