// The pattern of the function's Jacobian, with its colors.

const matrix = PAGE.matrix;

function buildMatrix() {
  if (!matrix) return;
  $("pattern").hidden = false;
  $("matrix-title").textContent = matrix.title;
  $("matrix-told").textContent = matrix.told;
  $("matrix-picture").innerHTML = matrix.svg;
}

function showMatrix() {
  if (matrix) $("matrix").showModal();
}

$("pattern").addEventListener("click", showMatrix);
