import { describe, expect, test } from "vitest";
import { MAX_SCANNED, redact, redactorOf } from "#core/privacy/redact.ts";
import { truncateContent } from "#store/capture/content.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";
import { FAMILIES, newSeed, randomText, SETTINGS_OF_A_SECRET } from "./secrets.ts";

const seed = newSeed();

describe("a secret is removed in any context", () => {
  test.each(Object.keys(FAMILIES))("%s", (family) => {
    const left: string[] = [];
    for (let i = 0; i < 5; i++) {
      const secret = FAMILIES[family]?.(`${seed}/${i}`);
      if (secret === undefined) throw new Error(family);
      for (const [name, settingOf] of Object.entries(SETTINGS_OF_A_SECRET)) {
        const text = settingOf(secret.text);
        const clean = redact(text);
        if (isLeft(clean, secret.core)) left.push(`${name} (seed ${seed}/${i}): ${text} → ${clean}`);
      }
    }
    expect(left).toEqual([]);
  });

  test.each(Object.keys(FAMILIES))("between arbitrary texts: %s", (family) => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string({ minLength: 1 }), (before, after, own) => {
        const secret = FAMILIES[family]?.(own);
        if (secret === undefined) throw new Error(family);
        const clean = redact(`${before} ${secret.text} ${after}`);
        expect(isLeft(clean, secret.core)).toBe(false);
      }),
      { numRuns: runs(40) },
    );
  });
});

describe("redaction is idempotent", () => {
  test("for secrets in any context", () => {
    for (const familyOf of Object.values(FAMILIES)) {
      for (const settingOf of Object.values(SETTINGS_OF_A_SECRET)) {
        const once = redact(settingOf(familyOf(seed).text));
        expect(redact(once)).toBe(once);
      }
    }
  });

  test("for any text", () => {
    const word = fc.constantFrom(
      ...'password secret token key = : " \' \\ \\" [redacted:password] [redacted:token] // :// @ % %3D -----BEGIN PRIVATE KEY----- eyJ sk- . bearer'.split(
        " ",
      ),
    );
    const text = fc
      .array(fc.oneof(word, fc.string({ maxLength: 12 })), { maxLength: 12 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (any) => {
        const once = redact(any);
        expect(redact(once)).toBe(once);
      }),
      { numRuns: runs(3_000) },
    );
  });
});

/** Placeholders for secrets of letters, digits or hexadecimal digits. */
const [WORD, HEX, UUID] = [
  randomText("word", 60, seed),
  randomText("hex", 64, seed),
  `6f1d3a2b-1111-4222-8333-${randomText("hex", 12, seed)}`,
];

test("a text and what it became are searched once", () => {
  let searches = 0;
  const counted = redactorOf({
    own: [
      {
        id: "own",
        find() {
          searches++;
          return [];
        },
      },
    ],
  });
  const text = `${"word ".repeat(1_000)}/home/somebody/x`;
  const clean = counted(text);
  expect(clean).not.toBe(text);
  const before = searches;
  expect([counted(text), counted(clean)]).toEqual([clean, clean]);
  expect(searches).toBe(before);
  // Far more than is remembered, and the results stay right
  for (let i = 0; i < 10; i++) counted(`${i} /home/somebody/${"y".repeat(MAX_SCANNED - 100)}`);
  expect(counted(text)).toBe(clean);
  expect(searches).toBeGreaterThan(before + 10);
});

