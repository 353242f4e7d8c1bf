// Names are sent at `metadata`, the default: of models, tools, servers, subagents, repositories. They carry no user and no account.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { parseOwnPrices } from "#config/own-prices.lazy.ts";
import type { OwnPrices } from "#core/model/price-list.ts";
import { nameRedactor } from "#core/privacy/names.ts";
import { protectionOf } from "#core/privacy/protection.ts";
import { redact } from "#core/privacy/redact.ts";
import { ownListOf } from "#core/rules/price.ts";
import { openDatabase } from "#store/database.ts";
import { packedFacts } from "#store/packed.ts";
import { importInto } from "../import/run.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { Replay } from "../support/replay.ts";

const ACCOUNT = "123456789012";
const clean = nameRedactor(redact, true);

describe("a name loses whose it is", () => {
  test.each([
    // Models
    [`arn:aws:bedrock:eu-central-1:${ACCOUNT}:inference-profile/joe.smith`, "inference-profile/[redacted:user]"],
    [
      `arn:aws-us-gov:bedrock:us-gov-west-1:${ACCOUNT}:provisioned-model/joes-model`,
      "provisioned-model/[redacted:user]",
    ],
    [
      `arn:aws:bedrock:eu-central-1:${ACCOUNT}:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0`,
      "arn:aws:bedrock:eu-central-1:[redacted:account]:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ],
    [`arn:aws:bedrock:us-east-1:${ACCOUNT}:application-inference-profile/a1b2c3d4e5f6`, "profile/a1b2c3d4e5f6"],
    ["projects/987654321/locations/us/models/gemini-2.5-pro", "projects/[redacted:account]/locations/us/models/gemini"],
    ["/subscriptions/6f1d3a2b-1111-4222-8333-0123456789ab/resourceGroups/ai", "/subscriptions/[redacted:account]/"],
    ["/home/joe.smith/models/llama-3.gguf", "llama-3.gguf"],
    ["file:///Users/joe.smith/models/llama-3.gguf", "llama-3.gguf"],
    // Tools, servers, programs, subagents
    ["mcp__/Users/joe.smith/server.js__run", "mcp__server.js__run"],
    ["mcp___Users_joe_smith_server_js__run", "mcp__[redacted:user]__run"],
    ["mcp__-home-joe-smith-server__run", "mcp__[redacted:user]__run"],
    ["C--Users-joe-smith-src", "[redacted:user]"],
    [`mcp__aws-${ACCOUNT}__list`, "mcp__aws-[redacted:account]__list"],
    ["deploy-1234-5678-9012", "deploy-[redacted:account]"],
    ["C:\\Users\\joe.smith\\bin\\tool.exe", "tool.exe"],
    ["c:/users/joe.smith", "[redacted:user]"],
    ["\\\\server\\Users\\joe.smith\\tool", "tool"],
    ["/mnt/c/Users/joe.smith/tool", "tool"],
    ["/var/home/joe.smith/tool", "tool"],
    // Redacted already
    ["/home/[redacted:user]/bin/tool", "tool"],
    ["~joe.smith/bin/tool", "~[redacted:user]/bin/tool"],
    ["mcp__joe.smith@corp.example__mail_to_anna", "[redacted:email]"],
    ["agent-of-joe.smith@corp.example", "[redacted:email]"],
    // Repositories
    ["ssh://host.example:2222/~joe.smith/shop.git", "ssh://host.example:2222/~[redacted:user]/shop.git"],
    ["ssh://host.example/home/joe.smith/shop.git", "ssh://host.example/home/[redacted:user]/shop.git"],
    ["https://host.example/Users/joe.smith/shop", "https://host.example/Users/[redacted:user]/shop"],
  ])("%s", (name, expected) => {
    const result = clean(name);
    expect(result).toContain(expected);
    expect(result).not.toMatch(new RegExp(`joe|smith|anna|${ACCOUNT}|987654321|6f1d3a2b`));
    expect(clean(result)).toBe(result);
  });

  test.each([
    "claude-sonnet-4-5-20250929",
    "claude-3-5-sonnet@20240620",
    "us.anthropic.claude-sonnet-4-20250514-v1:0",
    "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-5-sonnet-20240620-v1:0",
    "accounts/fireworks/models/llama-v3p1-405b-instruct",
    "openrouter/anthropic/claude-sonnet-4",
    "/models/llama-3.gguf",
    "mcp__crm__Users_list",
    "mcp__0199a7c3-5b1e-7d20-9a4f-123456789012__search",
    "feature/home/hero",
    "release-202611281200",
    "https://github.com/acme/shop",
    "ssh://git.example/acme/shop.git",
    "/home/runner",
    "general-purpose",
  ])("%s stays", (name) => expect(clean(name)).toBe(name));

  test("users stay in names if they stay in texts", async () => {
    const { redactName } = await protectionOf({ emails: true, homeDirectories: false, rules: {} }, "/home/joe");
    expect(redactName("/home/joe/bin/tool")).toBe("/home/joe/bin/tool");
    expect(redactName(`arn:aws:bedrock:x:${ACCOUNT}:inference-profile/joe`)).toMatch(/\[redacted:account\].*\/joe$/);
  });

  test("takes time in proportion to the length of a name", () => {
    for (const unit of ["/home/a", "~a", "-Users-", "arn:aws:bedrock:", "1234-", "C:\\Users\\", "projects/1", "/a"]) {
      const startedMs = performance.now();
      clean(unit.repeat(100_000 / unit.length));
      expect(performance.now() - startedMs, unit).toBeLessThan(30_000);
    }
  });
});

describe("own prices of a model whose account number was redacted", () => {
  const rates = { input: 1, output: 2 };
  const name = (account: string): string => `arn:aws:bedrock:x:${account}:application-inference-profile/a1b2c3d4e5f6`;
  const pricesOf = (models: object): OwnPrices => {
    const parsed = parseOwnPrices(JSON.stringify({ source: "ours", models }));
    if ("problem" in parsed) throw new Error(parsed.problem);
    return parsed.prices;
  };
  test("apply, unless several accounts have such a name", () => {
    const one = pricesOf({ [name(ACCOUNT)]: rates });
    expect(ownListOf(one, clean(name(ACCOUNT)))).toBe(one.models.get(name(ACCOUNT)));
    expect(one.models.get(name(ACCOUNT))).toBeDefined();
    const two = pricesOf({ [name(ACCOUNT)]: rates, [name("210987654321")]: { input: 3, output: 4 } });
    expect(ownListOf(two, clean(name(ACCOUNT)))).toBeUndefined();
    expect(ownListOf(two, "arn:aws:[redacted:account]")).toBeUndefined();
  });
});

describe("of a whole session, no user and no account", () => {
  let replay: Replay | undefined;
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());
  afterEach(() => {
    replay?.remove();
    receiver.clear();
  });

  const FOREIGN = new RegExp(`joe\\.smith|${ACCOUNT}`);
  const planted = (text: string): string =>
    text
      .replace(/"model":"[^"]+"/g, `"model":"arn:aws:bedrock:eu-central-1:${ACCOUNT}:inference-profile/joe.smith"`)
      .replaceAll("mcp__shop", "mcp__/Users/joe.smith/shop.js");

  test("is sent or stored", async () => {
    replay = new Replay("claude-code", "mcp", { edit: planted });
    expect(JSON.stringify(replay.calls)).toMatch(FOREIGN);
    for (const call of replay.calls) replay.put(call);
    replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
    await replay.drain({ endIdle: true }, { sleep: async () => {} });
    const sent = receiver.requests.map(({ body }) => body.toString("latin1")).join("\n");
    expect(receiver.spans.length).toBeGreaterThan(3);
    expect(sent).toContain("[redacted:account]");
    expect(sent).toContain("mcp__shop.js");
    expect(sent.match(FOREIGN)).toBe(null);
    const db = openDatabase(replay.places.storePath);
    try {
      const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
      const rows = tables.flatMap(({ name }) => db.prepare(`SELECT * FROM "${name}"`).all());
      expect(JSON.stringify(rows).match(FOREIGN)).toBe(null);
    } finally {
      db.close();
    }
  });

  test("is imported", async () => {
    replay = new Replay("claude-code", "mcp", { edit: planted });
    await importInto(replay, "claude-code");
    const db = openDatabase(replay.places.storePath);
    try {
      const facts = db
        .prepare("SELECT session FROM packed")
        .all()
        .flatMap(({ session }) => packedFacts(db, Number(session)) ?? []);
      expect(JSON.stringify(facts)).toContain("[redacted:account]");
      expect(JSON.stringify(facts).match(FOREIGN)).toBe(null);
    } finally {
      db.close();
    }
  });
});
