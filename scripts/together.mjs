import { createHash } from "node:crypto";
import { posix } from "node:path";

/**
 * Puts parts that are always loaded together into one file: each file takes a start 0.1 ms, and an import would load eighty.
 * When a part runs stays as it was: as soon as it is first asked for.
 *
 * @param {ReadonlyMap<string, string>} codes the CommonJS of each file, by its path in what is built
 * @param {ReadonlyMap<string, readonly string[]>} loads what each file loads at once, by the same paths
 * @param {readonly (readonly string[])[]} starts the files that each of the usual starts of the program loads
 * @returns {Map<string, string>} as `codes`, in fewer files
 */
export function together(codes, loads, starts) {
  const fileOf = filesOf(
    [...codes.keys()].filter((path) => PART.test(path)),
    starts.map((entries) => closureOf(entries, loads)),
  );
  const made = new Map();
  for (const [path, code] of codes) {
    if (code.includes(ASK)) throw new Error(`${path} has ${ASK} for something else`);
    const file = fileOf.get(path);
    const asking = code.replaceAll(REQUIRE, (all, required) => {
      const part = posix.join(posix.dirname(path), required);
      const other = fileOf.get(part);
      if (other === undefined) return all;
      const name = JSON.stringify(posix.basename(part, ".cjs"));
      return other === file ? `${ASK}(${name})` : `require("./${posix.relative(posix.dirname(path), other)}")(${name})`;
    });
    if (file === undefined) made.set(path, asking);
    else made.set(file, `${made.get(file) ?? HEAD}${partOf(posix.basename(path, ".cjs"), asking)}`);
  }
  return made;
}

// --- internal ---

/** What several entries share; a file that is an entry itself is loaded by its name. */
const PART = /\/chunk-[^/]+\.cjs$/;

const REQUIRE = /\brequire\("(\.[^"]+\.cjs)"\)/g;

const ASK = "part_of_this_file";

const HEAD = `"use strict";const parts={},run={};
function ${ASK}(name){if(!(name in parts)){const module={exports:{}};run[name](module,module.exports);parts[name]=module.exports}return parts[name]}
module.exports=${ASK};
`;

/** In brackets, which tell the engine that it will run: it would read it twice otherwise. */
function partOf(name, code) {
  return `run[${JSON.stringify(name)}]=(function(module,exports){${code}\n});\n`;
}

/**
 * The file of each part that a start loads: parts that the same starts load lie in one. Its name has the parts' own, which have
 * what is in them: an update brings other files, and a program that runs meanwhile never has parts of both.
 */
function filesOf(parts, reached) {
  const groups = new Map();
  for (const part of parts) {
    const by = reached.map((paths) => (paths.has(part) ? 1 : 0)).join("");
    if (by.includes("1")) groups.set(by, [...(groups.get(by) ?? []), part]);
  }
  const fileOf = new Map();
  for (const group of groups.values()) {
    const hash = createHash("sha256").update(group.join("\n")).digest("hex").slice(0, 8).toUpperCase();
    for (const part of group) fileOf.set(part, `${posix.dirname(part)}/together-${hash}.cjs`);
  }
  return fileOf;
}

function closureOf(entries, loads) {
  const all = new Set();
  const add = (path) => {
    if (all.has(path)) return;
    all.add(path);
    for (const other of loads.get(path) ?? []) add(other);
  };
  for (const entry of entries) add(entry);
  return all;
}
