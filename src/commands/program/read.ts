import { dirname } from "node:path";
import { addListCommands, addOverview, addSumCommands } from "../definitions/read.ts";
import { optimiseLater } from "../v8-flags.ts";
import { runProgram } from "./program.ts";

optimiseLater();
// People wait for these commands. In a bundle without the others, their code loads from few files: see scripts/bundle.mjs.
runProgram(dirname(__dirname), [addOverview, addListCommands, addSumCommands]);
