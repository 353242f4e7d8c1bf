import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The notices that the licences of bundled packages require: names, versions, copyright notices and texts, each once.
 *
 * @param {string} root of the repository
 * @param {readonly import("esbuild").Metafile[]} metafiles of all bundles
 * @throws Error for a package without a licence
 */
export function licencesOf(root, metafiles) {
  const folders = metafiles.flatMap(({ inputs }) =>
    Object.keys(inputs).flatMap((path) => PACKAGE.exec(path)?.[0] ?? []),
  );
  /** Licence text → packages. @type {Map<string, string[]>} */
  const packages = new Map();
  for (const folder of [...new Set(folders)].sort()) {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    if (typeof license !== "string") throw new Error(`${folder} has no licence in its package.json`);
    const texts = readdirSync(join(root, folder))
      .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
      .sort()
      .map((file) => readFileSync(join(root, folder, file), "utf8").trim());
    const text = texts.join("\n\n");
    packages.set(text, [...(packages.get(text) ?? []), `${name} ${version}: ${license}`]);
  }
  const parts = [...packages].map(([text, names]) => [names.join("\n"), text].join("\n\n").trim());
  return `This program contains code of these packages.\n\n${parts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

// --- internal ---

/** The innermost package folder of a file. */
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
