import { afterAll, describe, expect, test } from "vitest";
import { compareBoth, MadeFiles } from "../../support/at-once.ts";
import { BROKEN, COMMANDS, type MadeFile, PROMPTS, RESULTS, SIGNS } from "../../support/claude-lines.ts";

const made = new MadeFiles();
afterAll(() => made.remove());

const SESSION = '"version":"2.1.329","cwd":"/home/dev/shop","gitBranch":"main"';
/** One line; what is given last counts. */
const line = (second: number, rest: string): string =>
  `{"uuid":"u${second}","timestamp":"2026-11-21T10:00:${String(second).padStart(2, "0")}.000Z",${SESSION},${rest}}`;
const prompt = (second: number, text: string, rest = ""): string =>
  line(second, `"type":"user","message":{"role":"user","content":${text}}${rest}`);
const answer = (second: number, id: string, rest = "", block = '{"type":"text","text":"done"}'): string =>
  line(
    second,
    `"type":"assistant","message":{"id":"${/^m\d+$/.test(id) ? `msg_${id}Ab3dEf6hIj` : id}","model":"claude-sonnet-4-5-20250929","content":[${block}],` +
      `"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":${second}}}${rest}`,
  );
/** Its stream may have broken off: nothing is told of its reason. */
const doubtful = (second: number, id: string, blocks: string, version = "2.1.329"): string =>
  answer(second, id, `,"version":"${version}"`, blocks).replace('"output_tokens"', '"iterations":[],"output_tokens"');
const result = (second: number, block: string, rest = ""): string =>
  line(second, `"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1"${block}}]}${rest}`);
const file = (...lines: readonly string[]): readonly MadeFile[] => [{ bytes: Buffer.from(`${lines.join("\n")}\n`) }];

/** The first line of all tells of the session, and is read the long way. */
const FIRST = line(0, '"type":"user","isMeta":true,"message":{"content":"noted"}');

