// What stands around the picture of the nodes, and over it.

import { render } from "preact";
import { Button } from "../../kit/button.tsx";
import { Hosted } from "../../kit/hosted.tsx";
import { Icon } from "../../kit/icon.tsx";
import type { HeatMap } from "./heat.ts";
import type { View } from "../view/view.ts";
import { FindBar } from "./findbar.tsx";
import { ShowNode, type InView } from "./inview.tsx";
import { Lanes } from "./lanes.tsx";
import { Legend, type Held } from "./legend.tsx";
import { Toolbar } from "./toolbar.tsx";

type FrameProps = {
  view: View;
  /** The heat map, null where the nodes are cards. */
  heat: HeatMap | null;
  /** Whether pods are blocks in the rooms of their nodes. */
  rooms: boolean;
  held: Held;
  inView: InView;
  sheet: HTMLElement;
};

/** Draw it into the stage. */
export const drawFrame = (host: HTMLElement, props: FrameProps) => render(<Frame host={host} {...props} />, host);

function Frame({ host, view, heat, rooms, held, inView, sheet }: FrameProps & { host: HTMLElement }) {
  const there = Boolean(view.playback.nodes?.names.length);
  return (
    <>
      {there ? <Toolbar view={view} heat={heat} rooms={rooms} /> : <div class="stage-tools" />}
      {there ? <Legend view={view} held={held} /> : null}
      <Lanes view={view} host={host} />
      <Hosted element={inView.body} />
      <ShowNode inView={inView} />
      {view.search.text ? <FindBar view={view} body={inView.body} /> : null}
      <Hosted element={sheet} />
    </>
  );
}

/** What the stage shows of a cluster without nodes. */
export function NoNodes({ view }: { view: View }) {
  const add = (create: string, text: string, icon: string) => (
    <Button icon={icon} act={() => view.actions.edit({ create })}>
      {text}
    </Button>
  );
  return (
    <div class="empty">
      <Icon name="server" />
      <b>There is no node in this cluster yet.</b>
      {view.store.editing.value ? (
        <div class="empty-acts">
          {add("+NodePool", "Add a node pool", "plus")}
          {add("+generate", "Generate a cluster…", "dice")}
        </div>
      ) : null}
      <span>Or write a document with kind: Node in the YAML, and apply it.</span>
    </div>
  );
}
