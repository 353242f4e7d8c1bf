/**
 * A seeded random generator: the same seed gives the same corpus on every machine, byte for byte.
 *
 * @param {number} seed an integer
 */
export function randomOf(seed) {
  let state = seed >>> 0;
  // mulberry32: its low bits are as good as its high ones
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
  const share = () => next() / 2 ** 32;
  const integer = (from, to) => from + Math.floor(share() * (to - from + 1));
  const hex = (digits) => {
    let text = "";
    while (text.length < digits) text += next().toString(16).padStart(8, "0");
    return text.slice(0, digits);
  };
  return {
    share,
    /** Both ends included. */
    integer,
    isIn: (part) => share() < part,
    pick: (values) => values[integer(0, values.length - 1)],
    hex,
    /** An id in the style of providers: a prefix, then letters and digits. */
    id: (prefix) => {
      let text = prefix;
      for (let n = 0; n < 22; n++) text += ALPHABET[next() % ALPHABET.length];
      return text;
    },
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
    /** UUID version 7, which sorts by time. */
    uuidAt: (ms) => {
      const time = ms.toString(16).padStart(12, "0");
      return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-a${hex(3)}-${hex(12)}`;
    },
    /** Text of about this length: code, quotes, control characters, other scripts, and words that are keys elsewhere. */
    text: (characters) => {
      const from = integer(0, LONG_TEXT.length - 1);
      let text = LONG_TEXT.slice(from, from + characters);
      while (text.length < characters) text += LONG_TEXT.slice(0, characters - text.length);
      // Never half of a surrogate pair, which is not valid text
      return text.toWellFormed();
    },
  };
}

// --- internal ---

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

const WORDS = [
  "const",
  "return",
  "price",
  "await",
  "import",
  "error",
  "\n",
  "  ",
  '"quoted"',
  "=>",
  "função",
  "漢字",
  "🙂",
  "undefined",
  "git diff --stat",
  "{",
  "}",
  "//",
  '"usage"',
  '"input_tokens": 7',
  '"type":"assistant"',
  "C:\\shop\\src",
  "\t",
  "\u001b[32mok\u001b[0m",
];

/** Cut at random places. Made once, because adding word by word would take most of the time. */
const LONG_TEXT = (() => {
  let state = 7;
  let text = "";
  while (text.length < 200_000) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    text += `${WORDS[(state >>> 8) % WORDS.length]} `;
  }
  return text;
})();
