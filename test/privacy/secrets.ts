import { createHash, randomBytes } from "node:crypto";

// Invented secrets of every family, in the issuers' formats.

const ALPHABETS = {
  hex: "0123456789abcdef",
  upper: "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
  word: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
  url: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
  base64: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
  digit: "0123456789",
} as const;

/** The same seed gives the same text. */
export function randomText(alphabet: keyof typeof ALPHABETS, length: number, seed: string): string {
  const letters = ALPHABETS[alphabet];
  let text = "";
  for (let block = 0; text.length < length; block++) {
    const bytes = createHash("sha512").update(`${seed}/${alphabet}/${length}/${block}`).digest();
    for (const byte of bytes) text += letters[byte % letters.length];
  }
  return text.slice(0, length);
}

export const newSeed = (): string => randomBytes(8).toString("hex");

/** A secret as it is written in a text; `core` is the part that must be removed. */
export interface Secret {
  readonly text: string;
  readonly core: string;
}

const whole = (text: string): Secret => ({ text, core: text });

/** One of each family, by name. */
export const FAMILIES: Readonly<Record<string, (seed: string) => Secret>> = {
  anthropic: (s) => whole(`sk-ant-api03-${randomText("url", 92, s)}AA`),
  "openai project": (s) => whole(`sk-proj-${randomText("url", 70, s)}`),
  openai: (s) => whole(`sk-${randomText("word", 20, s)}T3BlbkFJ${randomText("word", 20, `${s}b`)}`),
  "aws access key": (s) => whole(`AKIA${randomText("upper", 16, s)}`),
  "aws session key": (s) => whole(`ASIA${randomText("upper", 16, s)}`),
  "github token": (s) => whole(`ghp_${randomText("word", 36, s)}`),
  "github server token": (s) => whole(`ghs_${randomText("word", 36, s)}`),
  "github oauth": (s) => whole(`gho_${randomText("word", 36, s)}`),
  "github fine-grained": (s) => whole(`github_pat_${randomText("word", 22, s)}_${randomText("word", 59, s)}`),
  gitlab: (s) => whole(`glpat-${randomText("url", 20, s)}`),
  "slack bot": (s) =>
    whole(`xoxb-${randomText("digit", 12, s)}-${randomText("digit", 12, `${s}b`)}-${randomText("word", 24, s)}`),
  "slack app": (s) =>
    whole(`xapp-1-${randomText("upper", 11, s)}-${randomText("digit", 13, s)}-${randomText("hex", 64, s)}`),
  "slack webhook": (s) => {
    const core = `T${randomText("upper", 10, s)}/B${randomText("upper", 10, `${s}b`)}/${randomText("word", 24, s)}`;
    return { text: `https://hooks.slack.com/services/${core}`, core };
  },
  "google api key": (s) => whole(`AIza${randomText("url", 35, s)}`),
  "google oauth": (s) => whole(`ya29.${randomText("url", 60, s)}`),
  "hugging face": (s) => whole(`hf_${randomText("word", 34, s)}`),
  npm: (s) => whole(`npm_${randomText("word", 36, s)}`),
  pypi: (s) => whole(`pypi-AgEIcHlwaS5vcmc${randomText("url", 80, s)}`),
  digitalocean: (s) => whole(`dop_v1_${randomText("hex", 64, s)}`),
  sendgrid: (s) => whole(`SG.${randomText("url", 22, s)}.${randomText("url", 43, `${s}b`)}`),
  "stripe live": (s) => whole(`sk_live_${randomText("word", 24, s)}`),
  "stripe restricted": (s) => whole(`rk_live_${randomText("word", 24, s)}`),
  jwt: (s) => {
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    return whole(`${part({ alg: "HS256", typ: "JWT" })}.${part({ sub: s, iat: 1 })}.${randomText("url", 43, s)}`);
  },
  "url with password": (s) => {
    const core = randomText("word", 14, s);
    return { text: `postgres://app:${core}@db.example.com:5432/shop`, core };
  },
  "bearer header": (s) => {
    const core = randomText("url", 40, s);
    return { text: `Authorization: Bearer ${core}`, core };
  },
  "basic header": (s) => {
    const core = Buffer.from(`app:${randomText("word", 16, s)}`).toString("base64");
    return { text: `authorization: Basic ${core}`, core };
  },
  "password assignment": (s) => {
    const core = randomText("word", 12, s);
    return { text: `DB_PASSWORD=${core}`, core };
  },
  "secret assignment": (s) => {
    const core = randomText("word", 24, s);
    return { text: `client_secret: ${core}`, core };
  },
  "token assignment": (s) => {
    const core = randomText("url", 24, s).replace(/^-/, "a");
    return { text: `access_token=${core}`, core };
  },
  "key assignment": (s) => {
    const core = randomText("word", 32, s);
    return { text: `api_key=${core}`, core };
  },
  "aws secret key": (s) => {
    const core = randomText("word", 40, s);
    return { text: `aws_secret_access_key = ${core}`, core };
  },
  "command option": (s) => {
    const core = randomText("word", 16, s);
    return { text: `login --password ${core}`, core };
  },
  "curl user": (s) => {
    const core = randomText("word", 16, s);
    return { text: `curl -u admin:${core} https://shop.example.com/`, core };
  },
  "private key": (s) => {
    const lines = Array.from({ length: 5 }, (_, i) => randomText("base64", 64, `${s}${i}`));
    const text = `-----BEGIN RSA PRIVATE KEY-----\n${lines.join("\n")}\n-----END RSA PRIVATE KEY-----`;
    return { text, core: lines[2] ?? "" };
  },
  "encrypted private key": (s) => {
    const lines = Array.from({ length: 4 }, (_, i) => randomText("base64", 64, `${s}${i}`));
    const head = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\n";
    const text = `-----BEGIN EC PRIVATE KEY-----\n${head}${lines.join("\n")}\n-----END EC PRIVATE KEY-----`;
    return { text, core: lines[1] ?? "" };
  },
};

