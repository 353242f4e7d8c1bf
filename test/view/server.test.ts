import { rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeGuard, SECURITY_HEADERS } from "#show/view/guard.ts";
import { SORTS } from "#show/view/wire/api.ts";
import { filesOf, openDatabase } from "#store/database.ts";
import { SCHEMA_VERSION } from "#store/schema-version.const.ts";
import { ensureSession, updateSession } from "#store/sessions.ts";
import { clockAt } from "../support/clock.ts";
import { InboxFixture } from "../support/inbox-fixture.ts";
import { ensureBuilt } from "../support/program.ts";
import { Replay } from "../support/replay.ts";
import { stateFiles } from "../support/store-bytes.ts";
import { Served } from "./served.ts";

const SESSION = "a79b3a9f-1c1f-4101-b0e2-6f245ecf26b3";
const ONE = `source=claude-code&id=${SESSION}`;
const QUESTIONS = [
  "api/home",
  "api/sessions",
  `api/session?${ONE}`,
  `api/explain?${ONE}`,
  `api/search?${ONE}&text=bash`,
  "api/found?text=bash",
  "api/changes",
  "api/usage",
  "api/tools",
  "api/report.csv?by=day",
  "api/report.json?by=agent,tool",
  "api/live",
];

let replay: Replay;
let served: Served;
beforeAll(async () => {
  await ensureBuilt();
  replay = new Replay("claude-code", "nested-subagents");
  for (const call of replay.calls) replay.put(call);
  await replay.drain({ endIdle: true });
  served = await Served.at(replay.places);
});
afterAll(async () => {
  await served.close();
  replay.remove();
});