/** Whether it is read at once does not matter here: only that nobody can tell. */
const CASES: Readonly<Record<string, readonly string[]>> = {
  "a kind of block that is written with escapes": [
    prompt(1, '"x"'),
    answer(2, "m1", "", '{"type":"tool\\u005fuse","id":"t1","name":"Read"}'),
    line(3, '"type":"user","message":{"content":[{"type":"tool_resul\\u0074","tool_use_id":"t1","content":"ok"}]}'),
  ],
  "a text of a block that is told twice": [
    prompt(1, '"x"'),
    result(2, ',"content":[{"type":"text","text":"ok","text":"[Tool use interrupted]"}]'),
  ],
  "a text of a block that is told twice, the other way round": [
    prompt(1, '"x"'),
    result(2, ',"content":[{"text":"[Tool use interrupted]","text":null},{"text":"ok"}]'),
  ],
  "one request that two answers name, with the same figures and with others": [
    prompt(1, '"x"'),
    answer(2, "m1", ',"requestId":"req_1"'),
    answer(2, "m2", ',"requestId":"req_1"'),
    answer(4, "m3", ',"requestId":"req_1"'),
    answer(5, "m4", ',"requestId":"req_2"'),
  ],
  "one request that two answers name, around lines that are read the long way": [
    prompt(1, '"x"'),
    answer(2, "m1", ',"requestId":"req_1"'),
    line(2, '"type":"system","subtype":"turn_duration"'),
    answer(2, "m2", ',"requestId":"req_1"'),
    answer(3, "m3", ',"requestId":"req_2"').replace('{"type":"text"', '{"type":"tool_use","id":"t1"},{"type":"text"'),
    answer(3, "m4", ',"requestId":"req_2"'),
    answer(3, "m3", ',"requestId":"req_2"'),
  ],
  "one request that two answers name, of which nobody told the figures": [
    prompt(1, '"x"'),
    ...["m1", "m2"].map((id) =>
      answer(2, id, ',"requestId":"req_1"').replace(
        /"usage":\{[^}]*\}/,
        '"usage":{"input_tokens":0,"output_tokens":0}',
      ),
    ),
    answer(3, "m3", ',"requestId":"req_1"'),
  ],
  "usage that nobody told, at first or at all, and reasoning beside the output": [
    prompt(1, '"x"'),
    ...[0, 3].map((tokens) =>
      answer(2, "m1").replace(
        '"input_tokens":3,"output_tokens":2',
        `"input_tokens":${tokens},"output_tokens":${tokens}`,
      ),
    ),
    answer(3, "m2").replace('"input_tokens":3,"output_tokens":3', '"input_tokens":0,"output_tokens":0'),
    answer(4, "m3").replace('"output_tokens":4', '"output_tokens":4,"output_tokens_details":{"thinking_tokens":9}'),
  ],
  "answers whose stream may have broken off, of one block and of several": [
    prompt(1, '"x"'),
    doubtful(2, "m1", '{"type":"text","text":"ok"}'),
    doubtful(3, "m2", '{"type":"text","text":"ok"},{"type":"text","text":"done"}'),
    doubtful(4, "m3", '{"type":"text","text":"ok"},null,"ok"'),
    doubtful(5, "m4", ""),
    answer(6, "m5", ',"version":"2.1.329"'),
  ],
  "a command that the model called for, and one that was typed": [
    prompt(1, '"x"'),
    result(2, ',"content":"Launching command: /review"', ',"toolUseResult":{"success":true,"commandName":"review"}'),
    prompt(
      3,
      '"<command-message>review</command-message>\\n<command-name>/review</command-name>"',
      ',"parentUuid":"u2"',
    ),
    prompt(4, '"Review it"', ',"parentUuid":"u3","isMeta":true'),
    prompt(
      5,
      '"<command-message>review</command-message>\\n<command-name>/review</command-name>"',
      ',"parentUuid":"u4"',
    ),
    answer(6, "m1"),
  ],
  "copies with ids of their own": [
    prompt(1, '"x"', ',"forkedFrom":{"sessionId":"s","messageUuid":"u0"}'),
    answer(2, "m1", ',"forkedFrom":{"sessionId":"s","messageUuid":"u1"}'),
    prompt(3, '"x"', ',"forkedFrom":{"sessionId":"s","messageUuid":"u3"}'),
    prompt(4, '"x"', ',"forkedFrom":null'),
  ],
  "answers with an id that a fork made up": [
    prompt(1, '"x"'),
    answer(2, "b40147c1-4b30-4e08-862f-8be3cc4e0b0e", ',"requestRef":"ref_1"'),
    answer(3, "2e6c76a2-003a-4e9b-83bf-e42735c073eb", ',"requestRef":"ref_1"'),
  ],
  "answers with ids as long as one that a fork made up": [
    prompt(1, '"x"'),
    answer(2, "B40147C1-4B30-4E08-862F-8BE3CC4E0B0E", ',"requestRef":"ref_1"'),
    answer(3, "b40147c1-4b30-4e08-862f-8be3cc4e0b0e", ',"requestRef":"ref_2","requestId":"req_1"'),
    answer(4, "b40147c1-4b30-4e08-862f-8be3cc4e0b0f"),
  ],
  "answers with an id that others may have, too": [
    prompt(1, '"x"'),
    answer(2, "ocgo"),
    answer(3, "ocgo", ',"requestRef":"ref_1"'),
    answer(4, "chatcmpl-123"),
  ],
  "answers with ids as short as they can be for one alone": [
    prompt(1, '"x"'),
    answer(2, "msg_abcdefghi9"),
    answer(3, "1760000000-000"),
    answer(4, "ocgo", ',"requestId":"req_1"'),
  ],
  "answers without an id": [
    prompt(1, '"x"'),
    answer(2, "m1").replace(/"id":"[^"]*",/, ""),
    answer(3, "", ',"parentUuid":"u2"'),
    answer(4, "m2"),
    answer(5, "", ',"requestId":"req_1"'),
    answer(6, "", ',"requestRef":"ref_1","apiBlockIndex":0'),
  ],
  "answers with passes of their own, and with some that count beside them": [
    prompt(1, '"x"'),
    ...[
      '[{"type":"message","input_tokens":3,"output_tokens":9}]',
      '[{"type":"message"},{"type":"advisor_message","model":"claude-opus-4-6","input_tokens":823,"output_tokens":1612}]',
      '[{"type":"compaction","input_tokens":180000,"output_tokens":3500}]',
      '[{"type":"advisor_messag\\u0065","model":"claude-opus-4-6","input_tokens":823,"output_tokens":1612}]',
      '[{"type":"fallback_message","input_tokens":3,"output_tokens":9},null,"x"]',
      "null",
    ].map((passes, n) => answer(n + 2, `m${n}`).replace('"output_tokens"', `"iterations":${passes},"output_tokens"`)),
  ],
  "answers of a model that another one was asked instead of": [
    prompt(1, '"x"'),
    answer(2, "m1").replace(
      '"output_tokens"',
      '"iterations":[{"type":"message","model":"claude-fable-5","input_tokens":3,"output_tokens":9},' +
        '{"type":"fallback_message","model":"claude-opus-4-8","input_tokens":3,"output_tokens":2}],"output_tokens"',
    ),
    answer(3, "m2"),
  ],
  "prompts from elsewhere, and what only looks like one": [
    ...[
      ',"origin":{"kind":"peer"}',
      ',"origin":{"kind":"human"}',
      ',"origin":{"kind":"h\\u0075man"}',
      ',"origin":{"kind":"peer","kind":"human"}',
      ',"origin":{"kind":"human"},"origin":{"kind":"peer"}',
      ',"origin":{"kind":"channel"}',
      ',"origin":null',
      ',"origin":"peer"',
    ].flatMap((rest, n) => [
      prompt(2 * n + 1, '"ready"', `,"promptId":"p${n}"${rest}`),
      prompt(2 * n + 2, '"ready"', `,"promptId":"q${n}","isMeta":true${rest}`),
      answer(2 * n + 2, `m${n}`),
    ]),
    prompt(40, '"Another Claude session sent a message:\\nready"'),
    prompt(41, '"\\u0041nother Claude session sent a message:\\nready"'),
    prompt(42, '[{"type":"text","text":"Another Claude session sent a message:\\nready"}]'),
    prompt(43, '"Another one"'),
    answer(44, "m44"),
  ],
  "calls whose ids somebody counts": [
    prompt(1, '"x"'),
    ...[
      "Bash:0",
      "functions.Bash:12",
      "call_0",
      "7",
      "t1",
      "toolu_1",
      "toolu_01:2",
      "call_00_Nb7Xk2QpLr9TzVw3Ys5M_0",
    ].flatMap((id, n) => [
      answer(2 * n + 2, `m${n}`, "", `{"type":"tool_use","id":"${id}","name":"Read","input":{}}`),
      result(2 * n + 3, ',"content":"ok"').replace('"t1"', `"${id}"`),
    ]),
  ],
  "answers that took nothing, but for what a cache had": [
    prompt(1, '"x"'),
    ...["", ',"cache_read_input_tokens":0', ',"cache_read_input_tokens":9', ',"cache_creation_input_tokens":9'].map(
      (rest, n) =>
        answer(n + 2, `m${n}`).replace(
          /"input_tokens":3,"output_tokens":\d+/,
          `"input_tokens":0,"output_tokens":0${rest}`,
        ),
    ),
  ],
  "attachments, and among them what was asked for in a form": [
    prompt(1, '"x"'),
    ...[
      '{"type":"todo_reminder"}',
      '{"data":{"type":"x"},"type":"structured_output"}',
      '{"type":"structured_outpu\\u0074"}',
      "null",
      "3",
    ].map((attachment, n) => line(n + 2, `"type":"attachment","attachment":${attachment}`)),
    answer(9, "m9"),
  ],
  "answers at one speed and at another": [
    prompt(1, '"x"'),
    ...['"fast"', '"standard"', '"fas\\u0074"', "null", '"fast","speed":"standard"'].map((speed, n) =>
      answer(n + 2, `m${n}`).replace('"output_tokens"', `"speed":${speed},"output_tokens"`),
    ),
  ],
  "answers without a word about their reason, of versions that give none, that give one, and of odd ones": [
    prompt(1, '"x"'),
    ...[
      "2.1.149",
      "2.1.150",
      "2.2.0",
      "1.0.999",
      "one",
      "2.1",
      "2.1.150-beta",
      "v2.1.150",
      "2.1.1500",
      "2.1.15\\u0030",
    ].map((version, n) => doubtful(n + 2, `m${n}`, '{"type":"text","text":"ok"}', version)),
  ],
  "calls of versions that are known by their input, and of those that are not": [
    prompt(1, '"x"'),
    ...["2.0.42", "2.0.43", "1.0.128", "1.0.128-beta", "one", "2.0", "2.0.4\\u0032", "2.0.0042", "3.0.0"].map(
      (version, n) =>
        answer(
          n + 2,
          `m${n}`,
          `,"version":"${version}"`,
          `{"type":"tool_use","id":"t${n}","name":"Read","input":{"a":1}}`,
        ),
    ),
  ],
  "a companion that is none after all": [prompt(1, '"x"', ',"isMeta":true,"isMeta":false'), answer(2, "m1")],
  "a companion in two ways that is one of them": [
    prompt(1, '"x"', ',"isMeta":true,"isCompactSummary":true,"isMeta":false'),
    answer(2, "m1"),
  ],
  "a refusal that the agent's note alone tells": [
    prompt(1, '"x"'),
    result(2, ',"is_error":true', ',"toolUseResult":"Permission to use Bash has been denied"'),
  ],
  "a hook's refusal that the agent's note alone tells": [
    prompt(1, '"x"'),
    result(2, ',"content":[],"is_error":true', ',"toolUseResult":"PreToolUse:Bash hook error: no"'),
  ],
  "a text that is there, and empty, beside a note": [
    prompt(1, '"x"'),
    result(2, ',"content":"","is_error":true', ',"toolUseResult":"Permission to use Bash has been denied"'),
  ],
  "an exit code in every way": [
    prompt(1, '"x"'),
    ...[
      ',"content":"Exit\\u0020code 5"',
      ',"content":"Exit code \\u0035"',
      ',"content":"Exit code 5\\u0035"',
      ',"content":"\\u0045xit code 5"',
      ',"content":"boom"},"toolUseResult":"Error: Exit code 6"',
      ',"content":"boom"},"toolUseResult":"E\\u0078it code 6"',
      ',"content":"Exit code 7"},"toolUseResult":"Error: Exit code 8"',
    ].map((rest, n) => {
      const [block, note = ""] = rest.split("}");
      return result(n + 2, `,"is_error":true${block}`, note).replace('"t1"', `"t${n}"`);
    }),
  ],
  "refusals whose letters are written as numbers, and what only looks like these": [
    prompt(1, '"x"'),
    ...[
      "P\\u0065rmission to use Bash",
      "The user doesn\\u0027t want to proceed",
      "Claude requested permissions\\u0020to write",
      "Permission to read /home/dev/x has been denied.",
      "<tool_use_error>File is in a directory that is denied by your permission settings.</tool_use_error>",
      "\\\\u0050ermission to use Bash",
      "ls\\u0020was blocked. For security, Claude Code may",
      "ls was\\u0020blocked. For security, Claude Code may",
      "ls\\\\nin x was blocked. For security, Claude Code may",
      "Th\\u0069s command requires approval",
      "Bash operation\\u0020blocked by hook",
      "\\n\\u0050ermission to use Bash",
    ].map((text, n) => result(n + 2, `,"is_error":true,"content":"${text}"`).replace('"t1"', `"t${n}"`)),
  ],
  "a prompt after a message of more blocks than are looked at": [
    prompt(1, `[${Array.from({ length: 300 }, () => '{"type":"text","text":"x"}').join(",")}]`),
    prompt(2, '"y"'),
    answer(3, "m1"),
  ],
  "two answers whose ids make one key": [
    prompt(1, '"x"'),
    answer(2, "a:b", ',"requestId":"c"'),
    answer(3, "a", ',"requestId":"b:c"'),
  ],
  "a prompt long before any agent": [
    prompt(1, '"x"').replace("2026-11-21", "1999-11-21"),
    answer(2, "m1"),
    answer(3, "m2").replace(/"timestamp":"[^"]*",/, ""),
  ],
  "a request by the name of what every object has": [
    line(1, '"type":"api-request","id":"r1"'),
    prompt(2, '"x"'),
    answer(3, "m1", ',"requestRef":"toString"'),
    answer(4, "m2", ',"requestRef":"r1"'),
  ],
  "the ninth request, and the first again": [
    prompt(1, '"x"'),
    ...Array.from({ length: 9 }, (_, n) => line(2 + n, `"type":"api-request","id":"r${n}"`)),
    line(20, '"type":"api-request","id":"r3"'),
    ...Array.from({ length: 9 }, (_, n) => answer(21 + n, `m${n}`, `,"requestRef":"r${n}"`)),
    line(40, '"type":"api-request","id":"r0"'),
  ],
  "requests by numbers": [
    line(1, '"type":"api-request","id":"r1"'),
    line(2, '"type":"api-request","id":"7"'),
    prompt(3, '"x"'),
    answer(4, "m1", ',"requestRef":"7"'),
  ],
  "a folder that is named as if there were none": [
    prompt(1, '"x"', ',"cwd":null'),
    prompt(2, '"y"', ',"cwd":"undefined"'),
    answer(3, "m1"),
  ],
  "a folder that changes there and back around a line that is read the long way": [
    prompt(1, '"x"'),
    prompt(2, '"<local-command-stdout>"', ',"cwd":"/tmp"'),
    prompt(3, '"y"'),
    line(4, '"type":"system","subtype":"turn_duration","cwd":"/tmp"'),
    answer(5, "m1"),
    "no JSON",
    answer(6, "m2", ',"cwd":"/tmp"'),
    answer(7, "m3"),
  ],
  "a command whose word is behind another kind of space": [
    prompt(1, '"x"'),
    answer(2, "m1", "", '{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"\u00a0git\u3000status"}}'),
    answer(3, "m2", "", '{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"A=1 \\/usr\\/bin\\/git log"}}'),
  ],
  "half letters, and bytes that are no letters": [
    prompt(1, '"\\ud83d and \\ude42 \\ud83d\\ude42 🙂 漢 é"'),
    prompt(2, '"x"').replace('"x"', '"\ud83d"'),
    answer(3, "m1"),
  ],
  "lines of an edit that are told twice": [
    prompt(1, '"x"'),
    result(2, ',"content":"ok"', ',"toolUseResult":{"structuredPatch":[{"lines":["+a","-b"],"lines":["-c","+d"]}]}'),
  ],
  "an hour that is none": [
    prompt(1, '"x"'),
    prompt(2, '"y"').replace("T10:", "T24:"),
    prompt(3, '"z"').replace("T10:00:03", "T24:00:00"),
    answer(4, "m1"),
  ],
  "a long text that is none behind its beginning": [
    prompt(1, '"x"'),
    result(2, `,"content":"${"y".repeat(400)}\\y"`),
    result(3, `,"content":"${"y".repeat(400)}\u0001y"`),
    answer(4, "m1"),
  ],
  "a name that looks like a secret": [
    prompt(1, '"x"'),
    answer(2, "m1", "", `{"type":"tool_use","id":"t1","name":"${["ghp", "x0".repeat(18)].join("_")}"}`),
  ],
};

