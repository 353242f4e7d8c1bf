import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { currentUser } from "#config/repository/user-settings.ts";
import { userAttributes } from "#core/privacy/identity.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { Replay } from "../support/replay.ts";

const EMAIL = "Jane.Doe@Example.com";
const SALT = "a key of the whole team";

describe("the user attribute", () => {
  test("is absent unless configured", () => {
    expect(userAttributes("none", { email: EMAIL, name: "jane" }, SALT)).toEqual({});
  });

  test("is the address, or the name if there is no address", () => {
    expect(userAttributes("plain", { email: EMAIL, name: "jane" }, SALT)).toEqual({
      "user.email": "jane.doe@example.com",
    });
    expect(userAttributes("plain", { name: "jane" }, SALT)).toEqual({ "user.name": "jane" });
    expect(userAttributes("plain", {}, SALT)).toEqual({});
  });

  test("is a pseudonym: the same for one person and key, different for others, and not a hash that can be brute-forced", () => {
    const hash = (email: string, key: string) => userAttributes("hash", { email }, key)["user.hash"] ?? "";
    expect(hash(EMAIL, SALT)).toMatch(/^[0-9a-f]{32}$/);
    expect(hash(EMAIL, SALT)).toBe(hash("jane.doe@example.com ", SALT));
    expect(hash(EMAIL, SALT)).not.toBe(hash("john@example.com", SALT));
    expect(hash(EMAIL, SALT)).not.toBe(hash(EMAIL, "another key of a team"));
    for (const algorithm of ["md5", "sha1", "sha256", "sha512"]) {
      const plain = createHash(algorithm).update("jane.doe@example.com").digest("hex");
      expect(plain).not.toContain(hash(EMAIL, SALT));
    }
  });
});

describe("the user's identity", () => {
  let home = "";
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "openhook-person-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));
  const git = (text: string) => writeFileSync(join(home, ".gitconfig"), text);

  test.each([
    ["[user]\n\tname = Jane\n\temail = jane@example.com\n", "jane@example.com"],
    ['[core]\n  email = no@example.com\n[User]\n  Email = "jane@example.com" # mine\n', "jane@example.com"],
    ["[user] email = jane@example.com", "jane@example.com"],
    ["[user]\nemail = a@example.com\nemail = b@example.com\n", "b@example.com"],
    ['[user "sub"]\nname = x\n', undefined],
    ["", undefined],
  ])("git's %j", async (text, email) => {
    git(text);
    expect((await currentUser(home)).email).toBe(email);
  });

  test("git's other configuration file, with ~/.gitconfig taking precedence", async () => {
    mkdirSync(join(home, ".config", "git"), { recursive: true });
    writeFileSync(join(home, ".config", "git", "config"), "[user]\nemail = shared@example.com\n");
    expect((await currentUser(home)).email).toBe("shared@example.com");
    git("[user]\nemail = own@example.com\n");
    expect((await currentUser(home)).email).toBe("own@example.com");
  });

  test("otherwise the operating system's", async () => {
    expect(await currentUser(home)).toEqual({ name: userInfo().username });
  });
});

describe("the receiver gets", () => {
  const replays: Replay[] = [];
  let receiver: Receiver;
  afterAll(async () => {
    for (const replay of replays) replay.remove();
    await receiver?.close();
  });

  const deliver = async (env: Record<string, string>): Promise<{ users: ReadonlySet<string>; bodies: string }> => {
    receiver ??= await startReceiver();
    receiver.clear();
    const replay = new Replay("claude-code", "basic");
    replays.push(replay);
    writeFileSync(join(replay.home, ".gitconfig"), `[user]\nemail = ${EMAIL}\n`);
    for (const call of replay.calls) replay.put(call);
    replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url, ...env };
    await replay.drain({ endIdle: true });
    expect(receiver.spans.length).toBeGreaterThan(0);
    expect(receiver.metricPoints.length).toBeGreaterThan(0);
    const users = [...receiver.spans, ...receiver.metricPoints].map(({ resource }) =>
      JSON.stringify(Object.entries(resource).filter(([name]) => name.startsWith("user."))),
    );
    return { users: new Set(users), bodies: receiver.requests.map(({ body }) => body.toString("latin1")).join() };
  };

  test("nothing about the user by default", async () => {
    const { users, bodies } = await deliver({});
    expect(users).toEqual(new Set(["[]"]));
    expect(bodies.toLowerCase()).not.toContain("jane");
  });

  test("the address if configured, on spans and metrics, although addresses are redacted in all other values", async () => {
    const { users } = await deliver({ OPENHOOK_OTEL_IDENTITY_USER: "plain" });
    expect(users).toEqual(new Set(['[["user.email","jane.doe@example.com"]]']));
  });

  test("a pseudonym: the same on two machines with the team's key, different without it", async () => {
    const hash = { OPENHOOK_OTEL_IDENTITY_USER: "hash" };
    const team = { ...hash, OPENHOOK_OTEL_IDENTITY_SALT: SALT };
    const [a, b, c, d] = [await deliver(team), await deliver(team), await deliver(hash), await deliver(hash)];
    expect(a.users.size).toBe(1);
    expect(a.users).toEqual(b.users);
    expect(c.users).not.toEqual(d.users);
    expect(c.users).not.toEqual(a.users);
    expect(a.bodies.toLowerCase()).not.toContain("jane");
    expect(a.bodies).not.toContain(SALT);
  });
});
