// Where somebody is in a scenario, as a room shares it.

import type { Position } from "../../lib/protocol.js";

export type Where = Omit<Position, "scene" | "seq">;
