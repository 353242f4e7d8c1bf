// Agents on PyPI pin each dependency; a mirror that has only a later post-release of one of them still serves them.
import { expect, test } from "vitest";
import { withPostReleases } from "./pypi.ts";

test.each([
  ["certifi==2026.10.19", "certifi==2026.10.19.*"],
  ["click==8.3.3 ; sys_platform != 'emscripten'", "click==8.3.3.* ; sys_platform != 'emscripten'"],
  ["click==8.3.3; python_version == '3.12'", "click==8.3.3.*; python_version == '3.12'"],
  // the star is not allowed after letters
  ["exporter==0.66b1", "exporter==0.66b1"],
  ["python-dateutil==2.9.0.post0", "python-dateutil==2.9.0.post0"],
  ["miniaudio>=1.59 ; extra == 'voice'", "miniaudio>=1.59 ; extra == 'voice'"],
])("%s is installed as %s", (pinned, installed) => {
  expect(withPostReleases(`${pinned}\nanyio==4.15.1\n`)).toBe(`${installed}\nanyio==4.15.1.*\n`);
});
