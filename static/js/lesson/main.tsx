import { play } from "./play.tsx";

play();
