import { randomBytes } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { asObject } from "#agents/shared/payload/json.ts";
import { type Api, type Json, type ModelRequest, sendJson } from "./apis/api.ts";
import { type Asker, Prompter, type Script, type ToolUse, type Usage } from "./script.ts";

/** A request to the model, with what identifies the caller. */
export interface Asking extends ModelRequest {
  readonly body: Json;
  readonly headers: IncomingHttpHeaders;
}

/** An answer that was sent, and its receiver. */
export interface Served {
  readonly caller: "main" | "sub";
  readonly model: string;
  readonly usage: Usage;
  readonly tools: readonly (ToolUse & { readonly id: string })[];
  /** A call of the agent that is not in the script, but in its records. */
  readonly isAside?: true;
}

export interface ModelServer {
  /** E.g. `http://127.0.0.1:43121`. */
  readonly url: string;
  readonly served: readonly Served[];
  /** Where the agent deviated from the script: nothing can be compared then. */
  problems(): readonly string[];
  close(): Promise<void>;
}

/**
 * A model provider on loopback that answers by a script and logs its answers.
 *
 * @param beforeLast what happens before the script's last answer is sent
 */
export async function startModelServer(
  api: Api,
  script: Script,
  askerOf: (request: Asking) => Asker,
  thinkMs = 0,
  beforeLast?: () => Promise<unknown>,
): Promise<ModelServer> {
  const prompter = new Prompter(script);
  const served: Served[] = [];
  const problems: string[] = [];

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(incoming.url ?? "/", "http://localhost").pathname;
    const body = await bodyOf(incoming);
    if (!api.path.test(path)) {
      const aside = Object.entries(api.asides ?? {}).find(([end]) => path.endsWith(end));
      return sendJson(response, aside?.[1] ?? {}, aside === undefined ? 404 : 200);
    }
    const request = api.read(body, path);
    const asker = askerOf({ ...request, body, headers: incoming.headers });
    const caller = asker === "sub" ? "sub" : "main";
    const isAside = asker === "aside" || asker === "recorded aside";
    const reply = isAside ? { text: "Acme shop", usage: { input: 300, output: 8 } } : prompter.next(caller);
    if (reply === undefined) {
      problems.push(`a request of ${caller} is not in the script`);
      return sendJson(response, api.failure(400).body, 400);
    }
    if (reply.failure !== undefined) {
      const { body: failure, headers } = api.failure(reply.failure);
      return sendJson(response, failure, reply.failure, { ...headers, "retry-after": "1" });
    }
    const tools = (reply.tools ?? []).map((tool) => ({ ...tool, id: newId(api.callIdPrefix ?? "") }));
    const { model, streams } = request;
    const usage = reply.usage ?? {};
    if (asker !== "aside") served.push({ caller, model, usage, tools, ...(isAside && { isAside }) });
    if (thinkMs > 0) await sleep(thinkMs);
    if (prompter.unasked === 0 && !isAside) await beforeLast?.();
    api.send(response, { ...reply, id: newId("answer_"), model, streams, usage, tools });
  }

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => {
      problems.push(String(error));
      response.destroy();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`,
    served,
    problems: () => [
      ...problems,
      ...(prompter.unasked > 0 ? [`${prompter.unasked} answers of the script were never asked for`] : []),
    ],
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

// --- internal ---

const newId = (prefix: string): string => prefix + randomBytes(12).toString("hex");

async function bodyOf(incoming: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return text === "" ? {} : (asObject(JSON.parse(text)) ?? {});
}