describe("access", () => {
  test("refuses every request without the token", async () => {
    for (const path of [
      "",
      "page.js",
      "page.css",
      "icon.svg",
      "nowhere",
      "api/span",
      ...QUESTIONS,
      "/",
      "/favicon.ico",
    ]) {
      const { status, text } = await served.ask(path, { isStranger: true });
      expect([path, status]).toEqual([path, 401]);
      expect(text).not.toContain("acme");
    }
  });

  test("a wrong token gets 401, even with a correct prefix", async () => {
    const token = served.entry.slice("/?token=".length);
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    for (const wrong of [
      "",
      "x",
      token.slice(0, -1),
      `${token}x`,
      `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`,
    ]) {
      const { status, headers } = await served.ask(`/?token=${wrong}`, { isStranger: true });
      expect([wrong, status, headers["set-cookie"]]).toEqual([wrong, 401, undefined]);
    }
    // An authenticated client is refused with it too
    expect((await served.ask("/?token=x")).status).toBe(401);
    for (const cookie of ["openhook-view=", "openhook-view=x", `openhook-view=${token}`, "other=1"]) {
      const { status } = await served.ask("", { isStranger: true, headers: { cookie } });
      expect([cookie, status]).toEqual([cookie, 401]);
    }
  });

  test("the link sets a cookie that scripts, other sites and other servers cannot get", async () => {
    const { status, headers } = await served.ask(served.entry, { isStranger: true });
    expect([status, headers["location"]]).toEqual([303, served.base]);
    expect(served.base).toMatch(/^\/[0-9a-f]{16}\/$/);
    expect(headers["set-cookie"]).toEqual([
      expect.stringMatching(new RegExp(`^openhook-view=[\\w-]{43}; Path=${served.base}; HttpOnly; SameSite=Strict$`)),
    ]);
    const cookie = String(headers["set-cookie"]).split(";")[0] ?? "";
    expect(cookie).not.toContain(served.entry.slice("/?token=".length));
    const page = await served.ask("", { isStranger: true, headers: { cookie: `a=b; ${cookie}` } });
    expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  });

  test("the browser's link works once: the first request gets the page, and later ones are told", async () => {
    const once = served.onceEntry();
    expect(once).not.toBe(served.entry);
    const answers = await Promise.all([1, 2, 3].map(() => served.ask(once, { isStranger: true })));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 401, 401]);
    for (const { status, text } of answers) if (status === 401) expect(text).toMatch(/^This link was already used: /);
    expect((await served.ask("/?token=x", { isStranger: true })).text).toMatch(/^The link is invalid/);
    expect((await served.ask(served.entry, { isStranger: true })).status).toBe(303);
  });

  test("a forwarded port can have another number, and be called localhost", async () => {
    for (const host of [
      `localhost:${served.port}`,
      `LOCALHOST:${served.port + 1}`,
      "localhost",
      "127.0.0.1",
      "127.0.0.1:1",
      "127.8.9.1:8080",
      `[::1]:${served.port}`,
      "page.localhost:9999",
    ]) {
      const entry = await served.ask(served.entry, { isStranger: true, headers: { host } });
      expect([host, entry.status]).toEqual([host, 303]);
      const cookie = String(entry.headers["set-cookie"]).split(";")[0] ?? "";
      for (const origin of [`http://${host.toLowerCase()}`, `https://${host.toLowerCase()}`]) {
        const { status } = await served.ask("api/sessions", { isStranger: true, headers: { host, cookie, origin } });
        expect([host, origin, status]).toEqual([host, origin, 200]);
      }
      // Another server behind the same name is another site
      const other = { host, origin: "http://localhost:3" };
      expect((await served.ask("api/sessions", { headers: other })).status).toBe(403);
    }
  });

  test("refuses other host names that resolve to 127.0.0.1, and says what to do", async () => {
    for (const host of [
      "evil.example",
      `evil.example:${served.port}`,
      "localhost.evil.example",
      "127.0.0.1.evil.example",
      "127.0.0.1@evil.example",
      "2130706433",
      "0x7f.1",
      "0.0.0.0",
      "[::ffff:127.0.0.1]",
      "[::2]",
      "localhost:x",
    ]) {
      for (const path of ["", "api/sessions", served.entry]) {
        const { status, headers, text } = await served.ask(path, { headers: { host } });
        expect([host, path, status, headers["set-cookie"]]).toEqual([host, path, 403, undefined]);
        expect(text).toMatch(/localhost and 127\.0\.0\.1, with any port.*ssh -N -L .*openhook-otel export/);
        if (host.startsWith("evil.example")) expect(text).toContain("config set view.hosts evil.example");
        if (host.startsWith("[")) expect(text).not.toContain("config set");
      }
    }
  });

  test("names of forwarded ports can be allowed, and nothing else with them", () => {
    const guard = makeGuard(4000, "Box.example.com, *.app.github.dev");
    const access = (host: string, more: Readonly<Record<string, string>> = {}) =>
      guard.decide({ method: "GET", url: new URL(guard.link).search.replace("?", "/?"), headers: { host, ...more } })
        .kind;
    for (const host of ["box.example.com", "BOX.example.com:443", "a-4000.app.github.dev", "localhost:1"]) {
      expect([host, access(host)]).toEqual([host, "enter"]);
      expect(access(host, { origin: `https://${host.toLowerCase().replace(":443", "")}` })).toBe("enter");
      expect(access(host, { origin: "https://evil.example" })).toBe("refuse");
    }
    for (const host of [
      "example.com",
      "x.box.example.com",
      "app.github.dev",
      "evilapp.github.dev",
      "box.example.com.evil",
    ]) {
      expect([host, access(host)]).toEqual([host, "refuse"]);
    }
  });

  test("accepts its own link on port 80, which clients omit", () => {
    const guard = makeGuard(80);
    const access = (headers: Readonly<Record<string, string>>) =>
      guard.decide({ method: "GET", url: new URL(guard.link).pathname + new URL(guard.link).search, headers });
    for (const host of ["127.0.0.1", "127.0.0.1:80"]) {
      expect([host, access({ host }).kind]).toEqual([host, "enter"]);
      expect(access({ host, origin: "http://127.0.0.1" }).kind).toBe("enter");
      expect(access({ host, origin: "http://127.0.0.1:81" })).toMatchObject({ status: 403 });
    }
  });

  test("refuses pages of another origin even with the cookie", async () => {
    const ours = `http://127.0.0.1:${served.port}`;
    const foreign: Readonly<Record<string, string>>[] = [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: `http://127.0.0.1:${served.port + 1}` },
      { origin: `http://localhost:${served.port}` },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
    ];
    for (const headers of foreign) {
      for (const path of ["", "page.js", ...QUESTIONS]) {
        expect([headers, path, (await served.ask(path, { headers })).status]).toEqual([headers, path, 403]);
      }
    }
    // It cannot use a known link either, by leading the user there
    const entry = { isStranger: true, headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" } };
    expect((await served.ask(served.entry, entry)).status).toBe(403);
    expect(
      (await served.ask(served.entry, { isStranger: true, headers: { origin: "https://evil.example" } })).status,
    ).toBe(403);
    const clicked = { isStranger: true, headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" } };
    expect((await served.ask(served.entry, clicked)).status).toBe(200);
    for (const headers of [
      { origin: ours },
      { "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "none" },
    ] as const) {
      expect((await served.ask("api/sessions", { headers })).status).toBe(200);
    }
  });

  test("accepts only GET", async () => {
    for (const method of ["POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]) {
      for (const path of ["", "api/sessions", "nowhere", served.entry]) {
        const { status, headers } = await served.ask(path, { method });
        expect([method, path, status, headers["allow"]]).toEqual([method, path, 405, "GET"]);
      }
      expect((await served.ask("api/sessions", { method, isStranger: true })).status).toBe(401);
    }
  });

  test("listens on 127.0.0.1 only", async () => {
    const others = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ family, internal }) => family === "IPv4" && !internal)
      .map(({ address }) => address);
    for (const host of [...others, "::1"]) {
      const reached = await new Promise<boolean>((done) => {
        const socket = connect(served.port, host, () => done(true)).on("error", () => done(false));
        setTimeout(() => done(false), 500);
        socket.unref();
      });
      expect([host, reached]).toEqual([host, false]);
    }
  });
});