describe("secrets in common notations", () => {
  test.each([
    ["in a list of arguments", `["login", "--password", "${WORD}"]`, WORD],
    ["in such a list, in a text", JSON.stringify({ a: `["--api-key","${WORD}"]` }), WORD],
    ["on the next line of a command", `login --password \\\n  ${WORD}`, WORD],
    ["for docker", `docker login -u me -p ${WORD} ghcr.io`, WORD],
    ["for az", `az login --service-principal -u x -p ${WORD} --tenant y`, WORD],
    ["for redis", `redis-cli -h cache -a ${WORD} ping`, WORD],
    ["for mongo", `mongosh -u admin -p ${WORD} --quiet`, WORD],
    ["for openssl", `openssl rsa -in k.pem -passin pass:${WORD}`, WORD],
    ["for sudo", `echo ${WORD} | sudo -S apt update`, WORD],
    ["for gh", `gh secret set DEPLOY --body "${WORD}"`, WORD],
    ["for kubectl", `kubectl create secret generic x --from-literal=any=${WORD}`, WORD],
    ["for aws", `aws configure set aws_secret_access_key ${WORD}`, WORD],
    ["for npm", `npm config set //registry.example.org/:_authToken ${WORD}`, WORD],
    ["for curl, without a space", `curl -uadmin:${WORD} https://ci.example.org`, WORD],
    ["as curl's cookie", `curl -b "session=${WORD}" https://shop.example.org`, WORD],
    ["as headers of an exporter", `OTEL_EXPORTER_OTLP_HEADERS=x-honeycomb-team=${WORD}`, WORD],
    ["with a scheme of its own", `Authorization: GenieKey ${UUID}`, UUID],
    ["behind a type", `const apiKey: string = "${WORD}";`, WORD],
    ["behind a type of Rust", `let token: &'static str = "${WORD}";`, WORD],
    ["in PHP", `define('DB_PASSWORD', '${WORD}');`, WORD],
    ["for an image", `ENV API_TOKEN ${WORD}`, WORD],
    ["for fish", `set -gx GITHUB_TOKEN ${WORD}`, WORD],
    ["as a name and a value", `- name: DB_PASSWORD\n  value: "${WORD}"\n`, WORD],
    ["as a value and a name", `{"value":"${WORD}","name":"API_TOKEN"}`, WORD],
    ["in a block of YAML", `password: |\n  ${WORD}\n`, WORD],
    ["in .netrc", `machine api.example.org\n  login me\n  password ${WORD}\n`, WORD],
    ["in docker's settings", `{"auths":{"ghcr.io":{"auth":"${WORD}"}}}`, WORD],
    ["with an @ in a URL", `postgres://app:ab@${WORD}@db/shop`, WORD],
    ["as an element with a name", `<Property name="password">${WORD}</Property>`, WORD],
    ["as a string of Android", `<string name="api_key" translatable="false">${WORD}</string>`, WORD],
    ["as a field of a form", `curl -d "user=u&pass=${WORD}" https://h.example.org`, WORD],
    ["for htpasswd, to the terminal", `htpasswd -nbB bob ${WORD}`, WORD],
    ["for docker, from a here-string", `docker login -u me --password-stdin <<< "${WORD}"`, WORD],
    ["for a share of Windows", `net use z: \\\\host\\share ${WORD} /user:me`, WORD],
    ["to an agent", `the password is ${WORD.slice(0, 8)}7, please try`, WORD.slice(0, 8)],
    ["in Spanish", `contraseña=${WORD}`, WORD],
    ["with letters that equal others if case is ignored", `PA\u017F\u017FWORD=${WORD}`, WORD],
    ["in such an option", `deploy --\u017Fecret ${WORD} --api-\u212Aey ${WORD}`, WORD],
    ["of Doppler", `dp.st.prd.${WORD.slice(0, 43)}`, WORD.slice(0, 43)],
    ["of Tailscale", `tskey-auth-kAbC-${WORD.slice(0, 32)}`, WORD.slice(0, 32)],
    ["of Pulumi", `pul-${HEX.slice(0, 40)}`, HEX.slice(0, 40)],
    ["of Sonar", `sqp_${HEX.slice(0, 40)}`, HEX.slice(0, 40)],
    ["of HubSpot", `pat-na1-${UUID}`, UUID],
    ["of Bedrock", `ABSK${WORD}${WORD}`, WORD],
    ["of Supabase", `sb_secret_${WORD.slice(0, 31)}`, WORD.slice(0, 31)],
    [
      "of a channel of Teams",
      `https://x.webhook.office.com/webhookb2/${UUID}@${UUID}/IncomingWebhook/${HEX}/${UUID}`,
      HEX,
    ],
  ])("%s", (_, text, core) => {
    expect(redact(text)).not.toContain(core);
    expect(redact(JSON.stringify({ note: text }))).not.toContain(core);
    const kept = truncateContent({ a: text, list: [text, "beside"], z: "behind" }, { maxBytes: 100_000, redact });
    expect(JSON.parse(kept?.text ?? "")).toMatchObject({
      list: [expect.not.stringContaining(core), "beside"],
      z: "behind",
    });
  });
});

