/* A precision-recall curve with a slider for the threshold: `<div class="threshold-slider" data-curve="[...]">`, whose
   data are rows of `curve`. It takes the place of the picture before it, which is there without this script. */
document.addEventListener("DOMContentLoaded", () => {
  const svg = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  for (const place of document.querySelectorAll(".threshold-slider")) {
    const rows = JSON.parse(place.dataset.curve);
    const x = (recall) => 40 + 250 * recall;
    const y = (precision) => 190 - 170 * precision;
    const plot = svg("svg", { viewBox: "0 0 310 230", role: "img", "aria-label": "Precision-recall curve" });
    plot.append(svg("path", { d: `M${x(0)},${y(1)}V${y(0)}H${x(1)}`, class: "axis" }));
    for (const share of [0, 0.5, 1]) {
      for (const [left, top, anchor] of [[x(share), 206, "middle"], [34, y(share) + 4, "end"]]) {
        const tick = svg("text", { x: left, y: top, "text-anchor": anchor });
        tick.textContent = share;
        plot.append(tick);
      }
    }
    const names = [["recall", { x: x(0.5), y: 224, "text-anchor": "middle" }]];
    names.push(["precision", { transform: `translate(12,${y(0.5)}) rotate(-90)`, "text-anchor": "middle" }]);
    for (const [name, attributes] of names) {
      const label = svg("text", attributes);
      label.textContent = name;
      plot.append(label);
    }
    // In steps: no threshold has a precision between those of two rows.
    const steps = rows.map((row) => `V${y(row.precision)}H${x(row.recall)}`).join("");
    plot.append(svg("path", { d: `M${x(0)},${y(rows[0].precision)}${steps}`, class: "curve" }));
    for (const row of rows) plot.append(svg("circle", { cx: x(row.recall), cy: y(row.precision), r: 2.5 }));
    const marker = svg("circle", { r: 7, class: "marker" });
    plot.append(marker);

    const label = document.createElement("label");
    const slider = Object.assign(document.createElement("input"), { type: "range", min: 0, max: rows.length - 1 });
    slider.value = Math.floor(rows.length / 3);
    label.append("Threshold ", slider);
    const output = document.createElement("output");
    const show = () => {
      const row = rows[slider.value];
      marker.setAttribute("cx", x(row.recall));
      marker.setAttribute("cy", y(row.precision));
      const rates = ["precision", "recall", "f1"].map((name) => `${name} ${row[name].toFixed(2)}`);
      const counts = ["tp", "fp", "fn"].map((name) => `${name} ${row[name]}`);
      output.textContent = `threshold ${row.threshold}: ${[...counts, ...rates].join(", ")}`;
      slider.setAttribute("aria-valuetext", output.textContent);
    };
    slider.addEventListener("input", show);
    if (place.previousElementSibling?.querySelector("img")) place.previousElementSibling.remove();
    place.replaceChildren(plot, label, output);
    show();
  }
});
