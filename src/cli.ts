import { dirname } from "node:path";
import { addAgentCommands } from "#commands/definitions/agents.ts";
import { addCollectCommands } from "#commands/definitions/collect.ts";
import { addCompletionCommands } from "#commands/definitions/completion.ts";
import { addDataCommands } from "#commands/definitions/data.ts";
import { addResultCommands } from "#commands/definitions/results.ts";
import { addSessionCommands } from "#commands/definitions/sessions.ts";
import { addToolCommands } from "#commands/definitions/tools.ts";
import { runProgram } from "#commands/program/program.ts";

runProgram(dirname(__dirname), [
  addAgentCommands,
  addSessionCommands,
  addResultCommands,
  addCollectCommands,
  addDataCommands,
  addToolCommands,
  addCompletionCommands,
]);
