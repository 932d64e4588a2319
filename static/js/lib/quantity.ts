// Quantities as Kubernetes prints them, and times as kubectl does.

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** Millicores to `250m`, `2`, `1500m`: whole cores or millicores, as Kubernetes prints them. */
export function cpu(milli: number) {
  return milli % 1000 ? `${milli}m` : String(milli / 1000);
}

/** Bytes to `512Mi`, `1.5Gi`. */
export function memory(bytes: number) {
  if (!bytes) return "0";
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < BINARY.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return trim(value) + BINARY[unit];
}

/** Bytes that this simulator holds, which are no quantity of Kubernetes: `112 B`, `1.07 KiB`. */
export function held(bytes: number) {
  return bytes ? `${memory(Math.round(bytes)).replace(/\D*$/, " $&")}B` : "0";
}

/** At most three digits that matter, no trailing zeros. */
export function trim(value: number) {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return String(Number(value.toFixed(digits)));
}

/** An amount of an extended resource. */
export function amount(resource: string, value: number) {
  return resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-")
    ? memory(value)
    : resource === "cpu"
      ? cpu(value)
      : String(value);
}

/** Seconds to `72s`, `5m30s`, `3h`, as `kubectl get` prints ages; with milliseconds below ten seconds. */
export function age(seconds: number) {
  const whole = Math.floor(seconds);
  if (seconds < 10) return `${Math.round(seconds * 1000) / 1000}s`;
  if (whole < 120) return `${whole}s`;
  if (whole < 600) return whole % 60 ? `${Math.floor(whole / 60)}m${whole % 60}s` : `${whole / 60}m`;
  if (whole < 10_800) return `${Math.floor(whole / 60)}m`;
  if (whole < 28_800) {
    const m = Math.floor((whole % 3600) / 60);
    return `${Math.floor(whole / 3600)}h${m ? `${m}m` : ""}`;
  }
  if (whole < 172_800) return `${Math.floor(whole / 3600)}h`;
  return `${Math.floor(whole / 86_400)}d`;
}

/**
 * A moment of virtual time in the same way, but to the second however late it is, and to the millisecond below ten
 * seconds: `0.010s`, `90s`, `15m12s`, `11h2m`.
 */
