/* Blocks of code in a `.tabs` say the same, on polars and on pandas: one is shown, on all pages the one chosen last. */
document.addEventListener("DOMContentLoaded", () => {
  const groups = [...document.querySelectorAll(".tabs")];
  const named = (block) => (block.textContent.includes("import pandas") ? "pandas" : "polars");
  const show = (chosen) => {
    localStorage.setItem("frames", chosen);
    for (const group of groups) {
      for (const button of group.querySelectorAll(":scope > p > button"))
        button.setAttribute("aria-pressed", button.textContent === chosen);
      for (const block of group.querySelectorAll(":scope > div")) block.hidden = named(block) !== chosen;
    }
  };
  for (const group of groups) {
    const buttons = document.createElement("p");
    for (const block of group.querySelectorAll(":scope > div")) {
      const button = document.createElement("button");
      button.textContent = named(block);
      button.addEventListener("click", () => show(button.textContent));
      buttons.append(button);
    }
    group.prepend(buttons);
  }
  show(localStorage.getItem("frames") ?? "polars");
});
