import { dirname } from "node:path";
import { addCollectCommands } from "../definitions/collect.ts";
import { optimiseLater } from "../v8-flags.ts";
import { runProgram } from "./program.ts";

optimiseLater();
// Drains run most often. Without the other commands their code is in few files, see scripts/bundle.mjs.
runProgram(dirname(__dirname), [addCollectCommands]);
