import { dirname } from "node:path";
import { addAgentCommands } from "#commands/definitions/agents.ts";
import { addCollectCommands } from "#commands/definitions/collect.ts";
import { addCompletionCommands } from "#commands/definitions/completion.ts";
import { addDataCommands } from "#commands/definitions/data.ts";
import { addOverview } from "#commands/definitions/read.ts";
import { addResultCommands } from "#commands/definitions/results.ts";
import { addSessionCommands } from "#commands/definitions/sessions.ts";
import { addToolCommands } from "#commands/definitions/tools.ts";
import { runProgram } from "#commands/program/program.ts";
import { optimiseLater } from "#commands/v8-flags.ts";

optimiseLater();
runProgram(dirname(__dirname), [
  // Only without a word: with it, commander would take a word that is no command as its argument
  ...(process.argv.length < 3 ? [addOverview] : []),
  addAgentCommands,
  addSessionCommands,
  addResultCommands,
  addCollectCommands,
  addDataCommands,
  addToolCommands,
  addCompletionCommands,
]);
