import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * What the licences of bundled packages ask for: their names, versions, copyright notices and texts, each once.
 *
 * @param {string} root of the repository
 * @param {readonly import("esbuild").Metafile[]} metafiles of all that is bundled
 * @throws Error for a package that names no licence
 */
export function licencesOf(root, metafiles) {
  const folders = metafiles.flatMap(({ inputs }) =>
    Object.keys(inputs).flatMap((path) => PACKAGE.exec(path)?.[0] ?? []),
  );
  /** By text: many have the same. @type {Map<string, string[]>} */
  const packages = new Map();
  for (const folder of [...new Set(folders)].sort()) {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    if (typeof license !== "string") throw new Error(`${folder} names no licence`);
    const texts = readdirSync(join(root, folder))
      .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
      .sort()
      .map((file) => readFileSync(join(root, folder, file), "utf8").trim());
    const text = texts.join("\n\n");
    packages.set(text, [...(packages.get(text) ?? []), `${name} ${version}: ${license}`]);
  }
  const parts = [...packages].map(([text, names]) => [names.join("\n"), text].join("\n\n").trim());
  return `The program holds code of these packages.\n\n${parts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

// --- internal ---

/** The folder of the package that a file is of: the innermost. */
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