describe("every response", () => {
  test("has headers that forbid everything the page does not need, refusals included", async () => {
    const answers = [
      ...(await Promise.all(
        ["", "page.js", "nowhere", "api/span", `api/session?${ONE}`, "api/sessions", "api/sessions?sort=x"].map(
          (path) => served.ask(path),
        ),
      )),
      await served.ask("", { isStranger: true }),
      await served.ask("", { headers: { origin: "https://evil.example" } }),
      await served.ask("", { method: "POST" }),
      await served.ask(served.entry, { isStranger: true }),
    ];
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 303, 400, 401, 403, 404, 405]));
    for (const { headers } of answers) expect(headers).toMatchObject(SECURITY_HEADERS);
    const policy = SECURITY_HEADERS["content-security-policy"] ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
    for (const { headers } of answers) expect(headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("no path reaches a file outside the page", async () => {
    const paths = [
      "../../../../etc/passwd",
      "..%2f..%2f..%2fetc%2fpasswd",
      "%2e%2e/%2e%2e/package.json",
      "..\\..\\package.json",
      "page.js/../../package.json",
      "page.js%00.css",
      "index.html",
      "page.js.map",
      "//etc/passwd",
      "__proto__",
      "constructor",
    ];
    for (const path of paths) {
      const { status, text } = await served.ask(path.startsWith("/") ? `${served.base}${path}` : path);
      expect([path, [400, 404].includes(status)]).toEqual([path, true]);
      expect(text).toMatch(/^Not found\.\n$|^The request could not be read\.\n$/);
    }
    // A URL instead of a path
    expect((await served.ask("http://evil.example/").catch(() => ({ status: 400 }))).status).not.toBe(200);
  });
});

