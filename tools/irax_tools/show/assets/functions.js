// The functions of a program, with what they took. Another one is another page.

function buildFunctions() {
  if (PAGES.length < 2 && !PAGE.called) return;
  $("functions").hidden = false;
  const most = Math.max(...PAGES.map(({ called }) => called?.seconds ?? 0));
  const heads = ["all calls", "calls", "a call", "to make", "function", "line"];
  const rows = PAGES.map(({ title, called, files, locations }, i) => {
    const { count, seconds, making } = called, [file, line] = locations[0]?.at(-1) ?? [];
    const place = file === undefined ? "" : `${files[file].name}:${line}`;
    const cells = [`${heat(seconds, most)}${timeText(seconds)}`, exact(count), timeText(seconds / count), timeText(making)];
    return `<tr${i === PAGES.indexOf(PAGE) ? ' aria-current="true"' : ""} data-function="${i}">`
      + cells.map((cell) => `<td class="cost">${cell}</td>`).join("")
      + `<td><button class="jump">${escapeHtml(title)}</button></td><td>${escapeHtml(place)}</td></tr>`;
  });
  $("functions").innerHTML = `<table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join("")}</tr></thead>`
    + `<tbody>${rows.join("")}</tbody></table>`;
}

$("functions").addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-function]");
  if (!row) return;
  location.hash = `function=${row.dataset.function}`;
  location.reload();
});
