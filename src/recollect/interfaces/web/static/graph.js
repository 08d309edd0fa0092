// Draws the graph on a canvas: move, zoom, choose a node and walk. The list beside it is made by the server.
"use strict";
(() => {
  const canvas = document.getElementById("graph");
  if (!canvas || canvas.dataset.ready) return;
  canvas.dataset.ready = "1";
  const context = canvas.getContext("2d");
  const label = document.getElementById("graph-label");
  const MARGIN = 0.3; // of the canvas, painted on each side so that it can be moved
  const SHARPEN_AFTER = 90; // milliseconds without a movement
  const MOST_LABELS = 80, SMALL = 60, LONGEST_LABEL = 32;
  const SIZES = { cluster: 5, tag: 4 }; // of dots; memories have 3

  let graph = null, places = null, picture = null, worker = null, asking = 0, asked = 0, around = [], hits = new Set(), drag = null;
  let scale = 1, left = 0, top = 0, chosen = -1, hovered = -1;
  let isDirty = false, hasFitted = false, isMoved = false, isDone = false, colours = {};

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
    if (!isMoved) fit(); else moved();
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
    moved();
  }

  const screenX = (node) => places[2 * node] * scale + left;
  const screenY = (node) => places[2 * node + 1] * scale + top;
  const radius = (node) => Math.max(1.2, graph.sizes[graph.groups[node]] * Math.sqrt(scale));
  const isInside = (x, y) => x > -20 && y > -20 && x < canvas.width + 20 && y < canvas.height + 20;

  function draw() {
    if (!isDirty && places) { isDirty = true; requestAnimationFrame(paint); }
  }
  function moved() { draw(); soon(); }

  // The picture of the worker, moved and scaled from the view it was painted for to the one there is now.
  function paintPicture() {
    if (!picture) return;
    const factor = scale / picture.scale;
    context.drawImage(picture.bitmap, left - picture.left * factor, top - picture.top * factor, picture.bitmap.width * factor, picture.bitmap.height * factor);
  }

  function paintMarks() {
    context.strokeStyle = colours.accent;
    context.lineWidth = Math.max(0.5, Math.min(1, scale));
    if (chosen >= 0) {
      context.beginPath();
      for (const other of around[chosen]) { context.moveTo(screenX(chosen), screenY(chosen)); context.lineTo(screenX(other), screenY(other)); }
      context.stroke();
    }
    context.lineWidth = 2;
    for (const node of [...hits, chosen, hovered]) {
      if (node < 0) continue;
      context.beginPath(); context.arc(screenX(node), screenY(node), radius(node) + 3, 0, 2 * Math.PI); context.stroke();
    }
  }

  const shortened = (text) => (text.length > LONGEST_LABEL ? `${text.slice(0, LONGEST_LABEL - 1)}…` : text);

  function paintLabels() {
    context.font = `${12 * Math.min(devicePixelRatio || 1, 2)}px system-ui, sans-serif`;
    const named = new Set([chosen, hovered, ...(chosen >= 0 ? around[chosen].slice(0, 25) : [])]);
    if (!drag && (scale > 1.1 || graph.groups.length < SMALL)) {
      for (const node of graph.byLinks) {
        if (named.size >= MOST_LABELS) break;
        if (isInside(screenX(node), screenY(node))) named.add(node);
      }
    } else if (graph.groups.length < SMALL || (graph.members.cluster || []).length < MOST_LABELS) {
      for (const node of graph.members.cluster || []) named.add(node);
    }
    context.strokeStyle = colours.panel; context.lineWidth = 3; context.lineJoin = "round";
    context.fillStyle = colours.text;
    const taken = [], line = 14 * Math.min(devicePixelRatio || 1, 2);
    for (const node of named) {
      if (node < 0) continue;
      const text = shortened(graph.labels[node]), width = context.measureText(text).width, y = screenY(node) + 4;
      let x = screenX(node) + radius(node) + 4;
      if (x + width > canvas.width && screenX(node) > width) x = screenX(node) - radius(node) - 4 - width;
      const hides = (box) => x < box[0] + box[2] && box[0] < x + width && Math.abs(box[1] - y) < line;
      if (node !== chosen && node !== hovered && taken.some(hides)) continue; // a text on another can be read by nobody
      taken.push([x, y, width]);
      context.strokeText(text, x, y); context.fillText(text, x, y);
    }
  }

  function paint() {
    isDirty = false;
    context.clearRect(0, 0, canvas.width, canvas.height);
    paintPicture(); paintMarks(); paintLabels();
  }

  // Ask the worker for a sharp picture of what is seen now, with a margin to move it in.
  function askForPicture() {
    const marginX = Math.round(canvas.width * MARGIN), marginY = Math.round(canvas.height * MARGIN);
    worker.postMessage({ view: { number: ++asked, scale, left: left + marginX, top: top + marginY, width: canvas.width + 2 * marginX, height: canvas.height + 2 * marginY, colours } });
  }
  function soon() {
    clearTimeout(asking);
    asking = setTimeout(askForPicture, picture ? SHARPEN_AFTER : 0);
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
    moved();
  }

  // Walk to a node: mark it, and let the server write its neighbours into the list.
  function walk(node) {
    chosen = node;
    const address = new URL(location.href);
    if (node < 0) address.searchParams.delete("node"); else address.searchParams.set("node", graph.keys[node]);
    history.replaceState(history.state, "", address);
    address.searchParams.set("made", canvas.dataset.made); // the list is of the same graph as the picture
    htmx.ajax("GET", address.pathname + address.search, { target: "#beside", select: "#beside", swap: "outerHTML" });
    draw();
  }

  function zoom(factor, x = canvas.width / 2, y = canvas.height / 2) {
    const next = Math.min(Math.max(scale * factor, 0.02), 12);
    left = x - (x - left) * next / scale; top = y - (y - top) * next / scale; scale = next; isMoved = true;
    moved();
  }

  const onCanvas = (event) => {
    const box = canvas.getBoundingClientRect(), ratio = canvas.width / box.width;
    return [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
  };

  canvas.addEventListener("pointerdown", (event) => { drag = { at: onCanvas(event), from: onCanvas(event) }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!places) return;
    const [x, y] = onCanvas(event);
    if (drag) {
      left += x - drag.at[0]; top += y - drag.at[1]; drag.at = [x, y]; isMoved = true;
      moved();
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
    draw();
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (places) zoom(Math.exp(-event.deltaY / 500), ...onCanvas(event));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[event.key];
    if (step) { left += step[0]; top += step[1]; isMoved = true; moved(); }
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
  scheme.addEventListener("change", () => { if (graph) { readColours(); moved(); } });

  fetch(canvas.dataset.source, { headers: { Accept: "application/json" } }).then((answer) => answer.json()).then((data) => {
    graph = data;
    graph.members = {};
    graph.sizes = {};
    graph.groups.forEach((group, node) => { (graph.members[group] ||= []).push(node); graph.sizes[group] = SIZES[group] || 3; });
    around = graph.keys.map(() => []);
    graph.links.forEach(([source, target]) => { around[source].push(target); around[target].push(source); });
    graph.byLinks = graph.keys.map((_, node) => node).sort((one, other) => around[other].length - around[one].length);
    hits = new Set(graph.hits);
    chosen = graph.keys.indexOf(canvas.dataset.chosen);
    readColours();
    worker = new Worker("/static/graph_layout.js");
    worker.onmessage = ({ data: sent }) => {
      if (!canvas.isConnected) { worker.terminate(); sizes.disconnect(); return; }
      if (sent.picture) {
        picture?.bitmap.close();
        picture = { bitmap: sent.picture, scale: sent.scale, left: sent.left, top: sent.top };
        if (!canvas.dataset.interactive) { canvas.dataset.interactive = performance.now(); canvas.dataset.state = "interactive"; }
        if (isDone && sent.number === asked) canvas.dataset.state = "done";
        draw();
        return;
      }
      places = sent.places;
      const isFirst = !hasFitted;
      if (isFirst) { hasFitted = true; sizes.observe(canvas); }
      else if (!isMoved) fit();
      if (sent.isDone) { isDone = true; if (chosen >= 0) centre(chosen); else askForPicture(); }
    };
    const { groups, links, members, sizes: dots } = graph;
    worker.postMessage({ graph: { groups, links, members, sizes: dots } });
  });
})();
