import { expect, test } from "vitest";
import type { Repository } from "#core/model/session.ts";
import { repositoryNames } from "#show/report/repositories.ts";

const of = (url: string): Repository => ({ name: /([^/]+?)(\.git)?\/?$/.exec(url)?.[1] ?? "", url });
const [acme, beta, shop] = [
  of("https://git.example/acme/api.git"),
  of("ssh://git.example/beta/api"),
  of("https://git.example/acme/shop"),
];

test("a repository is shown by name, with its owner if another has the same name", () => {
  const alone = repositoryNames([acme, shop, acme]);
  expect([acme, shop].map(alone.nameOf)).toEqual(["api", "shop"]);
  const beside = repositoryNames([acme, beta, shop]);
  expect([acme, beta, shop].map(beside.nameOf)).toEqual(["acme/api", "beta/api", "shop"]);
});

test("one address is one repository, with any protocol and spelling", () => {
  const urls = ["https://git.example/acme/api", "ssh://git.example:2222/acme/api.git", "https://git.example/Acme/API/"];
  const all = urls.map((url) => ({ name: "api", url }));
  expect(new Set(all.map(repositoryNames(all).nameOf))).toEqual(new Set(["api"]));
  expect(new Set(all.map(repositoryNames([...all, beta]).nameOf))).toEqual(new Set(["acme/api"]));
});

test("names contain as much of the address as needed", () => {
  const all = ["https://a.example/x/acme/api", "https://b.example/x/acme/api", "https://b.example/beta/api"].map(of);
  expect(all.map(repositoryNames(all).nameOf)).toEqual([
    "a.example/x/acme/api",
    "b.example/x/acme/api",
    "b.example/beta/api",
  ]);
});

test("a repository without a valid address keeps its name", () => {
  const names = repositoryNames([acme, beta, { name: "api" }, { name: "api", url: "[redacted]" }]);
  expect(names.nameOf({ name: "api" })).toBe("api");
  expect(names.nameOf({ name: "api", url: "[redacted]" })).toBe("api");
});

test("filters match its name, or the end of its address", () => {
  const names = repositoryNames([acme, beta, shop]);
  const meant = (filter: string) => [acme, beta, shop, { name: "api" }].map((one) => names.isMeant(one, filter));
  expect(meant("api")).toEqual([true, true, false, true]);
  expect(meant("acme/api")).toEqual([true, false, false, false]);
  expect(meant("ACME/api")).toEqual([true, false, false, false]);
  expect(meant("git.example/beta/api")).toEqual([false, true, false, false]);
  for (const filter of ["pi", "e/api", "acme", "", "/"])
    expect([filter, meant(filter)]).toEqual([filter, [false, false, false, false]]);
});