/** Of these, what stands in them has the whole session read line by line. */
const LEFT_TO_LINES: readonly string[] = [
  "answers with an id that others may have, too",
  "answers with an id that a fork made up",
  "answers without an id",
  "answers with passes of their own, and with some that count beside them",
  "answers of a model that another one was asked instead of",
  "answers at one speed and at another",
  "calls whose ids somebody counts",
  "calls of versions that are known by their input, and of those that are not",
  "two answers whose ids make one key",
  "a prompt long before any agent",
  "requests by numbers",
  "a long text that is none behind its beginning",
  "a name that looks like a secret",
];

describe("tells at once what it tells line by line", () => {
  test.each(Object.entries(CASES))("%s", async (name, lines) => {
    const both = await compareBoth(made.put(file(FIRST, ...lines)));
    expect(both === undefined).toBe(LEFT_TO_LINES.includes(name));
  });

  test.each(BROKEN)("a line of %j", async (broken) => {
    expect(await compareBoth(made.put(file(FIRST, prompt(1, '"x"'), broken, answer(2, "m1"))))).toBeDefined();
  });

  test("whatever one byte of a line is in place of its own", async () => {
    const use = '{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}';
    let [all, atOnce] = [0, 0];
    for (const whole of [
      prompt(3, '"x"'),
      answer(3, "m2", ',"isSidechain": false', use),
      result(3, ',"content":"ok"'),
    ]) {
      for (let at = 0; at < whole.length; at++) {
        const broken = [...'"\\:,{}[] 0x\t'].map((byte) => whole.slice(0, at) + byte + whole.slice(at + 1));
        all++;
        if ((await compareBoth(made.put(file(FIRST, prompt(1, '"x"'), ...broken)))) !== undefined) atOnce++;
      }
    }
    expect(atOnce).toBeGreaterThan(all / 2);
  });

  test("a name like the one that stood there in the lines before", async () => {
    let [all, atOnce] = [0, 0];
    const use = '{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}';
    const [some, more] = ["x".repeat(30), "y".repeat(33)];
    const long = `{"type":"tool_use","id":"t1","name":"Bash","input":{"${some}":1,"command":"ls","${more}":2}}`;
    const usage = '"usage":{"cache_creation_input_tokens":5,"cache_read_input_tokens":7,';
    for (const told of [
      prompt(3, '"x"', ',"promptId":"p1"'),
      answer(3, "m2", ',"requestId":"req_2"', use).replace('"usage":{', usage),
      answer(3, "m2", "", long),
      result(3, ',"content":"ok","is_error":true', ',"toolUseResult":{"interrupted":false,"structuredPatch":[]}'),
    ]) {
      // Ids that are counted are none that are known
      const whole = told.replaceAll('"t1"', '"toolu_t1Ab3dEf6hIj"');
      for (const [quoted = "", name = ""] of whole.matchAll(/"(\w+)":/g)) {
        const resembling = [`"${name}x":`, `"${name.slice(0, -1)}":`, `"${name.slice(0, -1)}~":`, `"${name}" :`];
        const others = [
          ...resembling,
          `"${name}": `,
          `"${name}\\u0061":`,
          `"${name.slice(0, -1)}\\"":`,
          `"${name}":\t`,
        ];
        for (const other of others) {
          const like = whole
            .replace(quoted, other)
            .replace('"u3"', '"u9"')
            .replace("m2", "m9")
            .replace("req_2", "req_9")
            .replaceAll("_t1", "_t9");
          const lines = [FIRST, prompt(1, '"x"'), whole, whole, like, whole];
          all++;
          if ((await compareBoth(made.put(file(...lines)))) !== undefined) atOnce++;
        }
      }
    }
    expect(atOnce).toBeGreaterThan(all / 2);
  });

  test("whatever control character stands in a text", async () => {
    for (let code = 0; code <= 0x20; code++) {
      const text = `"a${String.fromCharCode(code)}b"`;
      expect(await compareBoth(made.put(file(prompt(1, '"x"'), prompt(2, text), answer(3, "m1"))))).toBeDefined();
    }
  });

  test.each([...PROMPTS, ...SIGNS, ...RESULTS, ...COMMANDS])("the text %j, wherever it stands", async (text) => {
    const json = JSON.stringify(text);
    const block = `[{"type":"text","text":${json}}]`;
    for (const one of [
      prompt(1, json),
      prompt(1, block),
      result(1, `,"is_error":true,"content":${json}`),
      result(1, `,"is_error":true,"content":${block}`),
      result(1, ',"is_error":true', `,"toolUseResult":${json}`),
      result(1, `,"content":${json}`),
      answer(1, "m1", "", `{"type":"tool_use","id":"t1","name":"Bash","input":{"command":${json}}}`),
    ]) {
      expect(await compareBoth(made.put(file(FIRST, one, answer(2, "m2"))))).toBeDefined();
    }
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])("the last days of month %i", async (month) => {
    for (const year of [2001, 2024, 2026, 2100, 2199]) {
      const days = [1, 28, 29, 30, 31].map(
        (day) => `${year}-${String(month).padStart(2, "0")}-${day < 10 ? "0" : ""}${day}`,
      );
      const lines = days.map((day, n) => prompt(n, `"${day}"`).replace("2026-11-21", day));
      expect(await compareBoth(made.put(file(...lines)))).toBeDefined();
    }
  });
});

