import { parsePairs } from "#config/pairs.ts";
import { UserError } from "#kit/errors.ts";
import { printable } from "#kit/text/terminal.ts";
import { networkFailure } from "#send/network/network-reason.ts";
import { agentThrough, failureOfProxy, proxyFor } from "#send/network/proxy.ts";
import { type IncomingMessage, openRequest } from "#send/network/request.ts";
import { shownUrl } from "#send/network/shown-url.ts";
import { systemAuthorities } from "#send/network/tls-files.ts";

/** Backends that can be queried, as in the settings and options. */
export const BACKENDS = ["prometheus", "jaeger", "tempo"] as const;
export type BackendName = (typeof BACKENDS)[number];

/** A backend's address and credentials. */
export class Backend {
  readonly name: BackendName;
  readonly title: string;
  readonly #base: URL;
  readonly #headers: Readonly<Record<string, string>>;
  /** As for deliveries, companies install their authorities in the operating system. */
  readonly #tls: { readonly ca?: string[] };

  /**
   * @param env contains the headers, `OPENHOOK_RECONCILE_<NAME>_HEADERS=authorization=Bearer%20…`: the only source of tokens
   * @param option that gave the address
   * @throws UserError for an invalid address or invalid headers
   */
  constructor(name: BackendName, url: string, env: Readonly<Record<string, string | undefined>>, option = `--${name}`) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new UserError("E_USAGE", `${option} takes an address that begins with http:// or https://`);
    }
    this.name = name;
    this.title = TITLES[name];
    this.#base = new URL(url);
    if (this.#base.username !== "" || this.#base.password !== "") {
      throw new UserError("E_USAGE", `${option} contains a user or password; put it into ${variableOf(name)}`);
    }
    const { pairs, problems } = parsePairs(env[variableOf(name)] ?? "");
    if (problems.length > 0) throw new UserError("E_USAGE", `${variableOf(name)} ${problems.join(", ")}`);
    const ca = this.#base.protocol === "https:" ? systemAuthorities() : undefined;
    this.#tls = ca === undefined ? {} : { ca };
    this.#headers = Object.fromEntries(pairs.map(([header, value]) => [header.toLowerCase(), value]));
  }

  /** Without credentials. */
  get url(): string {
    return shownUrl(this.#base.href).replace(/\/+$/, "");
  }

  /**
   * Queries by GET, or by POST with a form.
   *
   * @returns the response's JSON; `undefined` for 404
   * @throws UserError with exit code 2 without a response, or an unexpected one
   */
  async query(path: string, form?: Readonly<Record<string, string>>): Promise<unknown> {
    const url = new URL(this.#base);
    url.pathname = url.pathname.replace(/\/+$/, "") + path;
    const { status, text } = await this.#exchange(url, form);
    if (status === 404) return undefined;
    if (status !== 200) throw this.#failed(url, `HTTP ${status}${hintForStatus(status, this.name)}${reasonIn(text)}`);
    try {
      return JSON.parse(text);
    } catch {
      throw this.#failed(url, `it is not JSON: is this ${this.title}'s address?`);
    }
  }

  #failed(url: URL, why: string): UserError {
    return new UserError("E_BACKEND", `${this.title} did not respond as expected: ${shownUrl(url.href)}: ${why}`);
  }

  #exchange(url: URL, form: Readonly<Record<string, string>> | undefined) {
    const body = form === undefined ? undefined : new URLSearchParams(form).toString();
    const headers = {
      accept: "application/json",
      ...this.#headers,
      ...(body !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
    };
    return new Promise<{ readonly status: number; readonly text: string }>((done, failed) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const proxy = proxyFor(url);
      const lost = (error: Error): void => {
        const reason = signal.aborted
          ? `no complete response from ${shownUrl(url.href)} within ${TIMEOUT_MS / 1000} s`
          : proxy === undefined
            ? networkFailure(error, url.href).reason
            : failureOfProxy(proxy, networkFailure(error, proxy.url)).reason;
        failed(new UserError("E_BACKEND", `cannot query ${this.title}: ${reason}`, 2, { cause: error }));
      };
      const method = body === undefined ? "GET" : "POST";
      const connection = proxy === undefined ? this.#tls : { agent: agentThrough(proxy, url, this.#tls) };
      const request = openRequest(url, { method, headers, signal, ...connection }, (response) => {
        textOf(response).then((text) => done({ status: response.statusCode ?? 0, text }), lost);
      });
      request.on("error", lost);
      request.end(body);
    });
  }
}

// --- internal ---

/** The variable with the headers for a backend. */
const variableOf = (name: BackendName): string => `OPENHOOK_RECONCILE_${name.toUpperCase()}_HEADERS`;

const TITLES = { prometheus: "Prometheus", jaeger: "Jaeger", tempo: "Tempo" } as const satisfies Record<
  BackendName,
  string
>;

/** A trace of ten thousand spans is some tens of megabytes of JSON. */
const TIMEOUT_MS = 30_000;
const MAX_REASON = 300;
const MAX_RESPONSE_BYTES = 256 << 20;

const hintForStatus = (status: number, name: BackendName): string =>
  status === 401 || status === 403
    ? `: check ${variableOf(name)}`
    : status >= 300 && status < 400
      ? ": it redirects; use the final address"
      : "";

/** The reason in a JSON response, such as a query that is too large or a missing tenant. */
function reasonIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    return typeof error === "string" ? `: ${printable(error.slice(0, MAX_REASON))}` : "";
  } catch {
    return "";
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    const piece = Buffer.from(chunk as Uint8Array);
    bytes += piece.length;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error("the response is too large");
    chunks.push(piece);
  }
  return Buffer.concat(chunks).toString("utf8");
}
