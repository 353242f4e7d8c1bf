import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { suggest } from "../model/suggest.ts";

/** What is asked, as far as admission depends on it. */
export interface Asked {
  readonly method: string;
  /** As in the request line. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export type Verdict =
  | { readonly kind: "pass" }
  /** The token was right: take the cookie and go there. `isLed`: by a link on a page of another site. */
  | { readonly kind: "enter"; readonly cookie: string; readonly location: string; readonly isLed: boolean }
  | { readonly kind: "refuse"; readonly status: 400 | 401 | 403 | 405; readonly text: string };

export interface Guard {
  /** Below it everything lies; begins and ends with a slash. */
  readonly base: string;
  /** For the terminal: good as long as the server runs. */
  readonly link: string;
  /** For the browser that we open: good once, since other users can see a process's arguments. */
  readonly onceLink: () => string;
  judge(asked: Asked): Verdict;
}

/**
 * Who may ask. A page of another origin, a name that was pointed at 127.0.0.1, and another user of the machine may not.
 *
 * The cookie holds for one path that nobody can guess: cookies are not kept apart by port, and any other server on
 * 127.0.0.1 would be sent one for `/`.
 */
export function makeGuard(port: number): Guard {
  const { origin, host } = new URL(`http://127.0.0.1:${port}`);
  // Clients leave out the port that is usual
  const hosts: ReadonlySet<string | undefined> = new Set([host, `127.0.0.1:${port}`]);
  const base = `/${randomBytes(8).toString("hex")}/`;
  const [token, secret] = [newToken(), newToken()];
  const once = new Set<string>();
  const isOurs = (given: string): boolean => same(given, token) || takeOnce(once, given);

  return {
    base,
    link: `${origin}/?token=${token}`,
    onceLink: () => {
      const given = newToken();
      once.add(given);
      return `${origin}/?token=${given}`;
    },
    judge({ method, url, headers }) {
      if (!hosts.has(headers.host)) return refuse(403, "This address is not ours.");
      if (!url.startsWith("/")) return refuse(400, "Ask for a path.");
      if (headers.origin !== undefined && headers.origin !== origin) return refuse(403, FOREIGN);
      const given = tokenIn(url);
      const isFromUs = OUR_SITES.has(String(headers["sec-fetch-site"] ?? "none"));
      // A link that was clicked in a web terminal or a mail comes from another site; it still has to hold the token
      const isEntry = given !== undefined && headers["sec-fetch-mode"] === "navigate";
      if (!isFromUs && !isEntry) return refuse(403, FOREIGN);
      const hasCookie = cookiesIn(headers.cookie).some((value) => same(value, secret));
      if (given !== undefined) {
        if (method !== "GET") return refuse(405, "Only GET is answered.");
        if (!isOurs(given)) return refuse(401, NO_TOKEN);
        const cookie = `${COOKIE}=${secret}; Path=${base}; HttpOnly; SameSite=Strict`;
        return { kind: "enter", cookie, location: base, isLed: !isFromUs };
      }
      if (!hasCookie) return refuse(401, NO_TOKEN);
      return method === "GET" ? { kind: "pass" } : refuse(405, "Only GET is answered.");
    },
  };
}

/** On every answer, whatever it is. */
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
const NO_TOKEN = `The link is wrong, was used already, or is of a run that has ended. Run ${suggest("view")} again.`;
const FOREIGN = "Pages of other sites may not ask here. Paste the link into the address bar.";
/** `none`: typed, a bookmark, or no browser at all. */
const OUR_SITES: ReadonlySet<string> = new Set(["same-origin", "none"]);

/** 256 bits. */
const newToken = (): string => randomBytes(32).toString("base64url");

const refuse = (status: 400 | 401 | 403 | 405, text: string): Verdict => ({ kind: "refuse", status, text });

/** Takes the same time wherever they differ. */
const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

function takeOnce(tokens: Set<string>, given: string): boolean {
  const found = [...tokens].find((one) => same(one, given));
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
