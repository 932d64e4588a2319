// The nodes of one side with their pods, small: a pod that is on another node on the other side is outlined, and its
// node has the diamond that marks different decisions on the track. What it shows is also a list (stepper.tsx).

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { penOf } from "../lib/dom.ts";
import { count, plural, short } from "../lib/quantity.ts";
import type { Playback } from "../workbench/playback/playback.ts";
import { palette } from "../workbench/stage/palette.ts";
import type { View } from "../workbench/view/view.ts";

const TALLEST = 260; // pixels of a stage
const WIDEST = 92; // of a node
const LEAST = 7;
const GAP = 2;
const BLOCKS = 9; // pixels of a node from which its pods are drawn apart
const NAMED = 4; // pods of a node's tooltip

/** What is drawn of a side. */
type Side = { name: "left" | "right"; playback: Playback; view: View };

type StageProps = {
  side: Side;
  /** Of each pod whether it is elsewhere on the other side: it is drawn again where these are others. */
  flags: Uint8Array;
};
type Drawn = StageProps & { size: number };

export function Stage({ side, flags }: StageProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const caption = useRef<HTMLElement>(null);
  const shape = useRef({ columns: 1, size: LEAST });
  const other = side.name === "left" ? "right" : "left";
  // eslint-disable-next-line react-hooks/exhaustive-deps -- what the flags are of
  const { nodes, text, elsewhere } = useMemo(() => said(side, flags, other), [flags]);
  useLayoutEffect(() => {
    let drawn = 0; // the width
    const draw = () => {
      drawn = caption.current?.clientWidth ?? 0;
      if (text && drawn && canvas.current) shape.current = paint(canvas.current, { side, flags }, nodes, drawn);
    };
    draw();
    const observer = new ResizeObserver(() => caption.current?.clientWidth !== drawn && draw());
    if (caption.current) observer.observe(caption.current);
    addEventListener("podstep:theme", draw);
    return () => {
      observer.disconnect();
      removeEventListener("podstep:theme", draw);
    };
  }, [side, flags, nodes, text]);
  const point = ({ offsetX, offsetY, currentTarget }: PointerEvent) => {
    const { columns, size } = shape.current;
    const [column, row] = [offsetX, offsetY].map((at) => Math.floor(at / (size + GAP)));
    const node = column < columns ? nodes[row * columns + column] : undefined;
    (currentTarget as HTMLElement).title = node === undefined ? "" : hint(side, flags, node, other);
  };
  return (
    <figure class="compared-stage">
      <canvas
        ref={canvas}
        role="img"
        aria-label={text && `Stage of the ${side.name} side: ${text}, ${elsewhere}`}
        onPointerMove={point}
      />
      <figcaption ref={caption} class="dim fine">
        {text && `${text}, ${elsewhere}${elsewhere.startsWith("none") ? "" : " (◆)"}`}
      </figcaption>
    </figure>
  );
}

/** The nodes that are there, and what is said of them. */
function said({ playback: { cluster, nodes: table }, view }: Side, flags: Uint8Array, other: string) {
  if (!table) return { nodes: [], text: "", elsewhere: "" };
  const nodes = [...table.names.keys()].filter((node) => view.exists(node));
  const marked = flags.filter((flag, pod) => flag && cluster.placement[pod] >= 0).length;
  const text = `${plural(nodes.length, "node")}, ${plural(cluster.placed, "pod")} placed`;
  return {
    nodes,
    text,
    elsewhere: `${marked ? count(marked) : "none"} of them elsewhere${marked ? ` on the ${other}` : ""}`,
  };
}

function hint({ playback: { cluster, nodes, pods } }: Side, flags: Uint8Array, node: number, other: string) {
  const own = [...cluster.podsOn(node)];
  const moved = own.filter((pod) => flags[pod]).map((pod) => short(pods.keys[pod]));
  const rest = moved.length > NAMED ? ` and ${count(moved.length - NAMED)} more` : "";
  const elsewhere = moved.length ? `; elsewhere on the ${other}: ${moved.slice(0, NAMED).join(", ")}${rest}` : "";
  return `${nodes.names[node]}: ${plural(own.length, "pod")}${elsewhere}`;
}

/** Draw the nodes as the largest squares with which all have room; return how these lie. */
function paint(canvas: HTMLCanvasElement, { side, flags }: StageProps, nodes: number[], width: number) {
  const columnsOf = (size: number) => Math.max(1, Math.floor(width / (size + GAP)));
  const fits = (size: number) => Math.ceil(nodes.length / columnsOf(size)) * (size + GAP) <= TALLEST;
  let size = WIDEST;
  while (size > LEAST && !fits(size)) size -= 1;
  const columns = columnsOf(size);
  const high = Math.max(1, Math.ceil(nodes.length / columns) * (size + GAP));
  const ratio = Math.min(2, devicePixelRatio || 1);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(high * ratio);
  canvas.style.setProperty("height", `${high}px`);
  const pen = penOf(canvas);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  nodes.forEach((node, at) =>
    drawNode(pen, { side, flags, size }, node, (at % columns) * (size + GAP), Math.floor(at / columns) * (size + GAP)),
  );
  return { columns, size };
}

function drawNode(pen: CanvasRenderingContext2D, { side, flags, size }: Drawn, node: number, x: number, y: number) {
  const { playback, view } = side;
  const { cluster, nodes, pods } = playback;
  const c = palette();
  const own = [...cluster.podsOn(node)];
  pen.fillStyle = c.panel;
  pen.fillRect(x, y, size, size);
  const share = (amount: number, of: number) => (of > 0 ? Math.min(1, amount / of) : 0);
  if (size < BLOCKS) {
    const used = Math.max(share(cluster.cpu[node], nodes.cpu[node]), share(cluster.memory[node], nodes.memory[node]));
    pen.fillStyle = c.ramp[Math.round(used * (c.ramp.length - 1))];
    pen.fillRect(x, y, size, size);
  } else {
    let [right, up] = [0, 0];
    for (const pod of own) {
      const wide = Math.max(1.5, size * share(pods.cpu[pod], nodes.cpu[node]));
      const tall = Math.max(1.5, size * share(pods.memory[pod], nodes.memory[node]));
      const left = Math.min(x + right, x + size - wide);
      const top = Math.max(y, y + size - up - tall);
      const moved = flags[pod];
      pen.fillStyle = (moved ? c.pods : c.podsDimmed)[view.colours.codes[pod]];
      pen.fillRect(left, top, wide, y + size - top);
      if (moved) {
        pen.strokeStyle = c.ink;
        pen.lineWidth = 1;
        pen.strokeRect(left + 0.5, top + 0.5, Math.max(1, wide - 1), Math.max(1, y + size - top - 1));
      }
      right += wide;
      up += tall;
    }
  }
  pen.strokeStyle = c.line;
  pen.lineWidth = 1;
  pen.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
  if (own.some((pod) => flags[pod])) diamond(pen, x + size - 1, y + 1, Math.max(3, Math.min(6, size / 5)));
}

/** A diamond whose right corner is at a point, edged so that it is seen on every colour. */
function diamond(pen: CanvasRenderingContext2D, x: number, y: number, half: number) {
  const c = palette();
  pen.beginPath();
  pen.moveTo(x - half, y);
  pen.lineTo(x, y + half);
  pen.lineTo(x - half, y + 2 * half);
  pen.lineTo(x - 2 * half, y + half);
  pen.closePath();
  pen.fillStyle = c.ink;
  pen.strokeStyle = c.panel;
  pen.lineWidth = 2;
  pen.stroke();
  pen.fill();
}
