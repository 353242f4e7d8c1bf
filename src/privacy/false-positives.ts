import type { Rule } from "./rules.ts";

/**
 * Whether a match is no value: the name of a type, a reference to a variable, a call, a placeholder. Only for texts that cannot be a
 * secret; in doubt a text is redacted.
 *
 * @param value without its quotes
 */
export function isFalsePositive(kind: Rule["ordinary"], value: string): boolean {
  switch (kind) {
    case undefined:
      return false;
    case "assigned":
      if (TYPE.test(value)) return true;
      return (
        WORDS.has(value.replace(/[)\]};?!]+$/, "").toLowerCase()) ||
        NO_VALUE.test(value) ||
        EXPRESSION.test(value) ||
        CODE_BEHIND.test(value) ||
        KEY_FILE.test(value)
      );
    case "address":
      return /^git@/.test(value) || /@[23]x\.[a-z]+$/.test(value) || FILE_NAME.test(value);
    case "home":
      return SHARED.has(value.toLowerCase()) || NO_VALUE.test(value);
  }
}

// --- internal ---

const WORDS: ReadonlySet<string> = new Set(
  `string str text varchar char bytes buffer boolean bool number int integer any unknown undefined null none nil true false
   void object optional required await new function async return this self yield not lambda inherit include omit same-origin
   secretstr password passwd token secret apikey api_key`.split(/\s+/),
);

/** `$NAME`, `${…}`, `$(…)`, `{{…}}`, `<…>`, `%s`, `***`, `...`, `xxxx`: the value was left out, or is somewhere else. */
const NO_VALUE =
  /^(?:\$[A-Z_][A-Z0-9_]*|\$\{[A-Za-z_][A-Za-z0-9_.]*\}|\$\(.*|\{\{.*|<[A-Za-z_ -]+>?|%[A-Za-z]|%\([a-z_]+\)s|\*+|\.{3,}|…|[xX]{3,}|[^A-Za-z0-9]{1,3})[)\]};,.]*$/u;

const ROOTS =
  "process\\.env|import\\.meta|os\\.environ|os\\.getenv|System\\.getenv|ENV|config|settings|options|opts|props|this|self|req|request|res|response|ctx|context|env|args|params|user|data|body|form|secrets|vars|inputs|var|local|module|state|input|crypto|jwt|bcrypt|faker|cookies|headers|localStorage|sessionStorage|event|document";
const CALLS =
  "get|read|load|fetch|create|generate|make|parse|require|encode|decode|find|resolve|use|random|sign|issue|z\\.|String|Buffer|str";

/** Only what begins like code: an object and a member of it, or a verb and its call. */
const EXPRESSION = new RegExp(
  `^(?:(?:${ROOTS})(?:\\??\\.[A-Za-z_$][A-Za-z0-9_$]*|\\[[^\\]]*\\]?)+[)\\]};!?]*(?:\\(.*)?|(?:await )?(?:${CALLS})[A-Za-z0-9_$.]*\\(.*)$`,
  "u",
);

const TYPE = /^(?:Optional|Union|List|Dict|Option|Vec|Array|Promise|Record|Secret)\[[A-Za-z_, ]*\]?[)\]};,.]*$/;

/** The quote before it closed a text: `"Password: " + input`. */
const CODE_BEHIND = /^[ \t]+(?:[+&|,.)\]}]|$)/;

/** The path of a key is not a secret. */
const KEY_FILE = /^(?:~|\.{1,2})?\/[A-Za-z0-9._/-]+\.(?:pem|key|crt|cer|pub|p12|pfx|jks)[)\]};,.]*$/;

const FILE_NAME = /\.(?:png|jpe?g|gif|svg|webp|js|ts|css|json|md|txt|html|map|tgz|zip)$/i;

/** Folders beside users' homes. */
const SHARED: ReadonlySet<string> = new Set(["shared", "public", "default", "linuxbrew", "runneradmin", "runner"]);