describe("where stretches and lines end", () => {
  const padding = (bytes: number): string => `{"type":"attachment","x":"${"x".repeat(bytes)}"}`;
  const lines = [prompt(1, '"x"'), answer(2, "m1"), "no JSON", result(3, ',"content":"ok"'), answer(4, "m2")];
  const text = lines.join("\n");

  test("a stretch ends anywhere in a line", async () => {
    for (let n = 0; n <= text.length + 2; n += 37) {
      const padded = file(padding((1 << 20) - text.length - 30 + n), ...lines, prompt(5, '"y"'));
      expect(await compareBoth(made.put(padded)), `${n} bytes more`).toBeDefined();
    }
  });

  test.each([
    ["a stretch", 1 << 20, true],
    ["three", 3 << 20, true],
    ["what is read at once", 5 << 20, false],
  ] as const)("a line longer than %s", async (_, bytes, isAtOnce) => {
    const both = await compareBoth(made.put(file(...lines, padding(bytes), prompt(5, `"${"ä".repeat(bytes / 2)}"`))));
    expect(both !== undefined).toBe(isAtOnce);
  });

  test.each([
    "",
    "\n",
    "\n\n\r\n",
    "\n{",
    '\n{"type":"mode"}',
    '\n{"a":"\\',
    '\n{"a":tru',
    '\n{"a":"\\u00',
    "\n{}",
    "\r",
  ])("the file ends with %j", async (end) => {
    expect(await compareBoth(made.put([{ bytes: Buffer.from(text + end) }]))).toBeDefined();
    expect(
      await compareBoth(made.put([{ bytes: Buffer.from(end) }, { agentId: "a1", bytes: Buffer.from(end) }])),
    ).toBeDefined();
  });

  test("when a subagent began is told by its first stretch, whatever was read before", async () => {
    const long = padding((1 << 20) + 5);
    const [main, agent] = [file(...lines, padding(3 << 20)), file(prompt(1, '"x"'), long, answer(9, "m9"))];
    for (const files of [main, [...main, ...agent.map(({ bytes }) => ({ agentId: "a1", bytes }))]]) {
      expect(await compareBoth(made.put(files))).toBeDefined();
    }
  });

  test("more kinds of lines than are counted: line by line", async () => {
    const kinds = (from: number): readonly string[] =>
      Array.from({ length: 40 }, (_, n) => `{"type":"new-${from + n}"}`);
    expect(
      await compareBoth(made.put(file(...lines, ...kinds(0), padding(1 << 20), ...kinds(40), ...lines))),
    ).toBeUndefined();
  });

  test("files that were last written before there were agents", async () => {
    const timeless = lines.map((one) => one.replace(/"timestamp":"[^"]*",/, ""));
    await compareBoth(made.put(file(...timeless), 0));
    expect(await compareBoth(made.put(file(...timeless)))).toBeDefined();
  });
});
