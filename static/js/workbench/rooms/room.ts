// The room as this page knows it: joins it, joins again after every lost connection, and reports what changes in it.

import { topic } from "../../lib/topic.ts";
import { refusalOf } from "../../lib/socket.ts";
import { keepName, nameKept, takeToken } from "./kept.ts";
import type { Answer, Position, Question, QuestionKind, Role, RoomState } from "../../lib/protocol.js";
import type { Playback } from "../playback/playback.ts";
import type { Where } from "./where.ts";
import type { Socket } from "../../lib/socket.ts";
import type { Store } from "../playback/store.ts";

/** Whether a position is newer than another: that of a later scene, or of the same one with a greater number. */
const isNewer = (one: Position, other: Position) =>
  one.scene > other.scene || (one.scene === other.scene && one.seq > other.seq);

/**
 * What a room shows is one state of the server's, `now`, which is taken as a whole: of an older version, or a position
 * of another scene, nothing is. Writes itself to the store when it changes.
 */
export class Room {
  /** There is somewhere to follow to; `left`, that is another scenario. */
  readonly moved = topic();
  readonly left = topic();
  /** Another question is asked, or none. */
  readonly asked = topic<[question: Question | null]>();
  readonly roleChanged = topic<[role: Role]>();
  readonly failed = topic<[refusal: { message: string }]>();
  socket: Socket;
  store: Store;
  id: string;
  token: string;
  role: Role = "watch";
  owner = false; // joined with the token
  person = "";
  name = nameKept();
  watching = 0;
  lost = 0; // viewers who cannot follow
  code = ""; // six letters, to join by
  now: RoomState | null = null;
  state: "joining" | "here" | "away" | "ended" = "joining";
  refusal = ""; // why it could not be joined
  readonly opened: string; // the scenario that the page was opened on
  veiled: Promise<unknown> = Promise.resolve(); // once the page shows as much as the room lets it
  #ahead: Position | null = null; // of a scene whose state is still to come
  #own = -1; // the number of this page's last move
  #sending = false;
  #next: Where | null = null; // to be sent once the one before is answered
  #sent = "";

  /**
   * @param hash of the address that the page was opened with
   * @param projects whether the page is the projector's, which leads nothing whatever this browser keeps
   */
  constructor(
    { socket, store, source }: Playback,
    id: string,
    hash: string,
    readonly projects: boolean,
    /** The origin that others reach, "" if none do: the server is for this machine alone. */
    readonly invite: string,
  ) {
    this.socket = socket;
    this.store = store;
    this.id = id;
    this.opened = source.scenario ?? "";
    this.token = projects ? "" : takeToken(id, hash);
    socket.on("room.state", (state) => this.#enter(state));
    socket.on("room.position", (position) => this.#moved(position));
    socket.on("room.tally", ({ number, votes }) => {
      if (this.now?.question?.number !== number) return;
      this.now = { ...this.now, question: { ...this.now.question, votes } };
      this.#tell();
    });
    socket.on("room.people", ({ watching, lost }) => {
      Object.assign(this, { watching, lost });
      this.#tell();
    });
    socket.on("room.role", ({ role }) => this.#take(role));
    socket.on("room.ended", () => this.#end());
    socket.on("down", () => {
      if (this.state === "here") this.#be("away");
    });
    socket.on("up", (first) => {
      if (!first && this.state !== "ended") this.join();
    });
  }

  get leads() {
    return this.role === "lead" && this.state !== "ended";
  }

  /** The question that is asked, null once the room is over. */
  get question() {
    return this.state === "ended" ? null : (this.now?.question ?? null);
  }

  get lesson() {
    return this.now?.lesson ?? null;
  }

  get position() {
    return this.now?.position ?? null;
  }

  get watchUrl() {
    return `${this.invite || location.origin}/r/${this.id}/`;
  }

  get leadUrl() {
    return this.token ? `${this.watchUrl}#lead=${this.token}` : "";
  }

  async join() {
    try {
      const joined = await this.socket.call("room.join", {
        room: this.id,
        ...(this.token ? { lead_token: this.token } : {}),
        ...(this.name ? { name: this.name } : {}),
        ...(this.projects ? { projector: true } : {}),
      });
      this.owner = joined.owner;
      this.person = joined.person;
      this.watching = joined.watching;
      this.code = joined.code;
      this.refusal = "";
      this.#sent = "";
      this.#own = -1;
      this.state = "here";
      this.#take(joined.role);
      this.#enter(joined);
    } catch (error) {
      const { code, message } = refusalOf(error);
      this.refusal = message;
      if (code === "room.ended" || code === "room.not-found") this.#end();
      else this.#be("joining");
    }
  }

  #take(role: Role) {
    const before = this.role;
    this.role = role;
    if (before !== role) this.roleChanged(role);
    this.#tell();
  }

  #be(state: Room["state"]) {
    this.state = state;
    this.#tell();
  }

  #tell() {
    this.store.room.value = {};
  }

  #end() {
    this.role = "watch";
    this.#be("ended");
    this.asked(null);
  }

