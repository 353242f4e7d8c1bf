import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemEnvironment } from "#collect/bridge/environment.ts";
import { expiryOf, headerReader, parseHeaders } from "#collect/bridge/read-headers.ts";
import type { OtlpSignalSettings } from "#core/model/settings.ts";
import { probe } from "#send/otlp/probe.lazy.ts";
import { withProvidedHeaders } from "#send/otlp/provided-headers.ts";
import { createSender } from "#send/otlp/send.lazy.ts";
import { SendError } from "#send/otlp/transport-response.ts";
import { spanRecord } from "../otlp/records.ts";
import { startGrpcReceiver } from "../receiver/grpc-receiver.ts";
import { type Receiver, type RequestHead, startReceiver } from "../receiver/receiver.ts";
import { otlpSettings } from "../support/otlp-settings.ts";

let home = "";
let nowMs = Date.parse("2026-11-28T10:00:00Z");
let receiver: Receiver | undefined;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-headers-"));
  mkdirSync(join(home, "state"), { mode: 0o700 });
  nowMs = Date.parse("2026-11-28T10:00:00Z");
});
afterEach(async () => {
  await receiver?.close();
  receiver = undefined;
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

const reader = () => headerReader({ home, stateDir: join(home, "state") }, "linux", () => nowMs);
const cache = () => join(home, "state", "headers.json");
/** Counts its runs, and prints what the file `token` has. */
const command = () =>
  `echo x >>runs; echo "secret on stderr" >&2; printf '{"Authorization":"Bearer %s"}' "$(cat token)"`;
const runsOf = () => (existsSync(join(home, "runs")) ? readFileSync(join(home, "runs"), "utf8").length / 2 : 0);
const token = (text: string) => writeFileSync(join(home, "token"), text);
const signal = (more: Partial<OtlpSignalSettings> = {}): OtlpSignalSettings => {
  const { traces } = otlpSettings(receiver ?? { url: "http://127.0.0.1:1" }, more);
  if (traces === undefined) throw new Error("no traces");
  return traces;
};
const jwt = (exp: number) => `e30.${Buffer.from(JSON.stringify({ exp })).toString("base64url")}.c2ln`;

/** A backend that accepts only the token of the file; a refusal repeats what it got. */
async function serve(protocol: OtlpSignalSettings["protocol"]): Promise<Receiver> {
  const behaviour = ({ headers }: RequestHead) => {
    const given = headers["authorization"];
    if (given === `Bearer ${readFileSync(join(home, "token"), "utf8")}`) return undefined;
    return { status: 401, body: `refused: ${given}`, grpc: { code: 16, details: `refused: ${given}` } };
  };
  receiver = await (protocol === "grpc" ? startGrpcReceiver({ behaviour }) : startReceiver({ behaviour }));
  return receiver;
}

describe("a command that provides headers", () => {
  test.each(["http/protobuf", "http/json", "grpc"] as const)(
    "over %s: is run once, and again in the same delivery after the token was refused",
    async (protocol) => {
      const to = await serve(protocol);
      token("one");
      const of = { protocol, headersCommand: command(), headers: { AUTHORIZATION: "Bearer fixed", "x-team": "a" } };
      const send = async () => {
        const sender = createSender(otlpSettings(to, of), { version: "0.1.0", readHeaders: reader() });
        const outcomes = await Promise.all([1, 2].map(() => sender.sendSpans([spanRecord()])));
        sender.close();
        return outcomes.map(({ status }) => status);
      };
      expect(await send()).toEqual(["ok", "ok"]);
      expect(await send()).toEqual(["ok", "ok"]);
      expect(runsOf()).toBe(1);
      expect(to.requests.at(-1)?.headers).toMatchObject({ authorization: "Bearer one", "x-team": "a" });

      token("two");
      expect(await send()).toEqual(["ok", "ok"]);
      expect(runsOf()).toBe(2);
      expect(to.spans).toHaveLength(6);
      expect(
        (await probe("traces", signal(of), { version: "0", timeoutMs: 30_000, readHeaders: reader() })).outcome,
      ).toMatchObject({ status: "ok" });
    },
  );

  test("a token that stays refused costs one run and at most two requests, and is quoted nowhere", async () => {
    const to = await serve("http/json");
    token("right");
    const headersCommand = `echo x >>runs; printf '{"authorization":"Bearer wr0ng-%s"}' "$(wc -l <runs)"`;
    const settings = otlpSettings(to, { protocol: "http/json", headersCommand });
    const sender = createSender(settings, { version: "0.1.0", readHeaders: reader() });
    const outcome = await sender.sendSpans([spanRecord()]);
    expect(outcome).toMatchObject({ status: "refused", httpStatus: 401 });
    expect(await sender.sendSpans([spanRecord()])).toMatchObject({ status: "refused", httpStatus: 401 });
    sender.close();
    expect([runsOf(), to.requests.length]).toEqual([2, 3]);
    expect(JSON.stringify(outcome)).not.toContain("wr0ng");
  });

  test("what it printed is kept for this user only, until it expires", async () => {
    token(jwt(nowMs / 1000 + 3600));
    writeFileSync(cache(), "damaged", { mode: 0o644 });
    const read = () => reader()({ ...signal(), headersCommand: command() }, false);
    const first = await read();
    expect(statSync(cache()).mode & 0o777).toBe(0o600);
    nowMs += 3_500_000;
    expect(await read()).toEqual(first);
    expect(runsOf()).toBe(1);
    nowMs += 60_000;
    await read();
    expect(runsOf()).toBe(2);
    await reader()({ ...signal(), headersCommand: `${command()} ` }, false);
    expect(runsOf()).toBe(3);
    // A clock that was set back
    nowMs -= 10_000_000;
    await read();
    expect(runsOf()).toBe(4);
  });

  test("gets nothing of this process's environment", async () => {
    process.env["OPENHOOK_TEST_PLANTED"] = "1";
    const path = process.env["PATH"];
    process.env["PATH"] = `${home}/planted:${path}`;
    try {
      const headersCommand = `printf '{"x-env":"%s","x-path":"%s","x-pwd":"%s"}' "$(env | cut -d= -f1 | sort | tr '\\n' ' ')" "$PATH" "$PWD"`;
      const headers = await reader()({ ...signal(), headersCommand }, false);
      const allowed = new Set([...Object.keys(systemEnvironment(home, "linux")), "PWD", "OLDPWD", "SHLVL", "_"]);
      expect(
        headers["x-env"]
          ?.trim()
          .split(" ")
          .filter((name) => !allowed.has(name)),
      ).toEqual([]);
      expect([headers["x-path"], headers["x-pwd"]]).toEqual([systemEnvironment(home, "linux")["PATH"], home]);
    } finally {
      delete process.env["OPENHOOK_TEST_PLANTED"];
      process.env["PATH"] = path;
    }
  });

  test.each([
    ["exit 3", /^otlp\.headersCommand: exit code 3$/],
    ["true", /its output is empty$/],
    ["echo Bearer s3cret", /its output is not a JSON object of strings$/],
    [`echo '["s3cret"]'`, /is not a JSON object of strings$/],
    [`echo '{"authorization":{"s3cret":1}}'`, /is not a JSON object of strings$/],
    [`echo '{"s3cret header":"x"}'`, /has a name that HTTP does not allow in header 1$/],
    [`printf '{"a":"s3cret\\\\nx"}'`, /has a line break or control character in header 1$/],
    ["head -c 100000 /dev/zero | tr '\\0' x", /is not a JSON object of strings$/],
  ])("that fails (%s): nothing is sent, the setting is named, its output is not", async (headersCommand, reason) => {
    receiver = await startReceiver();
    const sender = createSender(otlpSettings(receiver, { headersCommand }), {
      version: "0.1.0",
      readHeaders: reader(),
    });
    const outcome = await sender.sendSpans([spanRecord()]);
    sender.close();
    expect(outcome).toMatchObject({
      status: "retry",
      reason: expect.stringMatching(reason),
      remedy: expect.stringMatching(/./),
    });
    expect(JSON.stringify(outcome)).not.toContain("s3cret");
    expect([receiver.requests.length, existsSync(cache())]).toEqual([0, false]);
  });
});

test("the connection with refused headers is closed in the end too", async () => {
  const closed: string[] = [];
  const transport = withProvidedHeaders(
    { ...signal(), headersFile: "/f" },
    async (_, isRefused) => ({ authorization: isRefused ? "new" : "old" }),
    ({ headers: { authorization = "" } }) => ({
      send: async () => ({
        status: "failure",
        error: new SendError(""),
        httpStatus: authorization === "old" ? 401 : 400,
      }),
      shutdown: () => void closed.push(authorization),
    }),
  );
  await transport.send(new Uint8Array(), 1000);
  transport.shutdown();
  expect(closed.sort()).toEqual(["new", "old"]);
});

test("a command that fails is run once for both signals: each run can take ten seconds", async () => {
  const read = reader();
  for (const url of ["http://127.0.0.1:1/v1/traces", "http://127.0.0.1:1/v1/metrics"]) {
    const headersCommand = "echo x >>runs; exit 3";
    await expect(read({ ...signal(), url, headersCommand }, false)).rejects.toThrow("exit code 3");
  }
  expect(runsOf()).toBe(1);
});

test("headers that one destination refuses stay in use for another one if the command fails now", async () => {
  token("one");
  const read = reader();
  const headersCommand = `[ ! -e broken ] || exit 3; ${command()}`;
  await read({ ...signal(), headersCommand }, false);
  writeFileSync(join(home, "broken"), "");
  await expect(read({ ...signal(), headersCommand }, true)).rejects.toThrow("exit code 3");
  expect(await read({ ...signal(), headersCommand }, false)).toEqual({ authorization: "Bearer one" });
});

describe("a file that provides headers", () => {
  test("is JSON or lines, is read again after a refusal, and yields to the command", async () => {
    const headersFile = join(home, "file");
    const read = (more = {}) => reader()({ ...signal(), headersFile, ...more }, false);
    writeFileSync(headersFile, "# comment\n\nAuthorization: Bearer a:b \r\nx-a:1\n");
    expect(await read()).toEqual({ authorization: "Bearer a:b", "x-a": "1" });
    writeFileSync(headersFile, `{"authorization": "Bearer c", "x-a": "2"}`);
    expect(await read({ headersCommand: `echo '{"X-A":"3"}'` })).toEqual({ authorization: "Bearer c", "x-a": "3" });

    const to = await serve("http/json");
    token("one");
    writeFileSync(headersFile, "authorization: Bearer one\n");
    const sender = createSender(otlpSettings(to, { headersFile }), { version: "0.1.0", readHeaders: reader() });
    expect((await sender.sendSpans([spanRecord()])).status).toBe("ok");
    token("two");
    writeFileSync(headersFile, "authorization: Bearer two\n");
    expect((await sender.sendSpans([spanRecord()])).status).toBe("ok");
    sender.close();
  });

  test("that cannot be read is named, with the reason", async () => {
    const failure = async (headersFile: string) =>
      reader()({ ...signal(), headersFile }, false).then(String, (error: Error) => error.message);
    expect(await failure(join(home, "none"))).toMatch(/^otlp\.headersFile: there is no file ".*none"$/);
    expect(await failure(home)).toMatch(/^otlp\.headersFile: cannot read ".*": it is a directory$/);
    expect(await failure("/dev/zero")).toMatch(/^otlp\.headersFile: cannot read ".*": it is not a regular file$/);
    writeFileSync(join(home, "large"), "x".repeat(70_000));
    expect(await failure(join(home, "large"))).toMatch(/^otlp\.headersFile: ".*large" is larger than 65536 bytes$/);
    writeFileSync(join(home, "wrong"), "Bearer s3cret\n");
    chmodSync(join(home, "wrong"), 0o600);
    const message = await failure(join(home, "wrong"));
    expect(message).toMatch(/^otlp\.headersFile: ".*wrong" has a name that HTTP does not allow in header 1$/);
    expect(message).not.toContain("s3cret");
  });
});

test("headers expire with the first token that names its end, and otherwise soon", () => {
  const at = (value: string) => expiryOf({ authorization: value, "x-a": "1" }, 1_000_000_000) - 1_000_000_000;
  expect(at("Bearer opaque")).toBe(900_000);
  expect(at(`Bearer ${jwt(1_003_600)}`)).toBe(3_540_000);
  expect(at(`Bearer ${jwt(9_999_999)}`)).toBe(86_400_000);
  expect(at(`${jwt(1_003_600)} ${jwt(1_000_600)}`)).toBe(540_000);
  expect(at(`Bearer ${jwt(1_000_000)}`)).toBeLessThan(0);
  expect(at(`Bearer e30.bm90IGpzb24.x`)).toBe(900_000);
  expect(parseHeaders("{}", { canBeLines: false })).toEqual({ headers: {} });
});