describe("responses", () => {
  test("a session's columns are its spans in tree order", async () => {
    const { spans, row } = (await served.json(`api/session?${ONE}`)) as {
      spans: { count: number; ids: string; depth: number[]; strings: string[]; label: number[]; flags: number[] };
      row: Record<string, unknown>;
    };
    expect(spans.count).toBe(18);
    expect(spans.ids).toHaveLength(18 * 16);
    expect(Math.max(...spans.depth)).toBe(6);
    expect(spans.depth.every((depth, i) => i === 0 || depth <= (spans.depth[i - 1] ?? 0) + 1)).toBe(true);
    expect(spans.label.slice(0, 2).map((i) => spans.strings[i])).toEqual(["Session", "Turn 1"]);
    expect(row).toMatchObject({
      agent: "Claude Code",
      turns: 1,
      subagents: 3,
      tool_calls: { total: 5 },
      ending: { state: "ended" },
    });
  });

  test("search is case-insensitive in every script", async () => {
    const other = new Replay("claude-code", "basic");
    for (const call of other.calls) other.put(call);
    await other.drain({ endIdle: true });
    const db = openDatabase(other.places.storePath);
    const created = ensureSession(db, "openhook", "told", 1_000);
    updateSession(db, created.id, { timeMs: 1_000, branch: "feature/ÜBERSICHT", cwd: "/home/dev/Проект" });
    db.close();
    const there = await Served.at(other.places);
    const found = async (text: string): Promise<readonly string[]> => {
      const { rows } = (await there.json(`api/sessions?text=${encodeURIComponent(text)}`)) as {
        rows: { session_id: string }[];
      };
      return rows.map(({ session_id }) => session_id);
    };
    try {
      for (const text of ["übersicht", "ÜBERSICHT", "Übersicht", "/проект", "ПРОЕКТ", "FEATURE/ü", "TOLD"]) {
        expect([text, await found(text)]).toEqual([text, ["told"]]);
      }
      for (const text of ["CLAUDE code", "claude-code", "CLAUDE-"]) expect(await found(text)).toHaveLength(1);
      // By the name of a model that was used
      const { choices } = (await there.json("api/sessions")) as { choices: { models: string[] } };
      expect(choices.models).not.toEqual([]);
      for (const model of choices.models) expect(await found(model.toUpperCase())).toHaveLength(1);
      expect(await found("told\nopenhook")).toEqual([]);
    } finally {
      await there.close();
      other.remove();
    }
  });

  test("repositories with the same name are distinguished by owner in the list, filter and figures", async () => {
    const other = new Replay("claude-code", "basic", { withTranscripts: false });
    await other.drain();
    const db = openDatabase(other.places.storePath);
    for (const owner of ["acme", "beta"]) {
      const { id } = ensureSession(db, "openhook", `of-${owner}`, 1_000);
      updateSession(db, id, {
        timeMs: 1_000,
        repository: { name: "api", url: `https://git.example/${owner}/api.git` },
      });
    }
    db.close();
    const there = await Served.at(other.places);
    const list = async (query: string) =>
      (await there.json(`api/sessions${query}`)) as {
        rows: { session_id: string; repositoryName: string }[];
        choices: { repositories: string[] };
      };
    try {
      const { rows, choices } = await list("");
      expect(choices.repositories).toEqual(["acme/api", "beta/api"]);
      expect(rows.map(({ repositoryName }) => repositoryName).sort()).toEqual(choices.repositories);
      for (const query of ["repository=beta/api", "text=BETA/"]) {
        expect((await list(`?${query}`)).rows.map(({ session_id }) => session_id)).toEqual(["of-beta"]);
      }
      expect((await list("?repository=api")).rows).toHaveLength(2);
      expect((await list("?repository=gamma/api")).rows).toEqual([]);
      const of = async (repository: string) =>
        (await there.json(`api/usage?unit=day&split=repository&sinceMs=${Date.now() - 1}&repository=${repository}`))[
          "kind"
        ];
      expect(await of("acme/api")).toBe("usage");
    } finally {
      await there.close();
      other.remove();
    }
  });

  test("a span's id returns the whole span", async () => {
    const { spans } = (await served.json(`api/session?${ONE}`)) as { spans: { ids: string; count: number } };
    for (let i = 0; i < spans.count; i++) {
      const id = spans.ids.slice(i * 16, (i + 1) * 16);
      const span = await served.json(`api/span?${ONE}&span=${id}`);
      expect(span).toMatchObject({ kind: "span", spanId: id, open: false });
      expect(span["attributes"]).toMatchObject({ "service.name": "claude-code", "session.id": SESSION });
    }
    expect((await served.ask(`api/span?${ONE}&span=0000000000000000`)).status).toBe(404);
  });

  test("responds 304 if nothing changed", async () => {
    const first = await served.ask(`api/session?${ONE}`);
    const tag = String(first.headers["etag"]);
    const again = await served.ask(`api/session?${ONE}`, { headers: { "if-none-match": tag } });
    expect([again.status, again.text]).toEqual([304, ""]);
    const another = await served.ask(`api/session?${ONE}`, { headers: { "if-none-match": '"x"' } });
    expect([another.status, another.text, another.headers]).toEqual([
      200,
      first.text,
      { ...first.headers, date: another.headers.date },
    ]);
  });

  test("hostile ids and numbers never cause an internal error", async () => {
    const ids = [
      "' OR 1=1 --",
      "../../x",
      "%00",
      "%F0%9F%92%A9",
      "%",
      "<script>alert(1)</script>",
      "a".repeat(3000),
      "$" + "{x}",
    ];
    for (const id of ids) {
      const text = encodeURIComponent(id);
      for (const path of [
        `api/session?source=${text}&id=${text}`,
        `api/span?source=claude-code&id=${SESSION}&span=${text}`,
        `api/sessions?text=${text}&agent=${text}&repository=${text}&model=${text}`,
        `api/sessions?limit=${text}`,
        `api/sessions?sinceMs=${text}`,
        `api/usage?timeZone=${text}`,
        `api/usage?unit=${text}`,
        `api/tools?sinceMs=${text}`,
      ]) {
        const { status, headers } = await served.ask(path);
        expect([path, [200, 400, 404].includes(status)]).toEqual([path, true]);
        expect(headers["content-type"]).toMatch(/^application\/json/);
      }
    }
    expect(await served.ask("api/session")).toMatchObject({ status: 400 });
    expect(await served.ask(`api/sessions?text=${"a".repeat(5000)}`)).toMatchObject({ status: 400 });
    expect(await served.ask("api/usage?unit=hour&untilMs=99999999999999")).toMatchObject({ status: 400 });
    expect(served.logged).toEqual([]);
  });

  test("figures over time and tools are the session's", async () => {
    const sinceMs = Date.parse("2026-11-21T00:00:00Z");
    const usage = (await served.json(`api/usage?sinceMs=${sinceMs}&unit=day&split=model&timeZone=UTC`)) as {
      total: Record<string, unknown>;
      buckets: string[];
      groups: { name: string; tokens: number[] }[];
    };
    expect(usage.total).toMatchObject({ tool_calls: 5, input: 4278, output: 120, costIsLowerBound: false });
    expect(usage.buckets[0]).toBe("2026-11-21");
    expect(usage.groups.map(({ name, tokens }) => [name, tokens[0]])).toEqual([["claude-sonnet-4-5-20250929", 4398]]);
    const { rows } = (await served.json(`api/tools?sinceMs=${sinceMs}`)) as { rows: Record<string, unknown>[] };
    expect(rows.map(({ tool, tool_calls }) => [tool, tool_calls])).toEqual([
      ["Agent", 3],
      ["Bash", 1],
      ["Read", 1],
    ]);
  });

  test("reading does not write to the store", async () => {
    const before = stateFiles(replay.places);
    for (const path of ["", ...QUESTIONS.filter((one) => one !== "api/live")]) await served.ask(path);
    expect(stateFiles(replay.places)).toEqual(before);
  });
});

