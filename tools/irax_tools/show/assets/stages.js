// The stages, with what each changed.

const GROUPS = { trace: "Program", derive: "Derivation", lower: `Lowering for ${PAGE.target}`, iree: "IREE" };

const stageTitle = (stage) => stages[stage].name.replace(/^func\.func\((.*)\)$/, "$1");

function buildStages() {
  let html = "", group = "";
  stages.forEach((stage, i) => {
    if (stage.group !== group) {
      group = stage.group;
      html += `<h2>${escapeHtml(GROUPS[group])}</h2>`;
    }
    const time = i ? `, ${(stage.seconds * 1e3).toPrecision(2)} ms` : "";
    html += `<button class="stage" data-stage="${i}" title="${escapeHtml(stage.name + (stage.options ? `{${stage.options}}` : "") + time)}">`
      + `<span class="title">${escapeHtml(stageTitle(i))}</span><span class="lines"></span><span class="changes"></span>`
      + (stage.options ? `<span class="options">${escapeHtml(stage.options)}</span>` : "")
      + "</button>";
  });
  if (PAGE.error) html += `<p class="failed" role="alert">${escapeHtml(PAGE.error)}</p>`;
  $("stages").innerHTML = html;
  $("base").innerHTML = stages.map((_, i) => `<option value="${i}">since ${i}: ${escapeHtml(stageTitle(i))}</option>`).join("");
  countChanges(1);
}

// Not by scrollIntoView, which scrolls the page that this one is in a frame of, too.
function showCurrentStage() {
  const list = $("stages");
  const outer = list.getBoundingClientRect();
  const own = stageButtons()[state.stage].getBoundingClientRect();
  list.scrollLeft += own.left + own.width / 2 - outer.left - outer.width / 2;
  list.scrollTop += Math.min(0, own.top - outer.top) + Math.max(0, own.bottom - outer.bottom);
}

const stageButtons = () => [...$("stages").querySelectorAll(".stage")];

// One stage at a time, so that the page answers meanwhile.
function countChanges(stage) {
  if (stage >= stages.length) {
    $("stages").classList.add("counted");
    return showCurrentStage();
  }
  setTimeout(() => {
    const { "+": added, "-": removed, "~": changed } = changesBetween(`${stage - 1} ${stage}`);
    const part = (count, sign, kind) => (count ? `<span class="${kind}">${sign}${count}</span>` : "");
    const button = stageButtons()[stage];
    button.querySelector(".changes").innerHTML =
      part(added, "+", "added") + part(removed, "−", "removed") + part(changed, "~", "changed");
    button.classList.toggle("idle", !added && !removed && !changed);
    countChanges(stage + 1);
  });
}

// With a line selected, each stage says how many operations are from it.
function showStages() {
  stageButtons().forEach((button, i) => {
    button.setAttribute("aria-current", i === state.stage ? "step" : "false");
    const of = state.source === null ? "" : costsOf(i).byLine.get(state.source)?.operations ?? 0;
    button.querySelector(".lines").textContent = of;
  });
  showCurrentStage();
  $("base").value = String(state.base ?? Math.max(0, state.stage - 1));
  $("base").hidden = state.base === null;
  $("diff").setAttribute("aria-pressed", state.base !== null);
  $("filter").setAttribute("aria-pressed", state.filter);
}

$("stages").addEventListener("click", (event) => {
  const button = event.target.closest(".stage");
  if (button) showStage(Number(button.dataset.stage));
});

$("stages").addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  showStage(state.stage + step);
  stageButtons()[state.stage].focus();
  event.preventDefault();
});