export function clock(seconds: number) {
  const fine = Math.round(seconds * 1000);
  if (seconds < 10 && fine % 1000) return `${(fine / 1000).toFixed(3)}s`;
  if (seconds < 600) return age(seconds);
  const whole = Math.floor(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  const minutesText = minutes || (hours && rest) ? `${minutes}m` : "";
  return `${hours ? `${count(hours)}h` : ""}${minutesText}${rest ? `${rest}s` : ""}`;
}

/**
 * A moment of virtual time to the millisecond, however late it is: `12.010s`, `15m12.010s`; whole seconds as a time.
 */
export function exact(seconds: number) {
  const fine = Math.round(seconds * 1000);
  const rest = fine % 1000;
  if (!rest || seconds < 10) return clock(seconds);
  const digits = `.${String(rest).padStart(3, "0")}s`;
  const whole = clock(Math.floor(fine / 1000));
  return whole.endsWith("s") ? whole.slice(0, -1) + digits : `${whole}0${digits}`;
}

/** A length of time: `50ms` below a second, else as a time. */
export const span = (seconds: number) =>
  seconds > 0 && seconds < 1 ? `${Math.round(seconds * 1e6) / 1e3}ms` : clock(seconds);

const grouped = new Intl.NumberFormat("en-US");
/** 12345 to `12,345`. */
export const count = (n: number) => grouped.format(n);

// Totals from here on are shown by what they exceed the least by: v1.11 has a priority of weight 10,000 that gives
// every node the same.
const LARGE = 10_000;

/**
 * A total as it is read beside the others of its cycle: `+2` where all are large, "tie" where those are equal, else the
 * figure itself.
 */
export function aboveLeast(total: number, least: number, best: number) {
  if (least < LARGE) return count(total);
  return least === best ? "tie" : `+${count(total - least)}`;
}

const ORDINALS = new Intl.PluralRules("en", { type: "ordinal" });
const ENDINGS: Partial<Record<Intl.LDMLPluralRule, string>> = { one: "st", two: "nd", few: "rd", other: "th" };
export const ordinal = (n: number) => `${count(n)}${ENDINGS[ORDINALS.select(n)]}`;

/** `2nd in the queue`; "" of what does not wait. */
export const inQueue = (position: number | null) => (position ? `${ordinal(position)} in the queue` : "");

/** `1 node`, `3 nodes`. */
export const plural = (n: number, one: string, many: string = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** `default/web-1` to `web-1`; other namespaces stay. */
export const short = (key: string) => (key.startsWith("default/") ? key.slice(8) : key);

const REASONS: [RegExp, (match: RegExpExecArray) => string][] = [
  [/^Insufficient (.+)$/, (m) => m[1].slice(m[1].lastIndexOf("/") + 1)],
  [/taint/i, () => "taint"],
  [/node selector/i, () => "selector"],
  [/free ports/i, () => "port"],
  [/unschedulable/i, () => "cordon"],
  [/not ready/i, () => "not ready"],
  [/hostname|node name/i, () => "host"],
  [/spread constraints/i, () => "spread"],
  [/allocate all claims|resourceclaim/i, () => "device"],
  [/disk pressure/i, () => "disk"],
  [/memory pressure/i, () => "memory"],
  [/pid pressure/i, () => "pid"],
  [/out of disk/i, () => "disk"],
  [/network unavailable/i, () => "network"],
  [/anti-affinity/i, () => "anti"],
  [/affinity/i, () => "affinity"],
  [/volume node/i, () => "volume"],
  [/max volume/i, () => "volumes"],
  [/zone/i, () => "zone"],
  [/disk conflict|conflict/i, () => "disk"],
  [/label/i, () => "label"],
  [/unknown condition/i, () => "unknown"],
];
/** A word or two that fit a matrix cell: `Insufficient cpu` to `cpu`. The whole reason stands in the tooltip. */
export function shortReason(text: string) {
  for (const [pattern, make] of REASONS) {
    const match = pattern.exec(text);
    if (match) return make(match);
  }
  return text.split(" ").slice(0, 2).join(" ").slice(0, 12);
}

/** How many characters at a name's end stay where there is no room: about `most`, from the start of a word of it. */
export function tailOf(name: string, most: number) {
  const from = Math.max(0, name.length - most);
  const word = name.slice(from).search(/(?<=[-./_ ])[^-./_ ]/);
  return word > 0 && word <= most * 0.6 && !/[-./_ ]/.test(name.charAt(from - 1)) ? most - word : most;
}

const SHORTEST = 3; // characters that are too few to tell a name by

/** A name without the words of its middle that do not fit: the last ones stay, as node names differ at their end. */
export function atWords(name: string, fits: (text: string) => boolean) {
  if (fits(name)) return name;
  const words = name.split(/(?<=[-./_ ])/);
  let tail = words.pop() ?? "";
  while (words.length > 1 && fits(`…${words.at(-1)}${tail}`)) tail = words.pop() + tail;
  let head = "";
  while (words.length > 1 && fits(`${head}${words[0]}…${tail}`)) head += words.shift();
  if (head || tail.length > SHORTEST) return `${head}…${tail}`;
  let most = name.length - tail.length; // too little to tell it by: as many characters of its start as fit
  while (most > 0 && !fits(`${name.slice(0, most)}…${tail}`)) most -= 1;
  return `${name.slice(0, most)}…${tail}`;
}

/** At most `max` characters, cut at words where one has room. */
export function ellipsis(name: string, max: number) {
  const text = atWords(name, ({ length }) => length <= max);
  return text.length > max ? `…${name.slice(1 - max)}` : text;
}