test("includes work before the first hook in the list's order and in all-time figures", async () => {
  const late = new Replay("claude-code", "nested-subagents");
  const last = late.calls.at(-1);
  if (last === undefined) throw new Error("nothing was recorded");
  const hookMs = Date.parse(last.received_at) + 3 * 86_400_000;
  late.put({ ...last, received_at: new Date(hookMs).toISOString() });
  await late.drain({ endIdle: true }, clockAt(hookMs + 1_000));
  const look = await Served.at(late.places);
  try {
    const rows = async (query: string) =>
      (await look.json(`api/sessions?sort=started&${query}`))["rows"] as { start: string }[];
    const [row] = await rows("");
    const startMs = Date.parse(row?.start ?? "");
    expect(startMs).toBeLessThan(hookMs);
    expect(await rows(`untilMs=${hookMs - 1}`)).toEqual([row]);
    expect(await rows(`untilMs=${startMs}`)).toEqual([]);
    const { total } = (await look.json("api/usage?unit=hour&split=model&timeZone=UTC")) as { total: object };
    expect(total).toMatchObject({ tool_calls: 5, input: 4278, output: 120 });
  } finally {
    await look.close();
    late.remove();
  }
});

test("includes sessions dated into the future by a wrong clock in chart and sums", async () => {
  const dayMs = 86_400_000;
  const { input } = await served.json("api/usage").then(({ total }) => total as { input: number });
  const { rows } = await served.json("api/sessions");
  const [{ start } = { start: "" }] = rows as { start: string }[];
  const startMs = Date.parse(start);
  const look = await Served.at(replay.places, () => startMs - 3 * dayMs);
  try {
    const usage = await look.json(`api/usage?sinceMs=${startMs - 10 * dayMs}&unit=day&timeZone=UTC`);
    const buckets = usage["buckets"] as string[];
    expect(buckets).toEqual([...buckets].sort());
    const times = usage["bucketFigures"] as ({ input: number | null } | null)[];
    expect(times.reduce((sum, time) => sum + (time?.input ?? 0), 0)).toBe(input);
  } finally {
    await look.close();
  }
});