/** Complete texts that contain a secret. */
export const SETTINGS_OF_A_SECRET: Readonly<Record<string, (secret: string) => string>> = {
  alone: (s) => s,
  prose: (s) => `Please use ${s} for the next call, and nothing else.`,
  quoted: (s) => `the value is "${s}", I think`,
  lines: (s) => `first line\n${s}\nlast line`,
  json: (s) => JSON.stringify({ note: `see ${s} here`, n: 1 }),
  "json in json": (s) => JSON.stringify({ body: JSON.stringify({ note: `see ${s} here` }) }),
  "json in json in json": (s) => JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ note: `x ${s} y` }) }) }),
  shell: (s) => `set -e; echo '${s}' | tee out.txt`,
  "percent-encoded": (s) => `https://shop.example.com/?q=${encodeURIComponent(`x ${s} y`)}&page=2`,
  base64: (s) => `data:text/plain;base64,${Buffer.from(`head ${s} tail`).toString("base64")}`,
  "unicode escapes": (s) =>
    `"${[...s].map((c, i) => (i % 3 === 0 ? `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}` : JSON.stringify(c).slice(1, -1))).join("")}"`,
  "escaped slashes": (s) => `{"v":"x ${JSON.stringify(s).slice(1, -1).replaceAll("/", "\\/")} y"}`,
  xml: (s) => `<note>\n  ${s}\n</note>`,
  markdown: (s) => `- item\n- \`${s}\`\n`,
};

/** Beginnings of matches, to be repeated, so that a rule starts everywhere and never matches. */
export const ADVERSARIES: Readonly<Record<string, string>> = {
  "token beginnings": "eyJ",
  "token beginnings apart": "-eyJ.",
  "key beginnings": "sk-",
  addresses: "://a:",
  names: "password",
  "assignments of nothing": "password=",
  "open quotes": "secret='",
  options: "--a-",
  "curl without end": "curl -u ",
  "mysql without end": "mysql ",
  "mail without end": "a@",
  "dots and mail": "@a.",
  "pem beginnings": "-----BEGIN ",
  "pem without end": "-----BEGIN PRIVATE KEY-----",
  percent: "%41",
  escapes: "\\u0041",
  backslashes: "\\",
  base64: "QUFB",
  homes: "/home/",
  tags: "<a",
  spaces: " ",
  letters: "a",
};
