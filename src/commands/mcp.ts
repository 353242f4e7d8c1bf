import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import PQueue from "p-queue";
import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { VERSION } from "#kit/version.ts";
import { answerText } from "./mcp-answers.ts";
import { brought } from "./mcp-ask.ts";
import { startedBy } from "./mcp-session.ts";
import { shownTo } from "./mcp-tool.ts";
import { TOOLS } from "./mcp-tools.ts";
import type { RefreshOption } from "./refreshed.ts";

interface McpOptions extends RefreshOption {
  /** The process that started this one. */
  readonly parent: number;
  /** Aborted by termination signals. */
  readonly stop: AbortSignal;
}

/**
 * `openhook-otel mcp`: answers the questions of an agent about cost, as an MCP server on stdin and stdout, until the agent closes stdin.
 *
 * @returns exit code: 0
 */
export async function mcp({ refresh, parent, stop }: McpOptions, context: Context): Promise<number> {
  const server = new McpServer({ name: "openhook-otel", version: VERSION });
  const client = startedBy(parent);
  // One after the other: each reads the whole store, and time zones are the process's
  const queue = new PQueue({ concurrency: 1 });
  for (const tool of TOOLS) {
    const { name, description } = tool;
    const annotations = { readOnlyHint: true, openWorldHint: false };
    server.registerTool(name, { description, inputSchema: shownTo(tool), annotations }, (given) =>
      queue.add(async () => {
        try {
          const { freshness, ...asking } = await brought({ refresh: refresh === true }, context);
          return said(answerText({ ...(await tool.answer(given, asking, client)), ...freshness }));
        } catch (error) {
          return { ...said(problemIn(error, context)), isError: true };
        }
      }),
    );
  }
  await server.connect(new StdioServerTransport());
  await ended(context.stdin, stop);
  // What a question reads into the store is read to the end
  await queue.onIdle();
  await server.close();
  return 0;
}

// --- internal ---

const said = (text: string) => ({ content: [{ type: "text" as const, text }] });

/** Only what we say ourselves, and without the user's folder: other errors can quote anything. */
const problemIn = (error: unknown, { places }: Context): string =>
  error instanceof UserError
    ? error.message.replaceAll(places.home, "~")
    : "openhook-otel could not answer; its command `doctor` finds out why";

const ended = (stdin: Context["stdin"], stop: AbortSignal): Promise<void> =>
  new Promise((done) => {
    for (const event of ["end", "close", "error"]) stdin.once(event, () => done());
    stop.addEventListener("abort", () => done());
  });
