import type { Rule } from "./rule.ts";

/** Names before `=` or `:`. `tokens` is not among them: a count is no secret. */
const PASSWORD =
  "pass(?:word|wd|phrase|code|wort)|(?:db|root|admin|store|key|ssh|pg|my|sql|ftp|smb|ldap|vnc|user|login|http|proxy|smtp|mail|redis|wifi|sudo|become|cert|pfx|p12|zip)pass|[_-]pass|[^a-z]pw|contrase[nñ]a|mot[_ -]?de[_ -]?passe|mdp|kennwort";
const SECRET = "secret";
const TOKEN = "token|_auth";
const KEY =
  "(?:api|access|secret|private|auth|client|sign|signing|encrypt|encryption|crypt|cipher|master|account|admin|ingest|server|fastly|shared|sharedaccess|storage|subscription|app|application|license|webhook|deploy|consumer|service|hmac|jwt|ssh)[_. -]?key|credential";
/** What may be between the word and the `=` or `:`: `secretAccessKey`, `password2`, `SECRET_KEY_BASE`. */
const SUFFIX = "(?:[_.-]?(?:key|access[_-]?key|key[_-]?base|base|value|text|string|data|raw|salt|[0-9]{1,3}))?";
const NAME_END = `${SUFFIX}[\\\\]{0,3}["'\`]?\\]?`;
const SIGN = "[ \\t]{0,8}(?::=|[:=：])[ \\t]{0,8}";
const SIGN_OR_ARROW = "[ \\t]{0,8}(?::=|=>|[:=：])[ \\t]{0,8}";
/** `apiKey: string = "…"`, `token: &'static str = "…"` */
const TYPED_SIGN = "[?!]?[ \\t]{0,4}:[ \\t]{0,4}[&A-Za-z][A-Za-z0-9_<>| .'\\[\\]]{0,40}=[ \\t]{0,4}";
/** `==` compares, so no value follows it. */
const UNQUOTED_START = "[^ \\t\\r\\n\"'`,;&|<>\\\\=~]";
const UNQUOTED = "[^ \\t\\r\\n\"'`,;&|<>\\\\]";

/** What may be between a command-line option and its value: a space, a line continuation, or a separator of list items. */
const AFTER_OPTION = `(?:-(?:string|value|text|data|base64|literal))?(?:[ ]{0,3}[\\\\][\\r\\n]{1,2}[ \\t]{0,40}["']?|[ =]{1,3}["']?|["'][ ]{0,2},[ \\t\\r\\n]{0,40}["'])`;

interface Words {
  readonly id: string;
  readonly words: string;
  readonly hints: readonly string[];
  /** Shorter values are not matched. */
  readonly minLength: number;
}

/** Rules for a value in quotes, which may be escaped; one without quotes; one after a command-line option. */
function assigned({ id, words, hints, minLength: min }: Words): readonly Rule[] {
  const quoted = [
    `"(?:[^"\\\\\\r\\n]|\\\\[^\\r\\n]){${min},}`,
    `'(?:[^'\\\\\\r\\n]|\\\\[^\\r\\n]){${min},}`,
    `\`[^\`]{${min},}`,
    `[\\\\]{1,3}"[^"\\\\\\r\\n]{${min},}`,
    `[\\\\]{1,3}'[^'\\\\\\r\\n]{${min},}`,
  ].join("|");
  const rule = { id, ignoreCase: true, falsePositives: "assigned" } as const satisfies Partial<Rule>;
  const rest = `{${min - 1},}`;
  return [
    { ...rule, hints, pattern: `((?:${words})${NAME_END}(?:${SIGN_OR_ARROW}[a-z]?|${TYPED_SIGN}))(${quoted})` },
    { ...rule, hints, pattern: `((?:${words})${NAME_END}${SIGN})(${UNQUOTED_START}${UNQUOTED}${rest})` },
    {
      ...rule,
      hints,
      contains: "--",
      pattern: `(--(?:[a-z0-9]{1,20}-){0,4}(?:${words})${AFTER_OPTION})([^ \\t\\r\\n"'\`|&;<>-][^ \\t\\r\\n"'\`|&;<>]${rest})`,
    },
  ];
}

/** Values of assignments, members and options whose name contains such a word. */
export const ASSIGNED: readonly Rule[] = [
  ...assigned({ id: "password", words: PASSWORD, hints: ["pass", "pw", "contrase", "kennwort", "mdp"], minLength: 1 }),
  ...assigned({ id: "secret", words: SECRET, hints: ["secret"], minLength: 4 }),
  ...assigned({ id: "api-key", words: KEY, hints: ["key", "credential"], minLength: 8 }),
  ...assigned({ id: "token", words: TOKEN, hints: ["token", "_auth"], minLength: 8 }),
  // Words that have other meanings too, so the value must not be a word
  {
    id: "secret",
    hints: ["cred", "auth"],
    ignoreCase: true,
    falsePositives: "assigned",
    pattern: `((?:creds?|credentials?|(?:^|[^a-z])auth)[\\\\]{0,3}["'\`]?${SIGN_OR_ARROW}[\\\\]{0,3}["'\`])([^"'\`\\r\\n\\\\ ]{1,60}[0-9:][^"'\`\\r\\n\\\\ ]{4,}|[^"'\`\\r\\n\\\\ ]{4,60}[0-9:][^"'\`\\r\\n\\\\ ]{0,})`,
  },
  {
    id: "secret",
    hints: ["cred"],
    ignoreCase: true,
    falsePositives: "assigned",
    pattern: `(creds?${SIGN})(${UNQUOTED_START}[^ \\t\\r\\n"'\`,;&|<>\\\\(){}]{2,60}[0-9:][^ \\t\\r\\n"'\`,;&|<>\\\\(){}]{2,})`,
  },
  // .npmrc, where a value can have any length
  { id: "token", hints: ["_auth"], pattern: "(_auth(?:Token)? ?= ?[\"']?)([^ \\t\\r\\n\"'$][^ \\t\\r\\n\"']*)" },
  {
    // PWD is also the shell's variable for the current folder
    id: "password",
    hints: ["pwd"],
    ignoreCase: true,
    falsePositives: "assigned",
    pattern: `(pwd${NAME_END}${SIGN}["']?)([^ \\t\\r\\n"'\`,;&|<>\\\\=/~.$][^ \\t\\r\\n"'\`,;&|<>\\\\]*)`,
  },
  {
    id: "password",
    hints: ["<"],
    ignoreCase: true,
    falsePositives: "assigned",
    pattern: "(<[a-z0-9:_.-]{0,40}(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key)>)([^<>]{1,})",
  },
  {
    // <Property name="password">…, as in settings of Java and .NET
    id: "password",
    hints: ["name=", "key="],
    ignoreCase: true,
    falsePositives: "assigned",
    pattern: `((?:name|key)=["'][^"'<>]{0,60}(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key)["'][^<>]{0,100}>)([^<>]{1,})`,
  },
  // A field of a form; elsewhere the word has other meanings
  { id: "password", hints: ["pass="], pattern: `([?&]pass=)([^& \\t\\r\\n"'<>#\\\\]{1,})` },
  {
    id: "aws-account",
    hints: ["account"],
    ignoreCase: true,
    pattern: `(account(?:[_-]?id)?["']?${SIGN_OR_ARROW}["']?)([0-9]{4}-?[0-9]{4}-?[0-9]{4})`,
  },
  {
    id: "aws-account",
    hints: ["arn:aws"],
    pattern: "(arn:aws[a-z-]{0,20}:[a-z0-9-]{1,40}:[a-z0-9-]{0,40}:)([0-9]{12})",
  },
];
