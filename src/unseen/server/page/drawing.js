// Drawings by cytoscape, in the colours of the page.

import cytoscape from "./vendor/cytoscape/cytoscape.mjs";

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const pen = document.createElement("canvas").getContext("2d");
pen.font = "600 13px system-ui, sans-serif";

/** How large a node is: its label, broken into lines of 130 pixels, and a margin. */
function size(node) {
  let lines = 0, line = 0, longest = 0;
  for (const row of String(node.data("label")).split("\n")) {
    lines += 1;
    line = 0;
    for (const word of row.split(" ")) {
      const width = pen.measureText(`${word} `).width;
      if (line && line + width > 130) (lines += 1), (line = 0);
      line += width;
      longest = Math.max(longest, line);
    }
  }
  return { width: longest + 20, height: lines * 17 + 16 };
}

const style = () => [
  {
    selector: "node",
    style: {
      label: "data(label)",
      color: colour("ink"),
      "font-family": "system-ui, sans-serif",
      "font-size": 13,
      "text-wrap": "wrap",
      "text-max-width": 130,
      "line-height": 1.2,
      "text-valign": "center",
      "background-color": colour("card"),
      "border-width": 1.5,
      "border-color": colour("line-strong"),
      shape: "round-rectangle",
      width: (node) => size(node).width,
      height: (node) => size(node).height,
    },
  },
  { selector: "node[kind = 'thing']", style: { "background-color": colour("soft"), "border-color": colour("ink-soft") } },
  { selector: "node[kind = 'variable']", style: { "border-style": "dashed" } },
  { selector: "node[kind = 'answer']", style: { "background-color": colour("accent"), "border-color": colour("accent"), color: colour("on-accent"), "font-weight": 600 } },
  {
    selector: "edge",
    style: {
      label: "data(label)",
      color: colour("ink-soft"),
      "font-family": "system-ui, sans-serif",
      "font-size": 11.5,
      "text-background-color": colour("paper"),
      "text-background-opacity": 1,
      "text-background-padding": "2px",
      "curve-style": "bezier",
      "target-arrow-shape": "triangle",
      "arrow-scale": 0.9,
      width: 1.8,
      "line-color": colour("line-strong"),
      "target-arrow-color": colour("line-strong"),
    },
  },
  { selector: "edge:loop", style: { "control-point-step-size": 90 } },
  { selector: "edge[status = 'known']", style: { "line-color": colour("known"), "target-arrow-color": colour("known"), width: 2.4 } },
  { selector: "edge[status = 'predicted']", style: { "line-style": "dashed", "line-dash-pattern": [6, 5], "line-color": colour("predicted"), "target-arrow-color": colour("predicted"), width: 2.4 } },
  { selector: "edge[?negated]", style: { "line-style": "dotted", "line-color": colour("wrong"), "target-arrow-color": colour("wrong"), color: colour("wrong") } },
];

/** Draw nodes and edges into an element; `place` puts nodes in their places, `chosen` hears of clicks on a node. */
export function draw(container, { nodes, edges }, { place, chosen = () => {}, signal }) {
  const elements = [...nodes.map((data) => ({ data })), ...edges.map((data, number) => ({ data: { id: `edge-${number}`, ...data } }))];
  const picture = cytoscape({ container, elements, style: style(), userZoomingEnabled: false, boxSelectionEnabled: false, autounselectify: true });
  place(picture);
  fit(picture);
  picture.on("tap", "node", (event) => chosen(event.target.data()));
  const repaint = () => picture.style(style());
  addEventListener("themechange", repaint);
  const resized = new ResizeObserver(() => (picture.resize(), fit(picture)));
  resized.observe(container);
  signal.addEventListener("abort", () => (removeEventListener("themechange", repaint), resized.disconnect(), picture.destroy()));
  return picture;
}

const SMALLEST = 0.5;

function fit(picture) {
  picture.fit(undefined, 22);
  if (picture.zoom() <= 1.2) return;
  picture.zoom(1.2);
  picture.center();
}

const widest = (picture) => Math.max(...picture.nodes().map((node) => size(node).width));

/** A node at the end, what leads to it before it: left to right, or top to bottom where there is little room. */
export const towards = (last) => (picture) => {
  const levels = [];
  picture.elements().bfs({ roots: picture.getElementById(last), directed: false, visit: (node, _edge, _from, _number, depth) => void (levels[depth] ??= []).push(node) });
  const left = picture.nodes().filter((node) => !levels.flat().includes(node));
  if (left.length) levels.push([...left]);
  const most = Math.max(...levels.map((level) => level.length));
  const apart = widest(picture) + 50 + Math.max(0, ...picture.edges().map((edge) => pen.measureText(edge.data("label")).width));
  const isWide = picture.width() > 480 && (levels.length - 1) * apart + widest(picture) < 1.4 * picture.width();
  levels.forEach((level, depth) =>
    level.forEach((node, number) => {
      const across = ((number + 0.5) / level.length) * most;
      node.position(isWide ? { x: -depth * apart, y: across * 85 } : { x: across * (widest(picture) + 30), y: -depth * 105 });
    }),
  );
};

/** A node in the middle, the others in a column on either side, where their labels have room. */
export const around = (middle) => (picture) => {
  const others = picture.nodes().filter((node) => node.id() !== middle);
  const centre = picture.getElementById(middle);
  centre.position({ x: 0, y: 0 });
  const label = Math.max(40, ...picture.edges().map((edge) => pen.measureText(edge.data("label")).width * 0.85));
  const away = (node) => size(centre).width / 2 + Math.min(110, label + 24) + size(node).width / 2;
  const right = Math.ceil(others.length / 2);
  const widest = Math.max(1, ...others.map((node) => away(node) + size(node).width / 2));
  const room = ((2 * widest + 44) * picture.height()) / picture.width() - 60;
  const apart = Math.max(58, Math.min(96, room / right));
  others.forEach((node, number) => {
    const [place, count] = number < right ? [number, right] : [number - right, others.length - right];
    node.position({ x: number < right ? away(node) : -away(node), y: (place - (count - 1) / 2) * apart });
  });
};

/** Let nodes push each other apart, in the shape of the picture; where that makes names too small, only those around one are in sight. */
export function spread(picture, middle) {
  picture.layout({ name: "cose", animate: false, randomize: false, padding: 22, nodeRepulsion: () => 50000, idealEdgeLength: () => 110, nodeOverlap: 30 }).run();
  const { w, h } = picture.nodes().boundingBox();
  const wider = Math.max(0.4, Math.min(2.5, ((h / w) * picture.width()) / picture.height()));
  const [across, down] = wider > 1 ? [wider, 1] : [1, 1 / wider];
  picture.nodes().positions((node) => ({ x: node.position("x") * across, y: node.position("y") * down }));
  fit(picture);
  if (picture.zoom() >= SMALLEST) return;
  picture.zoom(SMALLEST);
  picture.center(picture.getElementById(middle));
}
