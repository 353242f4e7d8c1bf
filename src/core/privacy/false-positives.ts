import type { Rule } from "./rules.ts";

/**
 * Whether a match is not a secret but the name of a type, a reference to a variable, a call or a placeholder. True only for
 * texts that cannot be a secret: in doubt a text is redacted.
 *
 * @param value without its quotes
 */
export function isFalsePositive(kind: Rule["falsePositives"], value: string): boolean {
  switch (kind) {
    case undefined:
      return false;
    case "assigned":
      if (GENERIC_TYPE.test(value)) return true;
      return (
        KEYWORDS.has(/^([a-z_-]{1,20})[)\]};?!:]*$/i.exec(value)?.[1]?.toLowerCase() ?? "") ||
        PLACEHOLDER.test(value) ||
        EXPRESSION.test(value) ||
        CODE_AFTER_STRING.test(value) ||
        KEY_FILE.test(value)
      );
    case "spoken":
      return NO_PASSWORD.test(value) || isFalsePositive("assigned", value.replace(/[.!?:]$/, ""));
    case "address":
      return /^git@/.test(value) || /@[23]x\.[a-z]+$/.test(value) || FILE_NAME.test(value);
    case "home":
      return SHARED_FOLDERS.has(value.toLowerCase()) || PLACEHOLDER.test(value);
  }
}

// --- internal ---

const KEYWORDS: ReadonlySet<string> = new Set(
  `string str text varchar char bytes buffer boolean bool number int integer any unknown undefined null none nil true false
   void object optional required await new function async return this self yield not lambda inherit include omit same-origin
   secretstr password passwd token secret apikey api_key`.split(/\s+/),
);

/** `$NAME`, `${…}`, `$(…)`, `{{…}}`, `<…>`, `%s`, `***`, `...`, `xxxx`: the value was left out, or comes from elsewhere. */
const PLACEHOLDER =
  /^(?:\$[A-Z_][A-Z0-9_]*|\$\{[A-Za-z_][A-Za-z0-9_.]*\}|\$\(.*|\{\{.*|<[A-Za-z_ -]+>?|%[A-Za-z]|%\([a-z_]+\)s|\*+|\.{3,}|…|[xX]{3,}|[^A-Za-z0-9]{1,3})[)\]};,.]*$/u;

const OBJECTS =
  "process\\.env|import\\.meta|os\\.environ|os\\.getenv|System\\.getenv|ENV|config|settings|options|opts|props|this|self|req|request|res|response|ctx|context|env|args|params|user|data|body|form|secrets|vars|inputs|var|local|module|state|input|crypto|jwt|bcrypt|faker|cookies|headers|localStorage|sessionStorage|event|document";
const VERBS =
  "get|read|load|fetch|create|generate|make|parse|require|encode|decode|find|resolve|use|random|sign|issue|z\\.|String|Buffer|str";

/** Texts that begin like code: an object with a member, or a call of a function whose name begins with a verb. */
const EXPRESSION = new RegExp(
  `^(?:(?:${OBJECTS})(?:\\??\\.[A-Za-z_$][A-Za-z0-9_$]*|\\[[^\\][]*\\]?)+[)\\]};!?]*(?:\\(.*)?|(?:await )?(?:${VERBS})[A-Za-z0-9_$.]*\\(.*)$`,
  "u",
);

const GENERIC_TYPE = /^(?:Optional|Union|List|Dict|Option|Vec|Array|Promise|Record|Secret)\[[A-Za-z_, ]*\]?[)\]};,.]*$/;

/** Code after a string literal, not its content: in `"Password: " + input`, the quote before it is a closing one. */
const CODE_AFTER_STRING = /^[ \t]+(?:[+&|,.)\]}]|$)/;

/** The path of a key file is not a secret. */
const KEY_FILE = /^(?:~|\.{1,2})?\/[A-Za-z0-9._/-]+\.(?:pem|key|crt|cer|pub|p12|pfx|jks)[)\]};,.]*$/;

/** What a sentence about a password can say besides the password: names of algorithms, versions, paths, files, references. */
const NO_PASSWORD =
  /^(?:(?:base(?:32|58|64)|sha-?[0-9]+|md5|utf-?8|utf-?16|oauth2?|pbkdf2|argon2|bcrypt|scrypt|aes-?[0-9]+|rsa-?[0-9]*|ed25519|x509|http|https|ipv[46]|v[0-9]|[0-9]+(?:\.[0-9]+)+)(?:$|[^A-Za-z0-9].*)|[$<{[%].*|[^ ]*[/\\].*|[A-Za-z_][A-Za-z0-9_]*\(.*|[A-Za-z0-9_-]+\.(?:[cm]?[jt]sx?|py|md|json|ya?ml|env|txt|html|go|rs|java|sh|toml|ini|conf|css|php|rb)[.!?:]*)$/i;

const FILE_NAME = /\.(?:png|jpe?g|gif|svg|webp|js|ts|css|json|md|txt|html|map|tgz|zip)$/i;

/** Folders in /home and /Users that belong to no person. */
const SHARED_FOLDERS: ReadonlySet<string> = new Set([
  "shared",
  "public",
  "default",
  "linuxbrew",
  "runneradmin",
  "runner",
]);
