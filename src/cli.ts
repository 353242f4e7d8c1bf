import { dirname } from "node:path";
import { addAgentCommands } from "#commands/definitions/agents.ts";
import { addCollectCommands } from "#commands/definitions/collect.ts";
import { addCompletionCommands } from "#commands/definitions/completion.ts";
import { addDataCommands } from "#commands/definitions/data.ts";
import { addInsightCommands } from "#commands/definitions/insights.ts";
import { addMcpCommand } from "#commands/definitions/mcp.ts";
import { addResultCommands } from "#commands/definitions/results.ts";
import { addOverview, addSessionCommands } from "#commands/definitions/sessions.ts";
import { addToolCommands } from "#commands/definitions/tools.ts";
import { runProgram } from "#commands/program/program.ts";
import { optimiseLater } from "#commands/v8-flags.ts";

// These run long enough for the usual settings
if (!["view", "mcp"].includes(process.argv[2] ?? "")) optimiseLater();
runProgram(dirname(__dirname), [
  // Only without a word: with it, commander would take a word that is no command as its argument
  ...(process.argv.length < 3 ? [addOverview] : []),
  addAgentCommands,
  addSessionCommands,
  addInsightCommands,
  addMcpCommand,
  addResultCommands,
  addCollectCommands,
  addDataCommands,
  addToolCommands,
  addCompletionCommands,
]);