  #enter(state: RoomState) {
    const before = this.now;
    if (before && state.version < before.version) return;
    const known = [before?.position, this.#ahead].filter((one) => one?.scene === state.position.scene) as Position[];
    const position = known.reduce((one, other) => (isNewer(other, one) ? other : one), state.position);
    this.now = { ...state, position };
    if (state.scenario !== this.opened) {
      this.state = "joining"; // what this page shows is no place of the room any more
      this.left();
      return;
    }
    this.moved();
    if (state.question?.number !== before?.question?.number) this.asked(state.question);
    this.#tell();
  }

  #moved(position: Position) {
    if (!this.now || !isNewer(position, this.now.position)) return;
    if (position.scene !== this.now.position.scene) {
      this.#ahead = position;
      return;
    }
    this.now = { ...this.now, position };
    // What this page has just sent comes back to it; what somebody else sends who leads, too, does not.
    if (!(this.leads && (this.#sending || position.seq <= this.#own))) this.moved();
  }

  /** Tell everybody where the leader is; of several at once the newest. */
  async move(where: Where) {
    this.#next = where;
    if (this.#sending) return;
    this.#sending = true;
    try {
      while (this.#next && this.leads && this.state === "here") {
        const next = this.#next;
        this.#next = null;
        const text = JSON.stringify(next);
        if (text === this.#sent) continue;
        this.#sent = text;
        const scene = this.now?.position.scene ?? 0;
        this.#own = (await this.socket.call("room.move", { ...next, scene })).seq;
      }
    } catch (error) {
      this.#sent = "";
      const refusal = refusalOf(error);
      if (refusal.code !== "room.stale") this.failed(refusal); // else the next state is on its way
    } finally {
      this.#sending = false;
    }
  }

  async ask(question: { kind: QuestionKind; text?: string; choices?: string[]; right?: number }) {
    await this.socket.call("room.ask", question);
  }

  vote(answer: Answer) {
    return this.socket.call("room.vote", { answer });
  }

  async reveal() {
    await this.socket.call("room.reveal", {});
  }

  /** Have everybody go to another shared scenario. */
  async travel(scenario: string, step: string) {
    await this.socket.call("room.travel", { scenario, ...(step ? { step } : {}) });
  }

  /** Have everybody go to a stop of the lesson. */
  async goTo(stop: string) {
    await this.socket.call("room.stop", { stop });
  }

  /** Report to who leads at which step one looks around alone, "" once one follows again, or why one cannot. */
  async place(step: string, lost: string) {
    if (this.leads || this.state !== "here") return;
    await this.socket.call("room.place", { step, lost }).catch(() => {}); // it is for an overview
  }

  /** Have everybody vote a second time. */
  async again() {
    await this.socket.call("room.again", {});
  }

  async close() {
    await this.socket.call("room.close", {});
  }

  async hand(to: string) {
    this.#take((await this.socket.call("room.hand", { to })).role);
  }

  async takeLead() {
    this.#take((await this.socket.call("room.take", {})).role);
  }

  async rename(name: string) {
    this.name = name;
    keepName(name);
    await this.join();
  }

  /** End it for everyone. Rejects with an Error in words. */
  async end() {
    const answer = await fetch(`/api/rooms/${this.id}/end`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ lead_token: this.token }),
    });
    if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
    this.#end();
  }
}
