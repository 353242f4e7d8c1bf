import { dirname } from "node:path";
import { addListCommands, addSumCommands } from "./commands/definitions/read.ts";
import { runProgram } from "./program.ts";
import { optimiseLater } from "./v8-flags.ts";

optimiseLater();
// These commands are what people wait for. Without the others their code is in few files, see scripts/bundle.mjs.
runProgram(dirname(__dirname), [addListCommands, addSumCommands]);
