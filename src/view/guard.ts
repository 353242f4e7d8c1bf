import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { suggest } from "../model/suggest.ts";

/** The parts of a request that decide on access. */
export interface AccessRequest {
  readonly method: string;
  /** As in the request line. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export type AccessDecision =
  | { readonly kind: "pass" }
  /** The token is valid: set the cookie and redirect. `isFromOtherSite`: the user followed a link on another site. */
  | { readonly kind: "enter"; readonly cookie: string; readonly location: string; readonly isFromOtherSite: boolean }
  | { readonly kind: "refuse"; readonly status: 400 | 401 | 403 | 405; readonly text: string };

export interface Guard {
  /** Prefix of all paths; begins and ends with a slash. */
  readonly base: string;
  /** For the terminal: valid while the server runs. */
  readonly link: string;
  /** For the browser that `view` opens: valid once, because other users can see process arguments. */
  readonly onceLink: () => string;
  decide(request: AccessRequest): AccessDecision;
}

/**
 * Decides on access. Refused: pages of other origins, other names that resolve to 127.0.0.1, other users of the machine.
 *
 * The cookie is for one unguessable path: cookies are shared between ports, so every other server on 127.0.0.1 would receive one for
 * `/`.
 */
export function makeGuard(port: number): Guard {
  const { origin, host } = new URL(`http://127.0.0.1:${port}`);
  // Clients omit the default port
  const hosts: ReadonlySet<string | undefined> = new Set([host, `127.0.0.1:${port}`]);
  const base = `/${randomBytes(8).toString("hex")}/`;
  const [token, secret] = [newToken(), newToken()];
  const once = new Set<string>();
  const isValidToken = (candidate: string): boolean => same(candidate, token) || consume(once, candidate);

  return {
    base,
    link: `${origin}/?token=${token}`,
    onceLink: () => {
      const candidate = newToken();
      once.add(candidate);
      return `${origin}/?token=${candidate}`;
    },
    decide({ method, url, headers }) {
      if (!hosts.has(headers.host)) return refuse(403, "Wrong host.");
      if (!url.startsWith("/")) return refuse(400, "Request a path.");
      if (headers.origin !== undefined && headers.origin !== origin) return refuse(403, OTHER_SITE);
      const candidate = tokenIn(url);
      const isOwnSite = OUR_SITES.has(String(headers["sec-fetch-site"] ?? "none"));
      // A link in a web terminal or an e-mail comes from another site; it must still contain the token
      const isEntry = candidate !== undefined && headers["sec-fetch-mode"] === "navigate";
      if (!isOwnSite && !isEntry) return refuse(403, OTHER_SITE);
      const hasCookie = cookiesIn(headers.cookie).some((value) => same(value, secret));
      if (candidate !== undefined) {
        if (method !== "GET") return refuse(405, "Only GET is allowed.");
        if (!isValidToken(candidate)) return refuse(401, NO_TOKEN);
        const cookie = `${COOKIE}=${secret}; Path=${base}; HttpOnly; SameSite=Strict`;
        return { kind: "enter", cookie, location: base, isFromOtherSite: !isOwnSite };
      }
      if (!hasCookie) return refuse(401, NO_TOKEN);
      return method === "GET" ? { kind: "pass" } : refuse(405, "Only GET is allowed.");
    },
  };
}

/** Set on every response. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "x-frame-options": "DENY",
};

// --- internal ---

const COOKIE = "openhook-view";
const NO_TOKEN = `The link is invalid, was already used, or its server has stopped. Run ${suggest("view")} again.`;
const OTHER_SITE = "Requests from other sites are refused. Paste the link into the address bar.";
/** `none`: typed, a bookmark, or no browser. */
const OUR_SITES: ReadonlySet<string> = new Set(["same-origin", "none"]);

/** 256 bits. */
const newToken = (): string => randomBytes(32).toString("base64url");

const refuse = (status: 400 | 401 | 403 | 405, text: string): AccessDecision => ({ kind: "refuse", status, text });

/** Constant-time comparison. */
const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

function consume(tokens: Set<string>, candidate: string): boolean {
  const found = [...tokens].find((one) => same(one, candidate));
  return found !== undefined && tokens.delete(found);
}

function tokenIn(url: string): string | undefined {
  const query = url.indexOf("?");
  return query < 0 ? undefined : (new URLSearchParams(url.slice(query)).get("token") ?? undefined);
}

const cookiesIn = (header: string | undefined): readonly string[] =>
  (header ?? "").split(";").flatMap((pair) => {
    const [name, value] = pair.trim().split("=", 2);
    return name === COOKIE && value !== undefined ? [value] : [];
  });
