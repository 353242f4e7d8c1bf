// An independent check: generated texts full of secrets are redacted, then searched by secretlint.
import { generateKeyPairSync } from "node:crypto";
import { lintSource } from "@secretlint/core";
import { creator } from "@secretlint/secretlint-rule-preset-recommend";
import { expect, test } from "vitest";
import { redact } from "#core/privacy/redact.ts";
import { FAMILIES, newSeed, randomText, SETTINGS_OF_A_SECRET } from "./secrets.ts";

const seed = newSeed();

/** Secrets that secretlint knows besides our families, by its rule; it finds each of them before redaction. */
const ITS_OWN: Readonly<Record<string, string>> = {
  aws: `AWS_SECRET_ACCESS_KEY = "${randomText("base64", 39, seed)}k"\naws_account_id = "123456789012"`,
  slack: `xoxb-${randomText("digit", 12, seed)}-${randomText("digit", 12, seed)}-${randomText("word", 24, seed)}`,
  basicauth: `https://user:${randomText("word", 12, seed)}@example.org/`,
  npm: `//registry.example.org/:_authToken=npm_${randomText("word", 36, seed)}`,
  github: `ghu_${randomText("word", 36, seed)}`,
  // A real, fresh key, because secretlint checks its numbers
  privatekey: generateKeyPairSync("ec", { namedCurve: "secp384r1" })
    .privateKey.export({ type: "sec1", format: "pem" })
    .toString(),
  anthropic: `sk-ant-api0${1}-${randomText("url", 93, seed)}AA`,
  openai: `sk-${randomText("word", 20, seed)}T3BlbkFJ${randomText("word", 20, `${seed}2`)}`,
  shopify: `shpat_${randomText("hex", 32, seed)}`,
  linear: `lin_api_${randomText("word", 40, seed)}`,
  sendgrid: `SG.${randomText("word", 22, seed)}.${randomText("word", 43, seed)}`,
  "github by url": `https://${randomText("hex", 40, seed)}:x-oauth-basic@github.com/acme/shop.git`,
  databricks: `dapi${randomText("hex", 32, seed)}`,
  docker: `dckr_pat_${randomText("word", 27, seed)}`,
  figma: `figd_${randomText("word", 43, seed)}`,
  "gitlab token": `glpat-${randomText("word", 20, seed)}`,
  grafana: `glsa_${randomText("word", 32, seed)}_${randomText("hex", 8, seed)}`,
  groq: `gsk_${randomText("word", 52, seed)}`,
  "hashicorp-vault": `hvs.${randomText("word", 95, seed)}`,
  huggingface: `hf_${randomText("word", 60, seed).replace(/[0-9]/g, "x").slice(0, 34)}`,
  notion: `ntn_${randomText("digit", 11, seed)}${randomText("word", 35, seed)}`,
  vercel: `vcp_${randomText("word", 24, seed)}`,
  "behind a digit": `x1ghp_${randomText("word", 36, seed)}`,
  mysql: `mysql://app:${randomText("word", 12, seed)}@db.example.org/shop`,
  database: `mongodb://app:${randomText("word", 12, seed)}@mongo.example.org:27017/shop`,
};

const found = async (content: string): Promise<readonly string[]> => {
  const { messages } = await lintSource({
    source: { filePath: "/text.txt", content, contentType: "text" },
    options: { config: { rules: [{ id: "preset", rule: creator }] }, noPhysicFilePath: true },
  });
  return messages.map(({ ruleId, message }) => `${ruleId}: ${message}`);
};

/** One text with all families per setting, because starting secretlint costs more than reading. */
const texts = Object.entries(SETTINGS_OF_A_SECRET).map(([name, settingOf]): readonly [string, readonly string[]] => [
  name,
  [0, 1, 2].flatMap((i) => Object.values(FAMILIES).map((familyOf) => settingOf(familyOf(`${seed}/${i}`).text))),
]);

/** Texts that secretlint reports and our rules keep, each with the reason. */
const LEFT: Readonly<Record<string, string>> = {
  "npm's own variables have this form: npm_package_devDependencies_… is a name": `npm_${"config_".repeat(5)}x`,
  "two short words behind xoxb are no token": "xoxb-a-b",
};

test.each(Object.entries(LEFT))("our rules keep: %s", async (_, text) => {
  expect(await found(text)).not.toEqual([]);
  expect(redact(text)).toBe(text);
});

test.each(texts)("secretlint finds nothing after redaction: %s", async (_, parts) => {
  // Redact each separately, as the program does. If all of them together are clean, each is
  const clean = parts.map(redact);
  expect(await found(clean.join("\n"))).toEqual([]);
});

test("secretlint finds many of the secrets before redaction", async () => {
  const before = await Promise.all(texts.map(([, parts]) => found(parts.join("\n"))));
  expect(before.flat().length).toBeGreaterThan(300);
});

test.each(Object.entries(ITS_OWN))("nothing remains that its rule %s finds", async (_, text) => {
  expect(await found(redact(text))).toEqual([]);
});

test.each(Object.entries(ITS_OWN))("its rule %s finds the text made for it", async (_, text) => {
  expect(await found(text)).not.toEqual([]);
});