describe("other texts stay unchanged, byte for byte", () => {
  test.each([
    ["a commit", `fixed in ${randomText("hex", 40, seed)}, see also ${randomText("hex", 7, seed)}`],
    ["a digest", `sha256:${randomText("hex", 64, seed)} and sha512-${randomText("base64", 86, seed)}==`],
    ["a uuid", "0199a7c3-5b1e-7d20-9a4f-1d2c3b4a5f60"],
    [
      "ids of agents",
      "toolu_01A09q90qw90lq917835lq9u msg_01XFDUDYJgAACzvnptvVoYEL req_011CSHoEeqs5C35K2UUqR7Fy call_abc123DEF456 chatcmpl-9aBcDeFgHiJkLmNoPqRs",
    ],
    [
      "names of attributes",
      "gen_ai.usage.input_tokens=12 gen_ai.usage.cache_read.input_tokens: 7 openhook.token.type=input gen_ai.token.modality",
    ],
    ["counts", '{"input_tokens":12,"output_tokens":3,"max_tokens":4096,"token_count":5,"tokens":["a","b"]}'],
    [
      "names of things",
      "gpt-5-codex claude-sonnet-4-5-20250929 gemini-2.5-pro mcp__shop__lookup_price execute_tool Bash git",
    ],
    [
      "TypeScript",
      "export function tokenOf(user: User): string | undefined {\n  const token = user.token;\n  return token === undefined ? undefined : token.slice(1);\n}",
    ],
    ["a type", "interface Login { readonly password: string; secret?: string; token: string | null; apiKey: string }"],
    [
      "references",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: text of a shell and a workflow
      "password: process.env.DB_PASSWORD, token=${TOKEN} secret: ${{ secrets.DEPLOY }} PASSWORD=$DB_PASSWORD",
    ],
    ["Python", "def login(password: str, token: Optional[str] = None):\n    return get_token(password)"],
    ["a comparison", "if (password === confirmation && token !== previous) return;"],
    [
      "prose",
      "The secret of the trick is a key that opens the door; tokens were counted, and the password was changed.",
    ],
    ["the shell's folder", "PWD=/srv/app OLDPWD=/srv cd /srv && pwd"],
    [
      "addresses",
      "https://shop.example.com:8443/a/b?page=2&sort=asc#top http://localhost:3000/@vite/client ssh://github.com/acme/shop",
    ],
    ["a remote", "git@github.com:acme/shop.git icon@2x.png lodash@4.17.21 @scope/name@1.2.3"],
    ["words with prefixes", "task-list risk-free disk-usage desk-mounted sk-SK pypi-like npm_config_cache hf_hub"],
    ["German", "Das Schlüsselwort heißt token, und das Geheimnis bleibt eines."],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of a shell and a workflow
    ["placeholders", "password=*** token=<your token> secret=xxxx api_key=${API_KEY}"],
    [
      "public keys",
      `-----BEGIN CERTIFICATE-----\n${randomText("base64", 64, seed)}\n-----END CERTIFICATE-----\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${randomText("base64", 43, seed)} me`,
    ],
    [
      "code around a secret",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: text of a program
      'print("Password: " + input); headers = { Authorization: `Bearer ${token}` }; const secret = crypto.randomBytes(32)',
    ],
    ["a header with a variable", 'curl -H "Authorization: Bearer $TOKEN" https://shop.example.org'],
    ["where a key lies", "client-key: /etc/kubernetes/pki/apiserver.key"],
    [
      "ports and paths",
      "docker run -p 8080:80 nginx; mkdir -p a/b; ssh -p 2222 shop; docker compose -p shop up; zip -r a.zip b",
    ],
    [
      "what is said of secrets",
      "the password is wrong, the secret is out, the api key is missing; authorization: these credentials may not write",
    ],
    [
      "names and values",
      '[{"name":"max_tokens","value":"4096"},{"name":"PORT","value":"8080"}]\nENV NODE_ENV production',
    ],
    ["nothing", ""],
  ])("%s", (_, text) => {
    expect(redact(text)).toBe(text);
  });

  test("all of our ids", () => {
    fc.assert(
      fc.property(
        fc.uuid(),
        fc.stringMatching(/^[0-9a-f]{32}$/),
        fc.stringMatching(/^[0-9a-f]{16}$/),
        (uuid, trace, span) => {
          for (const id of [uuid, trace, span]) expect(redact(id)).toBe(id);
        },
      ),
      { numRuns: runs(500) },
    );
  });
});

