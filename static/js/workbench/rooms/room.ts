// The room as this page knows it: joins it, joins again after every lost connection, and reports what changes in it.

import { Emitter } from "../../lib/emitter.ts";
import { refusalOf } from "../../lib/socket.ts";
import { keepName, nameKept, takeToken } from "./kept.ts";
import type { Answer, Position, Question, QuestionKind, Role, RoomLesson } from "../../lib/protocol.js";
import type { Playback } from "../playback.ts";
import type { Where } from "./place.ts";
import type { Socket } from "../../lib/socket.ts";
import type { Store } from "../store.js";

/**
 * Writes itself to the store when anything but the position has changed. Emits "position", "question" when another one
 * is asked, "role", and "failed" with a refusal.
 */
export class Room extends Emitter {
  socket: Socket;
  store: Store;
  id: string;
  token: string;
  role: Role = "watch";
  owner = false; // joined with the token
  person = "";
  name = nameKept();
  watching = 0;
  code = ""; // six letters, to join by
  scenario = ""; // that the room shows
  question: Question | null = null;
  lesson: RoomLesson | null = null; // that is taught, at its stop
  position: Position | null = null;
  state: "joining" | "here" | "away" | "ended" = "joining";
  refusal = ""; // why it could not be joined
  #sending = false;
  #next: Where | null = null; // to be sent once the one before is answered
  #sent = "";

  /** @param hash of the address that the page was opened with */
  constructor({ socket, store }: Playback, id: string, hash: string) {
    super();
    this.socket = socket;
    this.store = store;
    this.id = id;
    this.token = takeToken(id, hash);
    socket.on("room.position", (position) => this.#moved(position));
    socket.on("room.question", (question) => this.#asked(question));
    socket.on("room.tally", (tally) => {
      if (this.question?.number !== tally.number) return;
      this.question = { ...this.question, ...tally };
      this.#tell();
    });
    socket.on("room.people", ({ watching }) => {
      this.watching = watching;
      this.#tell();
    });
    socket.on("room.role", ({ role }) => this.#take(role));
    socket.on("room.stop", (lesson) => {
      this.lesson = lesson;
      this.#tell();
    });
    socket.on("room.ended", () => this.#end());
    socket.on("room.travelled", () => this.emit("travelled"));
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

  get watchUrl() {
    return `${location.origin}/r/${this.id}/`;
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
      });
      this.owner = joined.owner;
      this.person = joined.person;
      this.watching = joined.watching;
      this.code = joined.code;
      const elsewhere = this.scenario !== "" && this.scenario !== joined.scenario; // it went on meanwhile
      this.scenario = joined.scenario;
      if (elsewhere) this.emit("travelled");
      this.refusal = "";
      this.#sent = "";
      this.state = "here";
      const known = this.question?.number;
      this.question = joined.question;
      this.lesson = joined.lesson;
      this.position = joined.position;
      this.#take(joined.role);
      this.emit("position", joined.position);
      if (joined.question?.number !== known) this.emit("question", joined.question);
      this.#tell();
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
    if (before !== role) this.emit("role", role);
    this.#tell();
  }

  #be(state: Room["state"]) {
    this.state = state;
    this.#tell();
  }

  #tell() {
    this.store.room.value = { room: this };
  }

  #end() {
    this.role = "watch";
    this.question = null;
    this.#be("ended");
    this.emit("question", null);
  }

  #moved(position: Position) {
    if (this.position && position.seq < this.position.seq) return;
    this.position = position;
    this.emit("position", position);
  }

  #asked(question: Question | null) {
    this.question = question;
    this.emit("question", question);
    this.#tell();
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
        await this.socket.call("room.move", next);
      }
    } catch (error) {
      this.#sent = "";
      this.emit("failed", refusalOf(error));
    } finally {
      this.#sending = false;
    }
  }

  async ask(question: { kind: QuestionKind; text?: string; choices?: string[]; right?: number }) {
    this.#asked(await this.socket.call("room.ask", question));
  }

  vote(answer: Answer) {
    return this.socket.call("room.vote", { answer });
  }

  async reveal() {
    this.question = await this.socket.call("room.reveal", {});
    this.#tell();
  }

  /** Have everybody go to another shared scenario. */
  async travel(scenario: string, step: string) {
    await this.socket.call("room.travel", { scenario, ...(step ? { step } : {}) });
  }

  /** Have everybody go to a stop of the lesson. */
  async goTo(stop: string) {
    await this.socket.call("room.stop", { stop });
  }

  /** Tell who leads at which step one looks around alone, "" once one follows again. */
  async place(step: string) {
    if (this.leads || this.state !== "here") return;
    await this.socket.call("room.place", { step }).catch(() => {}); // it is for an overview
  }

  /** Have everybody vote a second time. */
  async again() {
    this.#asked(await this.socket.call("room.again", {}));
  }

  async close() {
    await this.socket.call("room.close", {});
    this.#asked(null);
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

  /** End it for everybody. Rejects with an Error in words. */
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
