// Lays the graph out and paints it, in a worker: the page only moves the painted picture, so it stays quick.
"use strict";
importScripts("vendor/d3/d3-dispatch.min.js", "vendor/d3/d3-timer.min.js", "vendor/d3/d3-quadtree.min.js", "vendor/d3/d3-force.min.js");

const PAINT_EVERY = 100; // milliseconds between two pictures while nodes still move
const LARGE = 1500; // nodes from which the layout starts nearer to its end
const CHUNK = 300; // lines in one path: long paths are slow to draw
const SPACE = 14; // between two nodes at the start

let graph = null, nodes = [], simulation = null, view = null, painted = 0, isDone = false, canvas = null;

// Put the nodes of a cluster beside each other before anything moves, clusters on a spiral: far fewer steps are needed then.
function place() {
  const home = new Array(nodes.length).fill(-1);
  graph.links.forEach(([source, target]) => { if (graph.groups[target] === "cluster") home[source] = target; });
  const parts = new Map();
  nodes.forEach((node, index) => {
    const key = graph.groups[index] === "cluster" ? index : home[index];
    if (!parts.has(key)) parts.set(key, []);
    parts.get(key).push(node);
  });
  const spiral = (index, space) => [space * Math.sqrt(index + 0.5) * Math.cos(index * 2.399963), space * Math.sqrt(index + 0.5) * Math.sin(index * 2.399963)];
  const loose = parts.get(-1) || [];
  parts.delete(-1);
  const largest = Math.max(1, ...[...parts.values()].map((part) => part.length));
  let number = 0;
  for (const part of parts.values()) {
    const [x, y] = spiral(number++, SPACE * Math.sqrt(largest) * 1.3);
    part.forEach((node, index) => { const [dx, dy] = spiral(index, SPACE); node.x = x + dx; node.y = y + dy; });
  }
  const start = Math.ceil((number * largest) * 1.7);
  loose.forEach((node, index) => { [node.x, node.y] = spiral(start + index, SPACE); });
}

function paint() {
  if (!view) return;
  const { number, scale, left, top, width, height, colours } = view;
  if (!canvas || canvas.width !== width || canvas.height !== height) canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  const x = (node) => nodes[node].x * scale + left, y = (node) => nodes[node].y * scale + top;
  const isInside = (node) => x(node) > -20 && y(node) > -20 && x(node) < width + 20 && y(node) < height + 20;
  context.clearRect(0, 0, width, height);
  context.lineWidth = Math.max(0.5, Math.min(1, scale));
  context.strokeStyle = colours.line;
  context.beginPath();
  let count = 0;
  for (const [source, target] of graph.links) {
    if (!isInside(source) && !isInside(target)) continue;
    context.moveTo(x(source), y(source)); context.lineTo(x(target), y(target));
    if (++count % CHUNK === 0) { context.stroke(); context.beginPath(); }
  }
  context.stroke();
  for (const [group, members] of Object.entries(graph.members)) {
    context.fillStyle = colours.groups[group];
    context.beginPath();
    for (const node of members) {
      if (!isInside(node)) continue;
      const size = Math.max(1.2, graph.sizes[group] * Math.sqrt(scale));
      if (size < 2.5) context.rect(x(node) - size, y(node) - size, 2 * size, 2 * size);
      else { context.moveTo(x(node) + size, y(node)); context.arc(x(node), y(node), size, 0, 2 * Math.PI); }
    }
    context.fill();
  }
  const picture = canvas.transferToImageBitmap();
  postMessage({ picture, number, scale, left, top }, [picture]);
}

function sendPlaces() {
  const places = new Float32Array(nodes.length * 2);
  nodes.forEach((node, index) => { places[2 * index] = node.x; places[2 * index + 1] = node.y; });
  postMessage({ places, isDone }, [places.buffer]);
}

function step() {
  simulation.tick();
  isDone = simulation.alpha() < simulation.alphaMin();
  const now = performance.now();
  if (isDone || now - painted > PAINT_EVERY) { painted = now; sendPlaces(); paint(); }
  if (!isDone) setTimeout(step, 0); // lets a message about another view in
}

onmessage = ({ data }) => {
  if (data.view) { view = data.view; paint(); return; }
  graph = data.graph;
  nodes = Array.from({ length: graph.groups.length }, (_, index) => ({ index }));
  place();
  sendPlaces();
  const isLarge = nodes.length > LARGE;
  simulation = d3.forceSimulation(nodes).stop()
    .force("charge", d3.forceManyBody().strength(-28).theta(isLarge ? 1.3 : 1.1).distanceMax(420))
    .force("link", d3.forceLink(graph.links.map(([source, target, isLink]) => ({ source, target, isLink }))).distance((link) => (link.isLink ? 26 : 48)))
    .force("x", d3.forceX().strength(0.045))
    .force("y", d3.forceY().strength(0.045))
    .alpha(isLarge ? 0.4 : 1)
    .alphaDecay(isLarge ? 0.05 : 0.025);
  setTimeout(step, 0);
};