test("paging continues the same list in every order, even with many equal values", async () => {
  const own = new InboxFixture();
  const db = openDatabase(own.places.storePath);
  for (let n = 0; n < 11; n++) ensureSession(db, "acme", `s${n}`, Date.UTC(2026, 10, 1 + (n % 4)));
  const look = await Served.at(own.places);
  const idsOf = async (query: string): Promise<readonly string[]> => {
    const { rows } = await look.json(`api/sessions?${query}`);
    return (rows as { session_id: string }[]).map(({ session_id }) => session_id);
  };
  try {
    for (const sort of SORTS) {
      for (const rising of ["", "1"]) {
        const all = await idsOf(`limit=99&sort=${sort}&rising=${rising}`);
        expect([sort, rising, new Set(all).size, all.length]).toEqual([sort, rising, 11, 11]);
        for (let n = 1; n < 11; n++) {
          expect(await idsOf(`limit=${n}&sort=${sort}&rising=${rising}`)).toEqual(all.slice(0, n));
        }
      }
    }
  } finally {
    await look.close();
    db.close();
    own.remove();
  }
});

test("readers hold no snapshot, so a drain can checkpoint the log immediately", async () => {
  const own = new InboxFixture();
  const db = openDatabase(own.places.storePath);
  const look = await Served.at(own.places);
  try {
    for (let i = 0; i < 3; i++) {
      db.prepare("INSERT INTO meta (key, value) VALUES (?, 'x')").run(`some-key-${i}`);
      await look.json("api/sessions");
    }
    db.prepare("PRAGMA busy_timeout = 0").get();
    expect(db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()).toMatchObject({ busy: 0, log: 0 });
  } finally {
    await look.close();
    db.close();
    own.remove();
  }
});

describe("a store that is missing, damaged, or from another version", () => {
  const at = async (
    make: (inbox: InboxFixture) => void,
  ): Promise<{ status: number; body: Record<string, unknown> }> => {
    const inbox = new InboxFixture();
    make(inbox);
    const own = await Served.at(inbox.places);
    try {
      expect((await own.ask("")).status).toBe(200);
      const { status, text } = await own.ask("api/sessions");
      return { status, body: JSON.parse(text) };
    } finally {
      await own.close();
      inbox.remove();
    }
  };

  test("a missing store is answered with advice, not an error", async () => {
    const { status, body } = await at(() => {});
    expect(status).toBe(200);
    expect(body).toEqual({ kind: "no-store", hint: expect.stringContaining("openhook-otel start") });
  });

  test("a damaged store is an error with its remedy", async () => {
    const { status, body } = await at((inbox) => {
      openDatabase(inbox.places.storePath).close();
      for (const file of filesOf(inbox.places.storePath)) rmSync(file, { force: true });
      writeFileSync(inbox.places.storePath, "this is no database, whatever it was before\n".repeat(400));
    });
    expect(status).toBe(503);
    expect(body).toMatchObject({ kind: "error", code: "E_STORE_DAMAGED" });
    expect(body["message"]).toContain("openhook-otel drain");
  });

  test("a newer and an older store are errors with their remedies", async () => {
    for (const [version, advice] of [
      [SCHEMA_VERSION + 1, "update openhook-otel"],
      [1, "openhook-otel import"],
    ] as const) {
      const { status, body } = await at((inbox) => {
        const db = openDatabase(inbox.places.storePath);
        db.prepare(`PRAGMA user_version = ${version}`).all();
        db.close();
      });
      expect([status, body["kind"]]).toEqual([503, "error"]);
      expect(body["message"]).toContain(advice);
    }
  });
});
