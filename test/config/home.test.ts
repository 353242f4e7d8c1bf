import { beforeEach, expect, it, vi } from "vitest";
import { homeDirectory } from "#config/places.ts";

const system = vi.hoisted(() => ({ homedir: vi.fn<() => string>(), userInfo: vi.fn<() => { homedir: string }>() }));
vi.mock("node:os", () => system);

const unknown = (): never => {
  throw new Error("uv_os_homedir returned ENOENT (no such file or directory)");
};
beforeEach(() => {
  system.homedir.mockReset().mockReturnValue("/home/dev");
  system.userInfo.mockReset().mockReturnValue({ homedir: "/home/listed" });
});

it("the home is the system's home directory", () => {
  expect(homeDirectory()).toBe("/home/dev");
});

it("the home comes from the user database if HOME is empty", () => {
  system.homedir.mockReturnValue("");
  expect(homeDirectory()).toBe("/home/listed");
});

it("the home is / for a container's user without an entry in the user database", () => {
  system.homedir.mockImplementation(unknown);
  system.userInfo.mockImplementation(unknown);
  expect(homeDirectory()).toBe("/");
  system.homedir.mockReturnValue("");
  expect(homeDirectory()).toBe("/");
});
