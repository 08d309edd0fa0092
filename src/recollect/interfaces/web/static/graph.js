// Draws the graph on a canvas: move, zoom, choose a node and walk. The list beside it is made by the server.
"use strict";
(() => {
  const canvas = document.getElementById("graph");
  if (!canvas || canvas.dataset.ready) return;
  canvas.dataset.ready = "1";
  const context = canvas.getContext("2d");
  const label = document.getElementById("graph-label");
  const CHUNK = 300; // lines in one path: long paths are slow to draw
  const frames = []; // how long the last frames took, for the tests
  window.recollectGraphFrames = frames;

  let graph = null, places = null, around = [], hits = new Set();
  let scale = 1, left = 0, top = 0, chosen = -1, hovered = -1;
  let isDirty = false, hasFitted = false, isMoved = false, colours = {};

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    const probe = document.createElement("span");
    canvas.parentElement.append(probe);
    const groups = {};
    for (const group of new Set(graph.groups)) {
      probe.className = `dot g-${group}`;
      groups[group] = getComputedStyle(probe).backgroundColor;
    }
    probe.remove();
    colours = { groups, line: of("--track"), dim: of("--dim"), text: of("--text"), accent: of("--accent"), panel: of("--panel") };
  }

  function resize() {
    const box = canvas.getBoundingClientRect();
    const ratio = Math.min(devicePixelRatio || 1, 2);
    canvas.width = Math.max(1, Math.round(box.width * ratio));
    canvas.height = Math.max(1, Math.round(box.height * ratio));
    draw();
  }

  function fit() {
    let minX = Infinity, minY = Infinity, maxX = -Infinity, maxY = -Infinity;
    for (let index = 0; index < places.length; index += 2) {
      minX = Math.min(minX, places[index]); maxX = Math.max(maxX, places[index]);
      minY = Math.min(minY, places[index + 1]); maxY = Math.max(maxY, places[index + 1]);
    }
    scale = Math.min(canvas.width / (maxX - minX + 80), canvas.height / (maxY - minY + 80), 3);
    left = canvas.width / 2 - scale * (minX + maxX) / 2;
    top = canvas.height / 2 - scale * (minY + maxY) / 2;
    draw();
  }

  const screenX = (node) => places[2 * node] * scale + left;
  const screenY = (node) => places[2 * node + 1] * scale + top;
  const radius = (node) => Math.max(1.2, (graph.groups[node] === "cluster" ? 5 : graph.groups[node] === "tag" ? 4 : 3) * Math.sqrt(scale));
  const isInside = (x, y) => x > -20 && y > -20 && x < canvas.width + 20 && y < canvas.height + 20;

  function draw() {
    if (!isDirty && places) { isDirty = true; requestAnimationFrame(paint); }
  }

  function paintLines() {
    const near = chosen >= 0 ? new Set(around[chosen]) : null;
    context.lineWidth = Math.max(0.5, Math.min(1, scale));
    context.strokeStyle = colours.line;
    let count = 0;
    context.beginPath();
    for (const [source, target] of graph.links) {
      const x = screenX(source), y = screenY(source), x2 = screenX(target), y2 = screenY(target);
      if (!isInside(x, y) && !isInside(x2, y2)) continue;
      context.moveTo(x, y); context.lineTo(x2, y2);
      if (++count % CHUNK === 0) { context.stroke(); context.beginPath(); }
    }
    context.stroke();
    if (near) {
      context.strokeStyle = colours.accent;
      context.beginPath();
      for (const other of near) { context.moveTo(screenX(chosen), screenY(chosen)); context.lineTo(screenX(other), screenY(other)); }
      context.stroke();
    }
  }

  function paintNodes() {
    for (const [group, members] of Object.entries(graph.members)) {
      context.fillStyle = colours.groups[group];
      context.beginPath();
      for (const node of members) {
        const x = screenX(node), y = screenY(node);
        if (!isInside(x, y)) continue;
        const size = radius(node);
        if (size < 2.5) context.rect(x - size, y - size, 2 * size, 2 * size);
        else { context.moveTo(x + size, y); context.arc(x, y, size, 0, 2 * Math.PI); }
      }
      context.fill();
    }
    context.strokeStyle = colours.accent; context.lineWidth = 2;
    for (const node of [...hits, chosen, hovered]) {
      if (node < 0) continue;
      context.beginPath(); context.arc(screenX(node), screenY(node), radius(node) + 3, 0, 2 * Math.PI); context.stroke();
    }
  }

  function paintLabels() {
    context.font = `${12 * Math.min(devicePixelRatio || 1, 2)}px system-ui, sans-serif`;
    context.fillStyle = colours.text;
    const named = new Set([chosen, ...(chosen >= 0 ? around[chosen].slice(0, 25) : [])]);
    let count = 0;
    if (scale > 1.1 || graph.keys.length < 60) {
      for (let node = 0; node < graph.keys.length && count < 80; node++) {
        if (isInside(screenX(node), screenY(node))) { named.add(node); count++; }
      }
    } else for (const node of graph.members.cluster || []) named.add(node);
    for (const node of named) {
      if (node >= 0) context.fillText(graph.labels[node].slice(0, 40), screenX(node) + radius(node) + 4, screenY(node) + 4);
    }
  }

  function paint() {
    const began = performance.now();
    isDirty = false;
    context.clearRect(0, 0, canvas.width, canvas.height);
    paintLines(); paintNodes(); paintLabels();
    frames.push(performance.now() - began);
    if (frames.length > 2000) frames.shift();
  }

  function nodeAt(x, y) {
    let best = -1, nearest = 14 * (canvas.width / canvas.getBoundingClientRect().width);
    for (let node = 0; node < graph.keys.length; node++) {
      const distance = Math.hypot(screenX(node) - x, screenY(node) - y) - radius(node);
      if (distance < nearest) { nearest = distance; best = node; }
    }
    return best;
  }

  function centre(node) {
    scale = Math.max(scale, 1);
    left = canvas.width / 2 - scale * places[2 * node];
    top = canvas.height / 2 - scale * places[2 * node + 1];
    isMoved = true;
    draw();
  }

  // Walk to a node: mark it, and let the server write its neighbours into the list.
  function walk(node) {
    chosen = node;
    const address = new URL(location.href);
    if (node < 0) address.searchParams.delete("node"); else address.searchParams.set("node", graph.keys[node]);
    history.replaceState(history.state, "", address);
    htmx.ajax("GET", address.pathname + address.search, { target: "#beside", select: "#beside", swap: "outerHTML" });
    draw();
  }

  function zoom(factor, x = canvas.width / 2, y = canvas.height / 2) {
    const next = Math.min(Math.max(scale * factor, 0.02), 12);
    left = x - (x - left) * next / scale; top = y - (y - top) * next / scale; scale = next; isMoved = true;
    draw();
  }

  const onCanvas = (event) => {
    const box = canvas.getBoundingClientRect(), ratio = canvas.width / box.width;
    return [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
  };

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => { drag = { at: onCanvas(event), from: onCanvas(event) }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!places) return;
    const [x, y] = onCanvas(event);
    if (drag) {
      left += x - drag.at[0]; top += y - drag.at[1]; drag.at = [x, y]; isMoved = true;
      draw();
      return;
    }
    const node = nodeAt(x, y);
    if (node === hovered) return;
    hovered = node;
    label.textContent = node >= 0 ? graph.labels[node] : "";
    canvas.classList.toggle("pointing", node >= 0);
    draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && places && Math.hypot(onCanvas(event)[0] - drag.from[0], onCanvas(event)[1] - drag.from[1]) < 5) walk(nodeAt(...onCanvas(event)));
    drag = null;
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (places) zoom(Math.exp(-event.deltaY / 500), ...onCanvas(event));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[event.key];
    if (step) { left += step[0]; top += step[1]; isMoved = true; draw(); }
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0" && places) fit();
    else return;
    event.preventDefault(); event.stopPropagation();
  });

  // The links of the list walk in the picture too.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("#beside a[data-node]");
    if (!link || !places || event.ctrlKey || event.metaKey || event.shiftKey || !canvas.isConnected) return;
    const node = graph.keys.indexOf(link.dataset.node);
    if (node < 0) return;
    event.preventDefault();
    centre(node);
    walk(node);
  });

  const sizes = new ResizeObserver(resize);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", () => { if (graph) { readColours(); draw(); } });

  fetch(canvas.dataset.source, { headers: { Accept: "application/json" } }).then((answer) => answer.json()).then((data) => {
    graph = data;
    graph.members = {};
    graph.groups.forEach((group, node) => (graph.members[group] ||= []).push(node));
    around = graph.keys.map(() => []);
    graph.links.forEach(([source, target]) => { around[source].push(target); around[target].push(source); });
    hits = new Set(graph.hits);
    chosen = graph.keys.indexOf(canvas.dataset.chosen);
    readColours();
    const worker = new Worker("/static/graph_layout.js");
    worker.onmessage = ({ data: sent }) => {
      if (!canvas.isConnected) { worker.terminate(); sizes.disconnect(); return; }
      places = sent.places;
      if (!hasFitted) { hasFitted = true; sizes.observe(canvas); canvas.dataset.state = "interactive"; }
      if (!isMoved) fit(); else draw();
      if (sent.isDone) { worker.terminate(); canvas.dataset.state = "done"; if (chosen >= 0) centre(chosen); }
    };
    worker.postMessage({ count: graph.keys.length, links: graph.links });
  });
})();
