// Runs in the page. Accessibility problems for visual, screen reader and keyboard users, one line each.

/** Names, roles, landmarks. */
export function auditNames() {
  const found = [];
  const visible = (element) => element.getClientRects().length > 0;
  const nameOf = (element) => {
    const by = element.getAttribute("aria-labelledby");
    if (by !== null)
      return by
        .split(" ")
        .map((id) => document.getElementById(id)?.textContent ?? "")
        .join(" ");
    const label = element.labels?.[0]?.textContent;
    return element.getAttribute("aria-label") ?? label ?? element.textContent ?? "";
  };
  for (const element of document.querySelectorAll(
    "a, button, input, select, summary, [role=treegrid], [role=table], aside, section[aria-label]",
  )) {
    if (visible(element) && nameOf(element).trim() === "") found.push(`no name: ${element.outerHTML.slice(0, 120)}`);
  }
  const one = (selector) => {
    const n = [...document.querySelectorAll(selector)].filter(visible).length;
    if (n !== 1) found.push(`${n} of ${selector}`);
  };
  for (const selector of ["main", "h1", "header.top", "nav"]) one(selector);
  if (document.documentElement.lang === "") found.push("no language");
  if (document.title === "") found.push("no title");
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  for (const id of ids.filter((id, i) => ids.indexOf(id) !== i)) found.push(`twice the id ${id}`);
  for (const image of document.querySelectorAll("img, svg, canvas")) {
    if (image.closest("[aria-hidden=true]") === null && nameOf(image) === "")
      found.push(`an image without words: ${image.outerHTML.slice(0, 80)}`);
  }
  for (const row of document.querySelectorAll("[role=row]")) {
    if (row.closest("[role=treegrid], [role=table]") === null) found.push("a row of no table");
    for (const child of row.children) {
      const role = child.getAttribute("role");
      if (!["gridcell", "cell", "columnheader", "rowheader"].includes(role)) found.push(`in a row: ${role}`);
    }
  }
  let level = 0;
  for (const heading of [...document.querySelectorAll("h1, h2, h3, h4")].filter(visible)) {
    const own = Number(heading.tagName[1]);
    if (own > level + 1) found.push(`h${level} is followed by h${own}: ${heading.textContent}`);
    level = own;
  }
  return found;
}

/** Contrast of text and background: at least 4.5 to 1, WCAG 2.2 AA; large text 3 to 1. */
export function auditContrast() {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const read = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
  const luminance = (rgb) => {
    const [r, g, b] = rgb
      .slice(0, 3)
      .map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const chain = [];
    for (let at = element; at !== null; at = at.parentElement) chain.push(read(getComputedStyle(at).backgroundColor));
    return chain.reverse().reduce((below, own) => over(own, below), [255, 255, 255, 1]);
  };
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let looked = 0;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.textContent.trim() === "" || element.getClientRects().length === 0) continue;
    if (element.closest(".sr, :disabled, option, [aria-hidden=true]") !== null) continue;
    const style = getComputedStyle(element);
    const back = behind(element);
    const front = over(read(style.color), back);
    const [light, dark] = [luminance(front), luminance(back)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = Number.parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    looked++;
    if (ratio < (isLarge ? 3 : 4.5))
      found.add(
        `${ratio.toFixed(2)}: ${element.className || element.tagName} "${node.textContent.trim().slice(0, 30)}"`,
      );
  }
  return { looked, found: [...found] };
}