describe("the user's name and address", () => {
  const text = "jane.doe@example.com works in /home/jane/src, /Users/jane and C:\\Users\\jane\\src";

  test("are redacted", () => {
    expect(redact(text)).toBe(
      "[redacted:email] works in /home/[redacted:user]/src, /Users/[redacted:user] and C:\\Users\\[redacted:user]\\src",
    );
  });

  test("are kept if configured", () => {
    expect(redactorOf({ emails: false })(text)).toContain("jane.doe@example.com");
    expect(redactorOf({ homeDirectories: false })(text)).toContain("/home/jane/src");
    expect(redactorOf({ emails: false, homeDirectories: false })(text)).toBe(text);
  });

  test("are redacted in home folders at other places; other paths stay", () => {
    const clean = redactorOf({ home: "/data/people/jane" });
    expect(clean("see /data/people/jane/notes")).toBe("see [redacted:home]/notes");
    expect(clean("/data/people/janet /root/x")).toBe("/data/people/janet /root/x");
  });
});

describe("the surrounding text stays", () => {
  test.each([
    ['{"password":"hun\\"ter2","a":1}', '{"password":"[redacted:password]","a":1}'],
    ["export DB_PASSWORD='correct horse battery' && run", "export DB_PASSWORD='[redacted:password]' && run"],
    ["Authorization: Bearer abcdefghijklmnop0", "Authorization: Bearer [redacted:authorization]"],
    ["mysql://app:s3cret@db/shop", "mysql://app:[redacted:url-password]@db/shop"],
    ["a\n-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\nb", "a\n[redacted:private-key]\nb"],
    [`x AKIA${"Q".repeat(16)} y`, "x [redacted:aws-key] y"],
  ])("%s", (text, expected) => expect(redact(text)).toBe(expected));

  test("in triple-nested JSON with escaped letters", () => {
    const key = `\\u0041KI\\u0041${"Q".repeat(16)}`;
    const once = `{"v":"${key}"}`;
    for (const text of [once, JSON.stringify(once), JSON.stringify({ a: JSON.stringify(once) })]) {
      expect(redact(text)).toContain("[redacted:aws-key]");
      expect(redact(text)).not.toContain("QQQQ");
    }
  });

  describe("in every form that programs print", () => {
    const seed = newSeed();
    const key = `ghp_${randomText("word", 36, seed)}`;
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const wrapped = (text: string, width = 76): string =>
      base64(text).replace(new RegExp(`(.{${width}})`, "g"), "$1\n");
    const each = (form: (code: number) => string): string => [...key].map((c) => form(c.charCodeAt(0))).join("");
    const forms: readonly (readonly [string, string])[] = [
      ...Array.from({ length: 60 }, (_, n): readonly [string, string] => [
        `base64 in lines, at ${n}`,
        wrapped(`${"y".repeat(n)} ${key} ${"z".repeat(80)}`, n % 2 === 0 ? 76 : 64),
      ]),
      ["base64 in lines in JSON", JSON.stringify({ out: wrapped(`# settings of the service\nTOKEN=${key}\nOTHER=1`) })],
      ["base64 behind a path", `https://h.example/x/${base64(`token ${key}`)}`],
      ["base64 behind a name", `data-${base64(`token ${key}`)}`],
      ["base64 of base64", base64(base64(`token ${key}`))],
      ["base64 in JSON in base64", base64(JSON.stringify({ a: base64(`t ${key}`) }))],
      ["base64 of UTF-16", `powershell -enc ${Buffer.from(`$t="${key}"`, "utf16le").toString("base64")}`],
      ["UTF-16", Buffer.from(`t=${key}`, "utf16le").toString("latin1")],
      ["hexadecimal digits", Buffer.from(key).toString("hex")],
      ["hexadecimal digits behind a digit", `a${Buffer.from(`key: ${key}`).toString("hex")}`],
      ["\\x escapes", each((code) => `\\x${code.toString(16)}`)],
      ["octal escapes", each((code) => `\\${code.toString(8).padStart(3, "0")}`)],
      ["\\u{} escapes", each((code) => `\\u{${code.toString(16)}}`)],
      ["entities", each((code) => `&#${code};`)],
      ["hexadecimal entities", each((code) => `&#x${code.toString(16)};`)],
      ["colours of a terminal", `\u001b[01;31m\u001b[Kghp_\u001b[m\u001b[K${key.slice(4)}`],
      ["colours in JSON", JSON.stringify(`\u001b[1mghp_\u001b[0m${key.slice(4)}`)],
      ["zero-width characters", `${key.slice(0, 10)}\u200b${key.slice(10)}`],
      ["marks of direction", `${key.slice(0, 10)}\u202a${key.slice(10)}\u2069`],
      ["a line that continues", `${key.slice(0, 20)}\\\n${key.slice(20)}`],
    ];
    test.each(forms)("%s", (_, text) => {
      const clean = redact(`before ${text} after`);
      expect(clean).toContain("[redacted:");
      // No piece in any encoding: a few letters of the text around it can be left
      expect(clean.replaceAll(/\[redacted:[a-z-]+\]/g, "").length).toBeLessThan(text.length - key.length / 2);
      expect(isLeft(clean, key)).toBe(false);
      expect(redact(clean)).toBe(clean);
    });

    test("in an encoding that begins behind other digits, whatever the key", () => {
      for (let n = 0; n < 400; n++) {
        const text = `token ghp_${randomText("word", 36, `behind ${n}`)}`;
        const hex = Buffer.from(text).toString("hex");
        for (const encoded of [`data-${base64(text)}`, `a/b/${base64(text)}`, `a${hex}`])
          expect(redact(encoded), encoded).toContain("[redacted:github-token]");
      }
    });

    test.each([
      ["hashes", Array.from({ length: 500 }, (_, n) => randomText("hex", 64, `${seed}${n}`)).join("\n")],
      ["coloured words", "\u001b[32mpassed\u001b[0m \u001b[31m12 failed\u001b[0m"],
      ["a path over two lines", "src/components/navigation/sidebar\nsrc/components/navigation/header"],
    ])("%s stay", (_, text) => expect(redact(text)).toBe(text));

    // By chance, one in six million random characters begins what looks like a short token of some vendor
    test("random base64 stays", () => {
      const found = redact(randomText("base64", 100_000, seed)).split("[redacted:").length - 1;
      expect(found).toBeLessThanOrEqual(1);
    });
  });

  describe("credentials without a sign between name and value", () => {
    const p = `Zz9${randomText("word", 11, newSeed())}`;
    test.each([
      // The only digit is among the first three characters, or is the last character
      "das Passwort lautet Zz9zZbgnvzHFUC",
      "the password is Zz9zZbgnvzHFUC",
      "the password is Zz9zZbgnvzHFUC9",
      `localhost:5432:db:user:${p}`,
      `*:*:*:postgres:${p}`,
      `client-key-data: ${p}==`,
      `AKIAABCDEFGHIJKLMNOP,${p}ABCDEFGHIJKLMNOPQRSTUVWXYZ+/`,
      `[mail]\npass = ${p}\n`,
      `bindpw ${p}`,
      `userPassword:: ${Buffer.from(p).toString("base64")}`,
      `setPassword("${p}")`,
      `CREATE USER x IDENTIFIED BY '${p}'`,
      `CREATE USER x IDENTIFIED WITH mysql_native_password BY '${p}'`,
      `ALTER ROLE x WITH PASSWORD '${p}'`,
      `SET PASSWORD FOR x = PASSWORD('${p}')`,
      `use the password ${p} to log in`,
      `das Passwort lautet ${p}`,
      `Key         Value\n---         -----\npassword    ${p}`,
      `|  SecretAccessKey |  ${p}abcdefghijklmnopqrstuvwxyz  |`,
      ` id | password \n----+----------\n  1 | ${p}\n(1 row)`,
      `+----+----------+\n| id | password |\n+----+----------+\n|  1 | ${p} |\n+----+----------+`,
      `| user | api_key |\n| --- | --- |\n| dev | ${p} |`,
      `user,password,mail\ndev,${p},x\nops,"${p}",y`,
      `openssl enc -aes-256-cbc -k ${p} -in f`,
      `expect "Password:" { send "${p}\\r" }`,
      `echo "root:${p}" | chpasswd`,
      `smbclient //h/s -U user%${p}`,
      `rclone obscure ${p}`,
    ])("%s", (text) => {
      const clean = redact(text);
      expect(clean).not.toContain("Zz9zZbgn");
      expect(clean).not.toContain(p.slice(0, 8));
      expect(clean).not.toContain(Buffer.from(p).toString("base64").slice(0, 12));
      expect(redact(clean)).toBe(clean);
    });

    test.each([
      "main.c:1200:10:error:undeclared",
      "main.c:120:10: error: expected ';'",
      "the password field is required",
      "use the password reset form",
      "SELECT id, password\nFROM users, roles",
      "name      token     age\nsession   opaque    12d",
      "| token | count |\n| --- | --- |\n| a | b |",
      "pass = true",
      "secret    Opaque    1      5d",
      'send "hello"',
    ])("%s: stays", (text) => expect(redact(text)).toBe(text));
  });

  test("a long text is cut after the part that was searched for secrets", () => {
    const clean = redact(`${"word ".repeat(MAX_SCANNED / 5)} AKIA${"Q".repeat(16)}`);
    expect(clean.length).toBeLessThan(MAX_SCANNED + 100);
    expect(clean.slice(-60)).toMatch(/word\s?… \[cut: \d+ characters\]$/);
    const glued = redact(`${"word ".repeat((MAX_SCANNED - 10) / 5)}AKIA${"Q".repeat(16)}${"z".repeat(100)}`);
    expect(glued.includes("AKIA")).toBe(false);
    expect(redact(clean) === clean).toBe(true);
  });
});

// --- internal ---

/** The whole secret or a large part, literal or unescaped. */
function isLeft(clean: string, core: string): boolean {
  const piece = core.slice(0, Math.max(8, Math.floor(core.length / 2)));
  const undone = clean
    .replace(/\\u([0-9a-f]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll("\\", "");
  const decoded = [...clean.matchAll(/[A-Za-z0-9+/]{16,}={0,2}/g)].map(([run]) =>
    Buffer.from(run, "base64").toString("latin1"),
  );
  let unescaped = clean;
  try {
    unescaped = decodeURIComponent(clean);
  } catch {
    // A percent sign that is not an escape
  }
  return [clean, undone, unescaped, ...decoded].some(
    (text) => text.includes(piece) || text.includes(core.slice(-piece.length)),
  );
}
