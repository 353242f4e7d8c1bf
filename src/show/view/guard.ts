import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isLoopback } from "#kit/loopback.ts";
import { suggest } from "#kit/suggest.ts";

/** The parts of a request that decide on access. */
interface AccessRequest {
  readonly method: string;
  /** As in the request line. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

type AccessDecision =
  | { readonly kind: "pass" }
  /** The token is valid: set the cookie and redirect. `isFromOtherSite`: the user followed a link on another site. */
  | { readonly kind: "enter"; readonly cookie: string; readonly location: string; readonly isFromOtherSite: boolean }
  | { readonly kind: "refuse"; readonly status: 400 | 401 | 403 | 405; readonly text: string };

export interface Guard {
  /** Prefix of all paths; begins and ends with a slash. */
  readonly base: string;
  /** For the terminal: valid while the server runs. */
  readonly link: string;
  /** For the browser that `view` opens: the first request with it gets the page. @param onUsed called by that request */
  readonly onceLink: (onUsed?: () => void) => string;
  decide(request: AccessRequest): AccessDecision;
}

/**
 * Decides on access. Refused: pages of other origins, other names that resolve to 127.0.0.1, other users of the machine.
 * Loopback names are allowed with any port, because a forwarded port can have another number: no foreign site can have such a name.
 *
 * The cookie is for one unguessable path: cookies are shared between ports, so every other server on 127.0.0.1 would receive one for
 * `/`.
 *
 * @param otherHosts names in addition to loopback ones, as in `view.hosts`
 */
export function makeGuard(port: number, otherHosts = ""): Guard {
  const { origin } = new URL(`http://127.0.0.1:${port}`);
  const isAllowed = hostTest(otherHosts);
  const base = `/${randomBytes(8).toString("hex")}/`;
  const [token, secret] = [newToken(), newToken()];
  const onceTokens: OnceToken[] = [];

  return {
    base,
    link: `${origin}/?token=${token}`,
    onceLink: (onUsed = () => {}) => {
      const once = { token: newToken(), isUsed: false, onUsed };
      onceTokens.push(once);
      return `${origin}/?token=${once.token}`;
    },
    decide({ method, url, headers }) {
      if (!isAllowed(headers.host)) return refuse(403, wrongHost(headers.host));
      if (!url.startsWith("/")) return refuse(400, "Request a path.");
      if (headers.origin !== undefined && !isOriginOf(headers.origin, headers.host)) return refuse(403, OTHER_SITE);
      const candidate = tokenIn(url);
      const isOwnSite = OUR_SITES.has(String(headers["sec-fetch-site"] ?? "none"));
      // A link in a web terminal or an e-mail comes from another site; it must still contain the token
      const isEntry = candidate !== undefined && headers["sec-fetch-mode"] === "navigate";
      if (!isOwnSite && !isEntry) return refuse(403, OTHER_SITE);
      const hasCookie = cookiesIn(headers.cookie).some((value) => same(value, secret));
      if (candidate !== undefined) {
        if (method !== "GET") return refuse(405, "Only GET is allowed.");
        const once = onceTokens.find((one) => same(one.token, candidate));
        if (once?.isUsed) return refuse(401, USED_TOKEN);
        if (once === undefined && !same(candidate, token)) return refuse(401, NO_TOKEN);
        if (once !== undefined) {
          once.isUsed = true;
          once.onUsed();
        }
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
const NO_TOKEN = `The link is invalid, or its server has stopped. Run ${suggest("view")} again.`;
const USED_TOKEN = `This link was already used: it opens the page once, in the first browser that uses it. Open the address that the terminal shows. If you did not open the page, somebody else did: stop it and run ${suggest("view")} again.`;
const OTHER_SITE = "Requests from other sites are refused. Paste the link into the address bar.";
/** `none`: typed, a bookmark, or no browser. */
const OUR_SITES: ReadonlySet<string> = new Set(["same-origin", "none"]);

/** 256 bits. */
const newToken = (): string => randomBytes(32).toString("base64url");

const refuse = (status: 400 | 401 | 403 | 405, text: string): AccessDecision => ({ kind: "refuse", status, text });

/** Constant-time comparison. */
const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

interface OnceToken {
  readonly token: string;
  readonly onUsed: () => void;
  isUsed: boolean;
}

/** Whether the page may be requested by this name. @param others separated by commas; `*.` stands for every name below */
function hostTest(others: string): (host: string | undefined) => boolean {
  const names = others.split(",").map((name) => name.trim().toLowerCase());
  const isListed = (hostname: string): boolean =>
    names.some((name) => (name.startsWith("*.") ? hostname.endsWith(name.slice(1)) : name !== "" && name === hostname));
  return (host) => {
    const hostname = hostnameOf(host);
    return hostname !== undefined && (isLoopback(hostname) || isListed(hostname));
  };
}

/** The name in a `Host` header, in lower case; `undefined` if it is not just a name with an optional port. */
function hostnameOf(host: string | undefined): string | undefined {
  if (host === undefined || !/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host)) return undefined;
  return host.replace(/:\d+$/, "").toLowerCase();
}

/** Whether a request comes from the page that this name served. A forwarded address can have https. */
const isOriginOf = (origin: string, host: string | undefined): boolean =>
  ["http", "https"].some(
    (scheme) => URL.canParse(`${scheme}://${host}`) && new URL(`${scheme}://${host}`).origin === origin,
  );

function wrongHost(host: string | undefined): string {
  const name = hostnameOf(host);
  const allow =
    name === undefined || name.startsWith("[")
      ? ""
      : ` If ${name} is the address of a port that you forward, allow it: ${suggest(`config set view.hosts ${name}`)}, and start view again.`;
  return `The page is only served under the names localhost and 127.0.0.1, with any port, so that no other site can reach it under a name of its own.${allow} Or forward a port: ssh -N -L 4000:127.0.0.1:<port> <this machine>, then open http://localhost:4000 with the same path. ${suggest("export")} writes a session to a file instead.`;
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
