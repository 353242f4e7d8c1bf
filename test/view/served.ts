import { request } from "node:http";
import { join } from "node:path";
import { allAgents } from "#agents/registry.ts";
import { noStoreMessage } from "#commands/no-store-message.ts";
import { loadConfig } from "#config/load.ts";
import type { Places } from "#config/places.ts";
import type { ViewDeps } from "#show/view/deps.ts";
import { readPageFiles } from "#show/view/page-files.ts";
import { serveView, type ViewServer } from "#show/view/server.ts";
import { describeStoreError } from "#store/sessions/open-store.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { ROOT } from "../support/program.ts";

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Fetches without the cookie. */
  readonly isStranger?: boolean;
}

/** The page's server for a state directory, and a client that has opened its link. Needs the build. */
export class Served {
  readonly logged: string[];
  readonly #server: ViewServer;
  readonly #cookie: string;
  /** Prefix of all paths; begins and ends with a slash. */
  readonly base: string;

  static async at(
    places: Places,
    now: () => number = Date.now,
    drain: () => Promise<void> = async () => {},
    more: Pick<
      ViewDeps,
      "traceLink" | "promptLines" | "contentLines" | "contentOf" | "foundIn" | "subscriptions" | "limits" | "budget"
    > = {},
  ): Promise<Served> {
    const logged: string[] = [];
    const loaded = await loadConfig({ env: {}, places });
    const server = await serveView(0, {
      storePath: places.storePath,
      agents: await allAgents(),
      settings: spanSettings({ loaded }),
      ...more,
      idleTimeoutMs: loaded.config.session.idleTimeoutMs,
      files: readPageFiles(join(ROOT, "dist", "view")),
      noStoreMessage: () => noStoreMessage({ places }),
      describeStoreError,
      drain,
      now,
      log: (line) => logged.push(line),
    });
    const { headers } = await send(server.port, server.link.slice(server.link.indexOf("/?")), {});
    return new Served(server, logged, String(headers["set-cookie"]).split(";")[0] ?? "", String(headers["location"]));
  }

  private constructor(server: ViewServer, logged: string[], cookie: string, base: string) {
    this.#server = server;
    this.logged = logged;
    this.#cookie = cookie;
    this.base = base;
  }

  get port(): number {
    return this.#server.port;
  }

  /** Path and query of the link for the terminal. */
  get entry(): string {
    return pathOf(this.#server.link);
  }

  get link(): string {
    return this.#server.link;
  }

  onceEntry(): string {
    return pathOf(this.#server.onceLink());
  }

  /** @param path below the base, or from the root where it begins with a slash */
  ask(path: string, { method = "GET", headers = {}, isStranger = false }: Question = {}): Promise<Reply> {
    const whole = path.startsWith("/") ? path : `${this.base}${path}`;
    return send(this.port, whole, { method, headers: { ...(!isStranger && { cookie: this.#cookie }), ...headers } });
  }

  async json(path: string): Promise<Record<string, unknown>> {
    const { status, text } = await this.ask(path);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    return JSON.parse(text);
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

// --- internal ---

const pathOf = (link: string): string => link.slice(link.indexOf("/?"));

/** Not `fetch`, which sets some of these headers itself and normalises paths. */
const send = (port: number, path: string, { method = "GET", headers = {} }: Question): Promise<Reply> =>
  new Promise((done, failed) => {
    const sent = request({ host: "127.0.0.1", port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        done({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on("error", failed);
    sent.end();
  });
