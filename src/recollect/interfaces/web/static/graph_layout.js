// Lays the graph out, in a worker so that the page stays quick. It posts positions as it goes.
"use strict";
importScripts("vendor/d3/d3-dispatch.min.js", "vendor/d3/d3-timer.min.js", "vendor/d3/d3-quadtree.min.js", "vendor/d3/d3-force.min.js");

const POST_EVERY = 60; // milliseconds: more often would only cost the page time

onmessage = ({ data }) => {
  const nodes = Array.from({ length: data.count }, (_, index) => ({ index }));
  const links = data.links.map(([source, target, isLink]) => ({ source, target, isLink }));
  const many = d3.forceManyBody().strength(-28).theta(1.1).distanceMax(420);
  const simulation = d3.forceSimulation(nodes).stop()
    .force("charge", many)
    .force("link", d3.forceLink(links).distance((link) => (link.isLink ? 26 : 48)))
    .force("x", d3.forceX().strength(0.045))
    .force("y", d3.forceY().strength(0.045))
    .alphaDecay(data.count > 1500 ? 0.035 : 0.025);
  let posted = 0;
  const post = (isDone) => {
    const places = new Float32Array(nodes.length * 2);
    nodes.forEach((node, index) => { places[2 * index] = node.x; places[2 * index + 1] = node.y; });
    posted = performance.now();
    postMessage({ places, isDone }, [places.buffer]);
  };
  post(false);
  const step = () => {
    simulation.tick();
    const isDone = simulation.alpha() < simulation.alphaMin();
    if (isDone || performance.now() - posted > POST_EVERY) post(isDone);
    if (!isDone) setTimeout(step, 0);
  };
  step();
};
